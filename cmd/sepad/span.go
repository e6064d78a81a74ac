package main

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// span is a stretch of time as people say it. Months are those of the calendar.
type span struct {
	months, days int
	rest         time.Duration
}

// spanParts are what a span is made of, the longest first. Minutes are min or m.
var spanParts = regexp.MustCompile(`^(?:(\d{1,4})\s*(?:months?|mo))?\s*(?:(\d{1,5})\s*(?:weeks?|w))?\s*(?:(\d{1,6})\s*(?:days?|d))?\s*((?:[\d.]+(?:h|ms|min|m|s|us|µs|ns))*)$`)

// UnmarshalText reads a span.
func (s *span) UnmarshalText(text []byte) (err error) {
	if plain, err := time.ParseDuration(string(text)); err == nil {
		*s = span{rest: plain} // also one that leads back, which whoever moves a clock refuses better
		return nil
	}
	parts := spanParts.FindStringSubmatch(string(text))
	if parts == nil || len(text) == 0 {
		return fmt.Errorf("%q is no duration such as 36h, 10d, 2w, 1month or 1month3d", text)
	}
	number := func(digits string) int {
		n, _ := strconv.Atoi(digits) // few enough digits, or none
		return n
	}
	*s = span{months: number(parts[1]), days: 7*number(parts[2]) + number(parts[3])}
	if rest := regexp.MustCompile("min").ReplaceAllString(parts[4], "m"); rest != "" {
		s.rest, err = time.ParseDuration(rest)
	}
	return err
}

// after is the instant that lies so far behind another.
func (s span) after(at time.Time) time.Time {
	return at.AddDate(0, s.months, s.days).Add(s.rest)
}
