package payment

import (
	"errors"
	"strconv"
)

// Minor is an amount of money in hundredths. The contract speaks of
// decimal(10,2) for every currency, so there is one exponent and no float.
type Minor int64

// MaxMinor is the largest amount of decimal(10,2).
const MaxMinor Minor = 99_999_999_99

// Sentences for amounts that cannot be taken. They are said of a field.
var (
	errAmountForm     = errors.New("Enter an amount as digits with at most 2 decimals, such as 29.99.")
	errAmountDecimals = errors.New("An amount has at most 2 decimals.")
	errAmountDigits   = errors.New("An amount has at most 8 digits before the point.")
)

// ParseMinor reads an amount from the literal text of a request: digits with at
// most two decimals. No sign, exponent or blank is taken, so that what was
// meant is never guessed.
func ParseMinor(text string) (Minor, error) {
	whole, decimals, point := text, "", false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '.' && !point:
			whole, decimals, point = text[:i], text[i+1:], true
		case c < '0' || c > '9':
			return 0, errAmountForm
		}
	}
	if whole == "" || point && decimals == "" {
		return 0, errAmountForm
	}
	if len(decimals) > 2 {
		return 0, errAmountDecimals
	}
	if len(whole) > 8 {
		return 0, errAmountDigits
	}
	value, _ := strconv.ParseInt(whole+(decimals + "00")[:2], 10, 64)
	return Minor(value), nil
}

// Append writes the amount with exactly two decimals.
func (m Minor) Append(dst []byte) []byte {
	if m < 0 {
		dst, m = append(dst, '-'), -m
	}
	dst = strconv.AppendInt(dst, int64(m/100), 10)
	return append(dst, '.', byte('0'+m/10%10), byte('0'+m%10))
}

// String is the amount with exactly two decimals, as responses show it.
func (m Minor) String() string { return string(m.Append(make([]byte, 0, 16))) }
