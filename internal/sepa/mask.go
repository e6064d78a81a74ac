package sepa

import "strings"

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
