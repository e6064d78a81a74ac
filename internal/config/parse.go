package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/notice"
	"sepad/internal/payment"
)

// These read single texts. Their errors say what is wrong; the reader puts the
// setting's name in front.

func parseEnvironment(text string) (merchant.Environment, error) {
	if environment := merchant.Environment(text); environment.Valid() {
		return environment, nil
	}
	return "", fmt.Errorf("%q is neither sandbox nor production", text)
}

// checkDatabaseURL says nothing of what it was given: it may hold a password.
func checkDatabaseURL(text string) error {
	switch scheme, rest, _ := strings.Cut(text, ":"); {
	case scheme == "sqlite" && rest == "":
		return errors.New("sqlite: is followed by the path of a file")
	case scheme == "sqlite", isPostgres(text):
		return nil
	default:
		return errors.New("it begins with sqlite: or postgres://")
	}
}

func isPostgres(databaseURL string) bool {
	return strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://")
}

// checkReplicaURL takes a replica beside a PostgreSQL only: a file has none.
func checkReplicaURL(databaseURL string) func(string) error {
	return func(text string) error {
		switch {
		case !isPostgres(text):
			return errors.New("it begins with postgres://")
		case strings.HasPrefix(databaseURL, "sqlite:"):
			return errors.New("a SQLite database has no replica")
		default:
			return nil
		}
	}
}

func checkListen(text string) error {
	_, port, err := net.SplitHostPort(text)
	number, notNumber := strconv.Atoi(port)
	if err != nil || notNumber != nil || number < 0 || number > 65535 {
		return fmt.Errorf("%q is not an address such as 127.0.0.1:8080", text)
	}
	return nil
}

func checkPublicURL(text string) error {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" ||
		address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return errors.New("it must be an address such as https://pay.example, without a user, query or fragment")
	}
	return nil
}

// checkAddress looks at the beginning of an address that may hold a password.
func checkAddress(example string, schemes ...string) func(string) error {
	return func(text string) error {
		address, err := url.Parse(text)
		if err != nil || !slices.Contains(schemes, address.Scheme) || address.Host == "" && address.Path == "" {
			return fmt.Errorf("it must be an address such as %s", example)
		}
		return nil
	}
}

func parseDuration(most time.Duration) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		length, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%q is not a duration such as 30s or 24h", text)
		case length <= 0 || length > most:
			return 0, fmt.Errorf("%s is not between 0s and %s", text, short(most))
		}
		return length, nil
	}
}

// parseDelay is parseDuration for what may be nothing.
func parseDelay(most time.Duration) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		if text == "0s" || text == "0" {
			return 0, nil
		}
		return parseDuration(most)(text)
	}
}

func parseDurations(most time.Duration) func(string) ([]time.Duration, error) {
	return func(text string) (all []time.Duration, err error) {
		for entry := range strings.SplitSeq(text, ",") {
			length, err := parseDuration(most)(strings.TrimSpace(entry))
			if err != nil {
				return nil, fmt.Errorf("%q is not a list of durations up to %s, such as 5s,30s,2m", text, short(most))
			}
			all = append(all, length)
		}
		return all, nil
	}
}

// parseDays reads a list of days such as 3,5,7.
func parseDays(text string) (days payment.Dunning, err error) {
	for entry := range strings.SplitSeq(text, ",") {
		number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(entry), "d"))
		if err != nil || number < 1 || number > payment.MaxDunningDays {
			return nil, fmt.Errorf("%q is not a list of days from 1 to %d, such as 3,5,7", text, payment.MaxDunningDays)
		}
		days = append(days, number)
	}
	return days, nil
}

// parseRetention reads how many days something is kept, 0 for ever.
func parseRetention(least int) func(string) (time.Duration, error) {
	const most = 36_500
	return func(text string) (time.Duration, error) {
		days, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
		if err != nil || days != 0 && days < least || days < 0 || days > most {
			return 0, fmt.Errorf("%q is not a number of days from %d to %d, or 0 for ever", text, least, most)
		}
		return time.Duration(days) * 24 * time.Hour, nil
	}
}

// parseBool is strict: a word that is not understood must not open anything.
func parseBool(text string) (bool, error) {
	switch text {
	case "true", "1":
		return true, nil
	case "", "false", "0":
		return false, nil
	default:
		return false, fmt.Errorf("%q is neither true nor false", text)
	}
}

// short writes a duration without the zeros that Go puts behind it.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func checkLogFormat(text string) error {
	if text != "text" && text != "json" {
		return fmt.Errorf("%q is neither text nor json", text)
	}
	return nil
}

// checkFile makes sure that a named file can be read, while its setting's name
// is known.
func checkFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return file.Close()
}

// parseSMTP reads the address of a mail server; none is nil.
func parseSMTP(text string) (*notice.Server, error) {
	if text == "" {
		return nil, nil
	}
	return notice.ParseServer(text)
}
