package iso20022

import (
	"fmt"
	"strings"
	"time"

	"sepad/internal/sepa"
)

// Fault is something about a payment that a bank would refuse, or that would be lost on the way.
type Fault struct {
	// Field is what is wrong, in words of ours: "name", "amount", "mandate".
	Field string
	// Text says why, as a sentence without personal data.
	Text string
	// Fatal faults keep the payment out of the file. The others are told, and the file is written.
	Fatal bool
}

// faults collects what is wrong with one payment.
type faults []Fault

func (f *faults) fatal(field, text string, arguments ...any) {
	*f = append(*f, Fault{Field: field, Text: fmt.Sprintf(text, arguments...), Fatal: true})
}

func (f *faults) note(field, text string, arguments ...any) {
	*f = append(*f, Fault{Field: field, Text: fmt.Sprintf(text, arguments...)})
}

// fatalError joins the fatal ones into the error of a writer.
func (f faults) fatalError(what string) error {
	var texts []string
	for _, fault := range f {
		if fault.Fatal {
			texts = append(texts, fault.Field+": "+fault.Text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return fmt.Errorf("iso20022: %s: %s", what, strings.Join(texts, " "))
}

func (f *faults) identifier(field, text string) {
	if !isIdentifier(text) {
		f.fatal(field, "It needs 1 to 35 characters of the scheme, without blanks and without // or a / at an end.")
	}
}

func (f *faults) amount(amountMinor int64) {
	if amountMinor < 1 || amountMinor > MaxAmountMinor {
		f.fatal("amount", "A payment is at least 0.01 and at most 999999999.99.")
	}
}

func (f *faults) text(field, text string, length int, required bool) {
	latin, lost := Latin(text)
	if latin == "" {
		if required {
			f.fatal(field, "Nothing of it can be written in the characters of the scheme.")
		}
		return
	}
	if len(lost) > 0 {
		f.note(field, "Banks cannot take %s: a space stands instead.", quoteAll(lost))
	}
	if len(latin) > length {
		f.note(field, "It is cut to %d characters.", length)
	}
}

func quoteAll(runes []rune) string {
	quoted := make([]string, len(runes))
	for i, r := range runes {
		quoted[i] = fmt.Sprintf("%q", r)
	}
	return strings.Join(quoted, ", ")
}

func (f *faults) account(field string, account sepa.IBAN) {
	if account.IsZero() {
		f.fatal(field, "There is no IBAN.")
	}
}

func (f *faults) bic(bic string) {
	if bic != "" && !sepa.ValidBIC(bic) {
		f.fatal("bic", "It has not the form of a BIC.")
	}
}

func (f *faults) date(field string, date time.Time) {
	if date.Year() < 1990 || date.Year() > 9999 {
		f.fatal(field, "There is no such date in a payment.")
	}
}

func (f *faults) address(address Address, account sepa.IBAN) {
	if address.isEmpty() {
		if sepa.NeedsPayerAddress(account.Country()) {
			f.fatal("address", "An account in %s needs the holder's address: at least town and country.", account.Country())
		}
		return
	}
	if !isCountry(address.Country) {
		f.fatal("address", "Its country is two capital letters.")
	}
	f.text("town", address.Town, maxTown, true)
	f.text("street", address.Street, maxStreet, false)
	f.text("building", address.Building, maxBuilding, false)
	f.text("post code", address.PostCode, maxPostCode, false)
}

func isCountry(text string) bool {
	return len(text) == 2 && 'A' <= text[0] && text[0] <= 'Z' && 'A' <= text[1] && text[1] <= 'Z'
}
