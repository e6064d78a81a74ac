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
	"sepad/internal/payment"
)

// wrong is the sentence of a setting that cannot be used.
func wrong(setting, format string, args ...any) error {
	return fmt.Errorf("%s: %s", setting, fmt.Sprintf(format, args...))
}

func parseEnvironment(text string) (merchant.Environment, error) {
	if text == "" {
		return merchant.Sandbox, nil
	}
	if environment := merchant.Environment(text); environment.Valid() {
		return environment, nil
	}
	return "", wrong("SEPAD_ENVIRONMENT", "%q is neither sandbox nor production", text)
}

// parseDatabaseURL says nothing of what it was given: it may hold a password.
func parseDatabaseURL(text string) (string, error) {
	const setting = "SEPAD_DATABASE_URL"
	scheme, rest, _ := strings.Cut(text, ":")
	switch {
	case text == "":
		return "", errors.New(setting + " is not set: name a database as sqlite:PATH or postgres://…")
	case scheme == "sqlite" && rest == "":
		return "", wrong(setting, "sqlite: is followed by the path of a file")
	case scheme == "sqlite", strings.HasPrefix(text, "postgres://"), strings.HasPrefix(text, "postgresql://"):
		return text, nil
	default:
		return "", wrong(setting, "it begins with sqlite: or postgres://")
	}
}

// parseReplicaURL takes a replica beside a PostgreSQL only: a file has none.
func parseReplicaURL(text, databaseURL string) (string, error) {
	const setting = "SEPAD_DATABASE_REPLICA_URL"
	switch {
	case text == "":
		return "", nil
	case !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://"):
		return "", wrong(setting, "it begins with postgres://")
	case strings.HasPrefix(databaseURL, "sqlite:"):
		return "", wrong(setting, "a SQLite database has no replica")
	default:
		return text, nil
	}
}

func parseListen(text string) (string, error) {
	if text == "" {
		return defaultListen, nil
	}
	_, port, err := net.SplitHostPort(text)
	number, notNumber := strconv.Atoi(port)
	if err != nil || notNumber != nil || number < 0 || number > 65535 {
		return "", wrong("SEPAD_LISTEN", "%q is not an address such as 127.0.0.1:8080", text)
	}
	return text, nil
}

func parsePublicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" ||
		address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return "", wrong("SEPAD_PUBLIC_URL", "it must be an address such as https://pay.example, without a user, query or fragment")
	}
	return strings.TrimRight(text, "/"), nil
}

// parseAddress checks the beginning of an address that may hold a password.
func parseAddress(setting, text, example string, schemes ...string) (string, error) {
	if text == "" {
		return "", nil
	}
	address, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, address.Scheme) || address.Host == "" && address.Path == "" {
		return "", wrong(setting, "it must be an address such as %s", example)
	}
	return text, nil
}

func parseDuration(setting, text string, fallback, most time.Duration) (time.Duration, error) {
	if text == "" {
		return fallback, nil
	}
	length, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, wrong(setting, "%q is not a duration such as %s", text, short(fallback))
	case length <= 0 || length > most:
		return 0, wrong(setting, "%s is not between 0s and %s", text, short(most))
	}
	return length, nil
}

func parseDurations(setting, text string, fallback []time.Duration, most time.Duration) ([]time.Duration, error) {
	if text == "" {
		return fallback, nil
	}
	var all []time.Duration
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		length, err := parseDuration(setting, entry, 0, most)
		if err != nil || entry == "" {
			return nil, wrong(setting, "%q is not a list of durations up to %s, such as 5s,30s,2m", text, short(most))
		}
		all = append(all, length)
	}
	return all, nil
}

// parseDays reads a list of days such as 3,5,7.
func parseDays(setting, text string, fallback payment.Dunning) (payment.Dunning, error) {
	if text == "" {
		return fallback, nil
	}
	var days payment.Dunning
	for entry := range strings.SplitSeq(text, ",") {
		number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(entry), "d"))
		if err != nil || number < 1 || number > payment.MaxDunningDays {
			return nil, wrong(setting, "%q is not a list of days from 1 to %d, such as 3,5,7", text, payment.MaxDunningDays)
		}
		days = append(days, number)
	}
	return days, nil
}

// parseBool is strict: a word that is not understood must not open anything.
func parseBool(setting, text string) (bool, error) {
	switch text {
	case "true", "1":
		return true, nil
	case "", "false", "0":
		return false, nil
	default:
		return false, wrong(setting, "%q is neither true nor false", text)
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

func parseLogFormat(text string) (string, error) {
	switch text {
	case "", "text", "json":
		return text, nil
	default:
		return "", wrong("SEPAD_LOG_FORMAT", "%q is neither text nor json", text)
	}
}

// parseFile makes sure that a named file can be read, while its setting's name
// is known.
func parseFile(setting, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", wrong(setting, "%s", err)
	}
	return path, file.Close()
}
