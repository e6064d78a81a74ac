package sepa

import (
	"strings"
	"unicode/utf8"
)

// visibleCharacters is how much of an account number a record may show.
const visibleCharacters = 4

// groupMarks are what people write between the groups of an account number.
var groupMarks = strings.NewReplacer(" ", "", "-", "")

// MaskText masks what may be an IBAN but was never checked: an account number in an imported file, a field of a gateway's
// answer. Spaces and hyphens go; of the rest the last four characters stay, and never more than half of them, so that a
// short number is not shown whole. Text that is masked already comes out as it went in.
func MaskText(text string) string {
	characters := []rune(groupMarks.Replace(text))
	visible := min(visibleCharacters, len(characters)/2)
	for i := range len(characters) - visible {
		characters[i] = '*'
	}
	return string(characters)
}

// widestGap is how many marks may stand between two groups of an account number.
const widestGap = 3

// MaskIBANs masks every IBAN within a text that somebody else has written, such as a bank: in either case, in groups of any length,
// and with words right before or behind it. What only looks like one stays, for references do.
func MaskIBANs(text string) string {
	var masked strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		iban, length := ibanAt(text[i:])
		if length == 0 {
			continue
		}
		masked.WriteString(text[done:i])
		masked.WriteString(iban.Masked())
		done = i + length
		i = done - 1
	}
	if done == 0 {
		return text
	}
	masked.WriteString(text[done:])
	return masked.String()
}

// ibanAt is the IBAN that a text begins with, and how much of the text it takes; 0 for none.
func ibanAt(text string) (iban IBAN, length int) {
	if len(text) < 2 {
		return iban, 0
	}
	layout := layoutFor(inputCharacters[text[0]], inputCharacters[text[1]])
	if layout == nil {
		return iban, 0
	}
	found, gap := make([]byte, 0, maxIBANLength), 0
	for i := range len(text) {
		switch character := inputCharacters[text[i]]; {
		case character > inputSkipped:
			found, gap = append(found, character), 0
		case gap < widestGap && (text[i] >= utf8.RuneSelf || strings.IndexByte(" -./_\t\r\n", text[i]) >= 0): // a narrow space has three bytes
			gap++
		default:
			return iban, 0
		}
		if len(found) == layout.length {
			iban, err := ParseIBAN(string(found))
			if err != nil {
				return iban, 0
			}
			return iban, i + 1
		}
	}
	return iban, 0
}
