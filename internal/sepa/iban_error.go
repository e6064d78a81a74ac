package sepa

import (
	"fmt"
	"strings"
)

// IBANErrorKind says what is wrong with an IBAN, so that a page can say it in the payer's language.
type IBANErrorKind string

// The kinds, in the order in which they are looked for.
const (
	IBANInvalidCharacter IBANErrorKind = "invalid_character"
	IBANMissing          IBANErrorKind = "missing"
	IBANUnknownCountry   IBANErrorKind = "unknown_country"
	IBANWrongLength      IBANErrorKind = "wrong_length"
	IBANWrongStructure   IBANErrorKind = "wrong_structure"
	IBANInvalidChecksum  IBANErrorKind = "invalid_checksum"
)

// IBANError tells a payer what to mend. It never holds the IBAN: at most its country, its length and the place of a
// wrong character. The fields that a kind does not use are zero.
type IBANError struct {
	Kind           IBANErrorKind
	Country        string // the first two letters; "" when they are no letters
	CountryName    string // in English, "" when the country has no IBANs
	Length         int    // characters given, without spaces and hyphens
	ExpectedLength int    // characters that an IBAN of this country has
	Position       int    // the first character that cannot stand where it stands, counted from 1
	DigitExpected  bool   // at Position a digit must stand, otherwise a letter

	adjective string
}

func newIBANError(kind IBANErrorKind, layout *ibanLayout, length int) *IBANError {
	return &IBANError{
		Kind:           kind,
		Country:        layout.country.code,
		CountryName:    layout.country.name,
		Length:         length,
		ExpectedLength: layout.length,
		adjective:      layout.country.adjective,
	}
}

func refuseCountry(plain *plainIBAN, length int) *IBANError {
	if length == 0 {
		return &IBANError{Kind: IBANMissing}
	}
	err := &IBANError{Kind: IBANUnknownCountry, Length: length}
	if characterClass[plain[0]] == classLetter && characterClass[plain[1]] == classLetter {
		err.Country = string(plain[:2])
	}
	return err
}

func refuseCharacter(layout *ibanLayout, position int) *IBANError {
	err := newIBANError(IBANWrongStructure, layout, layout.length)
	err.Position = position
	err.DigitExpected = layout.allowed[position-1] == classDigit
	return err
}

// Error is the sentence that API and page show.
func (e *IBANError) Error() string {
	switch e.Kind {
	case IBANMissing:
		return "IBAN is required" // the words of contract 4.6, without a full stop
	case IBANInvalidCharacter:
		return "Invalid characters: an IBAN has only the letters A to Z and digits."
	case IBANUnknownCountry:
		if e.Country == "" {
			return "Unknown country code: an IBAN starts with the two letters of its country."
		}
		return fmt.Sprintf("Unknown country code: no IBAN starts with %s.", e.Country)
	case IBANWrongLength:
		return fmt.Sprintf("This IBAN has %d %s; %s one has %d.",
			e.Length, plural(e.Length, "character"), withArticle(e.adjective), e.ExpectedLength)
	case IBANWrongStructure:
		return fmt.Sprintf("Invalid format: in %s IBAN character %d is a %s.",
			withArticle(e.adjective), e.Position, e.expectedCharacter())
	default:
		return "Invalid checksum: a character of this IBAN is wrong, or two are swapped."
	}
}

func (e *IBANError) expectedCharacter() string {
	if e.DigitExpected {
		return "digit"
	}
	return "letter"
}

func plural(count int, noun string) string {
	if count == 1 {
		return noun
	}
	return noun + "s"
}

// withArticle knows the adjectives of the registry: those with A, E, I and O take "an", "Ukrainian" does not.
func withArticle(adjective string) string {
	if strings.ContainsRune("AEIO", rune(adjective[0])) {
		return "an " + adjective
	}
	return "a " + adjective
}
