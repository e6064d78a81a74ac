package sepa

import (
	"fmt"
	"slices"
	"strings"
)

// Parts of a creditor identifier: country, two check digits, the creditor's own business code of three characters, and
// the part that the country gives out.
const (
	creditorCheckEnd    = 4
	creditorBusinessEnd = 7
	creditorMaxLength   = 35
)

// creditorLengths are the lengths that countries with one fixed form give out. Others are held to the scheme's limits
// alone: refusing a good identifier would keep a creditor from collecting at all.
var creditorLengths = map[string][]int{
	"AT": {18}, "BE": {17, 20}, "DE": {18}, "ES": {16}, "FI": {15}, "FR": {13},
	"IE": {13}, "IT": {23}, "LU": {26}, "NL": {19}, "PT": {13},
}

// creditorFault is a sentence for whoever sets up a creditor.
type creditorFault string

func (f creditorFault) Error() string { return string(f) }

// ParseCreditorIdentifier gives the electronic form of a SEPA creditor identifier, upper-case and without spaces, or an
// error whose text says what to mend.
func ParseCreditorIdentifier(text string) (string, error) {
	id := strings.ToUpper(strings.ReplaceAll(text, " ", ""))
	if len(id) <= creditorBusinessEnd || len(id) > creditorMaxLength || strings.ContainsFunc(id, notAlphanumeric) ||
		!isLetters(id[:2]) || strings.Trim(id[2:creditorCheckEnd], "0123456789") != "" {
		return "", creditorFault("Give a SEPA creditor identifier such as DE98ZZZ09999999999.")
	}
	country := id[:2]
	if _, known := schemeStart[country]; !known {
		return "", creditorFault("No creditor identifier starts with " + country + ": it is no country of SEPA.")
	}
	if lengths, known := creditorLengths[country]; known && !slices.Contains(lengths, len(id)) {
		return "", creditorFault(fmt.Sprintf("This creditor identifier has %d characters; one of %s has %s.", len(id), country, listed(lengths)))
	}
	// The business code does not count: a creditor changes it without asking for new check digits.
	if remainder97(id[creditorBusinessEnd:]+id[:creditorCheckEnd]) != 1 {
		return "", creditorFault("The check digits of this creditor identifier are wrong: a character is, or two are swapped.")
	}
	return id, nil
}

// remainder97 is the ISO 7064 remainder of letters and digits, A counting as 10.
func remainder97(text string) int {
	remainder := 0
	for _, c := range []byte(text) {
		if c >= 'A' {
			remainder = (remainder*100 + int(c-'A') + 10) % 97
			continue
		}
		remainder = (remainder*10 + int(c-'0')) % 97
	}
	return remainder
}

func notAlphanumeric(c rune) bool { return (c < '0' || c > '9') && (c < 'A' || c > 'Z') }

func isLetters(text string) bool { return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" }

func listed(lengths []int) string {
	texts := make([]string, len(lengths))
	for i, length := range lengths {
		texts[i] = fmt.Sprint(length)
	}
	return strings.Join(texts, " or ")
}
