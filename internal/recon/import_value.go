package recon

import (
	"errors"
	"strings"
	"time"

	"sepad/internal/payment"
)

var (
	errAmountAmbiguous = errors.New("cannot be told apart: write cents after a point or comma, such as 1234.56")
	errAmountForm      = errors.New("must be an amount such as 1234.56 or 1.234,56")
	errDateForm        = errors.New("must be a date such as 2026-03-31, 2026-03-31T12:00:00Z or 31.03.2026")
)

// amountGaps are what stands between the groups of an amount's digits beside points and commas.
var amountGaps = strings.NewReplacer("\u00a0", " ", "'", " ")

// parseAmount reads money with a decimal point or a decimal comma, and tells a
// sign apart. What could be read in two ways is not read at all.
func parseAmount(text string) (amount payment.Minor, negative bool, err error) {
	text, negative = strings.CutPrefix(amountGaps.Replace(text), "-")
	if text, err = joinGaps(strings.TrimSpace(text)); err != nil {
		return 0, false, err
	}
	mark := strings.LastIndexAny(text, ".,")
	if mark >= 0 {
		decimals, other := text[mark+1:], ","
		if text[mark] == ',' {
			other = "."
		}
		whole := text[:mark]
		switch {
		case strings.Contains(whole, text[mark:mark+1]):
			return 0, false, errAmountAmbiguous
		case len(decimals) == 3 && !strings.Contains(whole, other) && len(whole) > 0 && len(whole) <= 3:
			return 0, false, errAmountAmbiguous
		}
		if whole, err = joinThousands(whole, other); err != nil {
			return 0, false, err
		}
		text = whole + "." + decimals
	}
	if amount, err = payment.ParseMinor(text); err != nil {
		return 0, false, errAmountForm
	}
	return amount, negative, nil
}

// joinGaps drops the gaps between groups of three digits: what stands behind another gap may
// be cents.
func joinGaps(text string) (string, error) {
	whole, decimals := text, ""
	if mark := strings.IndexAny(text, ".,"); mark >= 0 {
		whole, decimals = text[:mark], text[mark:]
	}
	if !strings.Contains(whole, " ") {
		return text, nil
	}
	whole, err := joinThousands(whole, " ")
	return whole + decimals, err
}

// joinThousands drops the marks between groups of three digits.
func joinThousands(whole, mark string) (string, error) {
	groups := strings.Split(whole, mark)
	for i, group := range groups {
		if i > 0 && len(group) != 3 || i == 0 && len(groups) > 1 && (group == "" || len(group) > 3) {
			return "", errAmountForm
		}
	}
	return strings.Join(groups, ""), nil
}

// dateLayouts are the forms of a date in files, by how often they are met.
var dateLayouts = []string{
	time.RFC3339Nano, time.DateOnly, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "02.01.2006",
	"02.01.2006 15:04:05", "02.01.2006 15:04", "2.1.2006",
}

// parseInstant reads a date or a time; without a zone it is UTC, and a day is
// its first instant.
func parseInstant(text string) (time.Time, error) {
	for _, layout := range dateLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Truncate(time.Microsecond), nil
		}
	}
	return time.Time{}, errDateForm
}

// unguarded takes away the apostrophe with which exports guard a cell.
func unguarded(text string) string {
	if len(text) > 1 && text[0] == guard && beginsFormula(text[1:]) {
		return text[1:]
	}
	return text
}
