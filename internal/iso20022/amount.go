package iso20022

import (
	"strconv"
	"strings"
	"time"
)

// money is an amount as a bank wrote it.
type money struct {
	minor    int64
	currency string
	ok       bool
}

const (
	// maxDigits is how many an amount has before its point: one more than the scheme knows, for bookings of many
	// payments. However many amounts a file has, they add up.
	maxDigits      = 10
	currencyLength = 3
)

// readMoney reads an amount element. Banks write 100, 100.5, 100.00000 and, against the standard, 100,50. What has a
// sign, a third decimal that counts, too many digits or no currency's code is not guessed at.
func readMoney(e *element) money {
	if e == nil || len(e.currency) > currencyLength {
		return money{}
	}
	minor, ok := parseDecimal(e.text)
	return money{minor: minor, currency: strings.ToUpper(e.currency), ok: ok}
}

func parseDecimal(text string) (minor int64, ok bool) {
	whole, decimals, _ := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	decimals = strings.TrimRight(decimals, "0")
	if len(whole) == 0 || len(strings.TrimLeft(whole, "0")) > maxDigits || len(decimals) > 2 || !isDigits(whole) || !isDigits(decimals) {
		return 0, false
	}
	minor, err := strconv.ParseInt(whole+(decimals + "00")[:2], 10, 64)
	return minor, err == nil
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// readDate takes the day out of a date or an instant; the rest of an instant is often not as it should be.
func readDate(text string) time.Time {
	if len(text) < len(dayForm) {
		return time.Time{}
	}
	date, err := time.Parse(dayForm, text[:len(dayForm)])
	if err != nil {
		return time.Time{}
	}
	return date
}

// dateOf reads the two forms of a date choice: Dt and DtTm, or the text itself.
func dateOf(e *element) time.Time {
	for _, text := range []string{e.value("Dt"), e.value("DtTm"), e.value()} {
		if date := readDate(text); !date.IsZero() {
			return date
		}
	}
	return time.Time{}
}

// isTrue reads an indicator, also where a bank writes YES or J.
func isTrue(text string) bool {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "y", "ja", "j":
		return true
	}
	return false
}

// identifier drops what stands in place of an identifier that is not there.
func identifier(text string) string {
	switch strings.ToUpper(strings.ReplaceAll(text, " ", "")) {
	case "NOTPROVIDED", "NONREF", "NOTAVAILABLE", "NOREF", "N/A", "-":
		return ""
	}
	return text
}
