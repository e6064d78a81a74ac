package webhook

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Schedule holds the waits between the attempts at one delivery. After the last
// one the delivery has failed.
type Schedule []time.Duration

// DefaultSchedule tries for about three days.
func DefaultSchedule() []time.Duration {
	return []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
		12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour,
	}
}

const (
	// scatter is how far a wait may be off either way, so that deliveries that
	// failed together do not come back together.
	scatter = 0.1
	// maxRetryAfter bounds what a receiver may ask for: a slip in its
	// configuration must not stop deliveries for good.
	maxRetryAfter = 24 * time.Hour
)

// wait is how long to wait after the given failure, counted from 1, and false
// when there is no further attempt. A receiver that asked for more time gets it.
func (s Schedule) wait(failure int, asked time.Duration) (time.Duration, bool) {
	if failure > len(s) {
		return 0, false
	}
	regular := s[failure-1]
	regular += time.Duration((2*rand.Float64() - 1) * scatter * float64(regular)) //nolint:gosec // G404: nothing to guess here
	return max(regular, min(asked, maxRetryAfter)), true
}

// retryAfter reads how long a receiver asks to be left alone: seconds or a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if text == "" { // as nearly always: finding out that it is no time costs as much as signing
		return 0
	}
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(max(0, min(seconds, int64(maxRetryAfter/time.Second)))) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}
