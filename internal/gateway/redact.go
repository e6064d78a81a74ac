package gateway

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sepad/internal/sepa"
)

const (
	removed = "[removed]"
	// maxWords bounds a gateway's text in code points.
	maxWords = 500
	// accountDigits is how much of an IBAN's end is an account number that
	// banks print without the rest.
	accountDigits = 10
)

// Account numbers and addresses are recognised by their shape too, because an
// answer to a question about a payment may name what the question did not.
var (
	ibanShape  = regexp.MustCompile(`\b[A-Z]{2}[0-9]{2}(?:[A-Z0-9]{11,30}|(?:[ -][A-Z0-9]{4}){2,7}(?:[ -][A-Z0-9]{1,4})?)\b`)
	emailShape = regexp.MustCompile(`[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+`)
)

// redactor strikes out what a charge says about its payer, and the secrets of the
// account's settings, which gateways like to repeat in their complaints. Its
// patterns are built only when there is a text to clean, which an approved
// payment has not.
type redactor struct {
	charge  *Charge
	secrets []string
}

// clean makes a gateway's text fit to be stored, logged and shown: valid, of
// bounded length, on one line, and without personal data.
func (r redactor) clean(text string) string {
	if text == "" {
		return ""
	}
	text = strings.Map(blankControls, strings.ToValidUTF8(text, "\uFFFD"))
	for _, secret := range r.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, removed)
		}
	}
	if r.charge != nil {
		for _, pattern := range r.charge.personalPatterns() {
			text = pattern.ReplaceAllString(text, removed)
		}
	}
	text = emailShape.ReplaceAllString(text, removed)
	text = ibanShape.ReplaceAllStringFunc(sepa.MaskIBANs(text), sepa.MaskText)
	return shorten(strings.TrimSpace(text))
}

// CleanWords makes a bank's words fit to be stored and shown that came in a file, and not as an answer to a question.
func CleanWords(text string) string { return redactor{}.clean(text) }

func blankControls(c rune) rune {
	if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' {
		return ' '
	}
	return c
}

func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxWords {
		return text
	}
	return string([]rune(text)[:maxWords-1]) + "…"
}

// personalPatterns finds the payer's data in a text, longest first so that a
// name within an address does not keep the address from being found.
func (c *Charge) personalPatterns() []*regexp.Regexp {
	iban := c.Instrument.IBAN.Electronic()
	terms := []string{
		iban, iban[min(4, len(iban)):], iban[max(0, len(iban)-accountDigits):],
		c.Instrument.HolderName, c.Lead.FirstName, c.Lead.LastName, c.Lead.Email,
		c.Lead.Address, c.Lead.City, c.Lead.PostalCode, c.Lead.Phone, c.CustomerIP,
	}
	slices.SortStableFunc(terms, func(a, b string) int { return len(b) - len(a) })
	var patterns []*regexp.Regexp
	for _, term := range terms {
		// One or two letters identify nobody but would riddle every text.
		if utf8.RuneCountInString(term) > 2 {
			patterns = append(patterns, regexp.MustCompile(`(?i)`+spaced(term)))
		}
	}
	return patterns
}

// spaced matches a term also when its characters are written in groups.
func spaced(term string) string {
	var parts []string
	for _, c := range term {
		if c != ' ' && c != '-' {
			parts = append(parts, regexp.QuoteMeta(string(c)))
		}
	}
	return strings.Join(parts, `[\s-]*`)
}
