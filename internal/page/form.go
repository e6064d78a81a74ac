package page

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// Names of the form's fields. IBAN and holder are called as in the contract,
// by which browsers that fill forms in know them.
const (
	fieldIBAN     = "iban"
	fieldHolder   = "iban_holder_name"
	fieldAgree    = "mandate"
	fieldMandate  = "mandate_hash"
	fieldAfter    = "after"
	fieldShown    = "shown_in"
	fieldAction   = "action"
	fieldLanguage = "language"
	fieldTestIBAN = "test_iban"
)

// maxHolder is as in the contract (8.2).
const maxHolder = 255

// input is what a payer has typed.
type input struct {
	IBAN   string
	Holder string
	Agreed bool
}

func readInput(r *http.Request) input {
	return input{
		IBAN: cleanIBAN(r.PostFormValue(fieldIBAN)), Holder: strings.TrimSpace(r.PostFormValue(fieldHolder)),
		Agreed: r.PostFormValue(fieldAgree) != "",
	}
}

// cleanIBAN forgives what comes along when an IBAN is copied: the word before
// it, and spaces of every kind. The script does the same.
func cleanIBAN(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) {
			return ' '
		}
		return c
	}, text)
	text = strings.TrimSpace(text)
	if len(text) > len("IBAN") && strings.EqualFold(text[:len("IBAN")], "IBAN") {
		text = strings.TrimLeft(text[len("IBAN"):], ": ")
	}
	return text
}

// group writes an IBAN as people read it, in groups of four.
func group(iban string) string {
	var grouped strings.Builder
	for i, character := range iban {
		if i > 0 && i%4 == 0 {
			grouped.WriteByte(' ')
		}
		grouped.WriteRune(character)
	}
	return grouped.String()
}

// formView is the form with what is in it and what is wrong with it.
type formView struct {
	input
	// Errors are keyed by field; Notice stands above the form.
	Errors map[string]string
	Notice string
	// Decline is why the last attempt was refused, nil when none was.
	Decline *declineView

	Mandate     mandate
	MandateHash string
	After       string
	Implicit    bool
	// Agree is the sentence of the check box, or the one above the button.
	Agree  string
	Button string
	// Words and SEPA are for the script, which checks as we do.
	Words     string
	SEPA      string
	TestIBANs []sandbox.TestIBAN
}

// declineView is what happened, and what to try.
type declineView struct {
	declineWords
	Account, Attempts string
}

// form is the form as it is first shown: with the name that is known.
func (v visit) form() formView {
	in := input{Holder: strings.TrimSpace(v.Lead.FirstName + " " + v.Lead.LastName)}
	if v.last != nil && v.last.Transaction.HolderName != "" {
		in.Holder = v.last.Transaction.HolderName
	}
	return v.formWith(in)
}

func (v visit) formWith(in input) formView {
	m := v.mandate()
	f := formView{
		input: in, Errors: map[string]string{}, Mandate: m, MandateHash: m.hash(), After: v.after(),
		Implicit: v.Session.AcceptanceMode == payment.AcceptImplicit, Button: v.buttonWords(),
		Words: v.scriptWords(), SEPA: strings.Join(v.sepaCountries(), " "),
	}
	recurring := v.Session.Terms.StartsSubscription()
	switch {
	case f.Implicit && recurring:
		f.Agree = v.ImplicitRecurring
	case f.Implicit:
		f.Agree = v.ImplicitOnce
	case recurring:
		f.Agree = v.AgreeRecurring
	default:
		f.Agree = v.AgreeOnce
	}
	f.Agree = fill(f.Agree, "creditor", v.creditor())
	if v.last != nil && v.last.Transaction.Decline != nil {
		f.Decline = v.declined()
	}
	return f
}

// after names the attempt that the form was shown after. A form that is sent
// once more finds that another attempt came between, and is not taken again.
func (v visit) after() string {
	if v.last == nil {
		return "none"
	}
	return v.last.Transaction.ID.String()
}

func (v visit) declined() *declineView {
	t := v.last.Transaction
	return &declineView{
		declineWords: v.decline(t.Decline.Code), Account: fill(v.AccountUsed, "last4", t.IBANLast4()),
		Attempts: v.count(v.AttemptsLeft, v.Session.AttemptsRemaining()),
	}
}

func (v visit) buttonWords() string {
	terms := v.Session.Terms
	switch {
	case terms.DueMinor() == 0:
		return v.TrialFreeButton
	case terms.BillingType == payment.TrialRecurring:
		return fill(v.TrialPaidButton, "amount", v.money(terms.DueMinor()))
	default:
		return fill(v.PayButton, "amount", v.money(terms.DueMinor()))
	}
}

// check fills in what is wrong and gives the account when nothing is.
func (p *Page) check(v visit, f *formView) payment.Instrument {
	if sentence := v.ibanWords(f.IBAN); sentence != "" {
		f.Errors[fieldIBAN] = sentence
	}
	switch {
	case f.Holder == "":
		f.Errors[fieldHolder] = v.HolderMissing
	case utf8.RuneCountInString(f.Holder) > maxHolder:
		f.Errors[fieldHolder] = v.HolderLong
	case !utf8.ValidString(f.Holder) || strings.ContainsFunc(f.Holder, unicode.IsControl):
		f.Errors[fieldHolder] = v.HolderCharacter
	}
	if !f.Implicit && !f.Agreed {
		f.Errors[fieldAgree] = v.AgreeMissing
	}
	if len(f.Errors) > 0 {
		return payment.Instrument{}
	}
	return p.Checkout.Instrument(f.IBAN, f.Holder, payment.Fields{})
}

// ibanWords says what is wrong with an IBAN, "" when nothing is.
func (v visit) ibanWords(text string) string {
	iban, err := sepa.ParseIBAN(text)
	wrong, ok := errors.AsType[*sepa.IBANError](err)
	if !ok {
		if !sepa.InScheme(iban.Country(), v.now) {
			return v.IBANOutsideSEPA
		}
		return ""
	}
	switch wrong.Kind {
	case sepa.IBANMissing:
		return v.IBANMissing
	case sepa.IBANInvalidCharacter:
		return v.IBANCharacter
	case sepa.IBANUnknownCountry:
		if wrong.Country == "" {
			return v.IBANNoCountry
		}
		return fill(v.IBANCountry, "code", wrong.Country)
	case sepa.IBANWrongLength:
		return fill(v.IBANLength, "length", strconv.Itoa(wrong.Length), "code", wrong.Country, "expected", strconv.Itoa(wrong.ExpectedLength))
	case sepa.IBANWrongStructure:
		sentence := v.IBANLetter
		if wrong.DigitExpected {
			sentence = v.IBANDigit
		}
		return fill(sentence, "position", strconv.Itoa(wrong.Position))
	default:
		return v.IBANChecksum
	}
}

// sepaCountries are those whose accounts can be debited today.
func (v visit) sepaCountries() (codes []string) {
	for _, country := range sepa.Countries() {
		if sepa.InScheme(country.Code, v.now) {
			codes = append(codes, country.Code)
		}
	}
	return codes
}

// scriptWords are the sentences that the script needs, as JSON.
func (v visit) scriptWords() string {
	words, _ := json.Marshal(map[string]string{ // texts alone can always be written
		"missing": v.IBANMissing, "character": v.IBANCharacter, "country": v.IBANCountry, "noCountry": v.IBANNoCountry,
		"length": v.IBANLength, "digit": v.IBANDigit, "letter": v.IBANLetter, "checksum": v.IBANChecksum,
		"outside": v.IBANOutsideSEPA, "holder": v.HolderMissing, "agree": v.AgreeMissing, "busy": v.PayBusy, "bank": v.Bank,
	})
	return string(words)
}

// testIBANs are offered where the sandbox's gateway would understand them.
func (p *Page) testIBANs(v visit) []sandbox.TestIBAN {
	if p.Checkout.Environment != merchant.Sandbox || v.Gateway.Adapter != "sandbox" {
		return nil
	}
	return sandbox.TestIBANs()
}
