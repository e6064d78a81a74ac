package page

import (
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/web"
)

// Names of the form's fields. What the payer types is called as in the contract,
// by which browsers that fill forms in know them.
const (
	fieldIBAN     = "iban"
	fieldHolder   = "iban_holder_name"
	fieldStreet   = "address"
	fieldTown     = "city"
	fieldAgree    = "mandate"
	fieldMandate  = "mandate_hash"
	fieldAfter    = "after"
	fieldShown    = "shown_in"
	fieldAction   = "action"
	fieldLanguage = "language"
	fieldTestIBAN = "test_iban"
)

// Lengths as in the contract (2.2, 8.2).
const (
	maxHolder = 255
	maxStreet = 500
	maxTown   = 255
)

// input is what a payer has typed.
type input struct {
	IBAN   string
	Holder string
	Street string
	Town   string
	Agreed bool
}

func readInput(r *http.Request) input {
	return input{
		IBAN: cleanIBAN(r.PostFormValue(fieldIBAN)), Holder: strings.TrimSpace(r.PostFormValue(fieldHolder)),
		Street: strings.TrimSpace(r.PostFormValue(fieldStreet)), Town: strings.TrimSpace(r.PostFormValue(fieldTown)),
		Agreed: r.PostFormValue(fieldAgree) != "",
	}
}

// bicBehind is what may follow a copied IBAN.
var bicBehind = regexp.MustCompile(`^(BIC|SWIFT|BICSWIFT)?[A-Z]{6}[0-9A-Z]{2}([0-9A-Z]{3})?$`)

// cleanIBAN forgives what comes along when an IBAN is copied: blanks and stops
// of every kind, the word before it, a BIC behind it. The script does the same.
func cleanIBAN(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) || strings.ContainsRune(".:,;/_|()", c) {
			return ' '
		}
		return c
	}, text)
	text = strings.TrimSpace(text)
	if len(text) > len("IBAN") && strings.EqualFold(text[:len("IBAN")], "IBAN") {
		text = strings.TrimLeft(text[len("IBAN"):], " ")
	}
	return withoutBIC(text)
}

func withoutBIC(text string) string {
	_, err := sepa.ParseIBAN(text)
	wrong, ok := errors.AsType[*sepa.IBANError](err)
	if !ok || wrong.Kind != sepa.IBANWrongLength || wrong.Length < wrong.ExpectedLength {
		return text
	}
	left := wrong.ExpectedLength
	if !bicBehind.MatchString(compact(text)[left:]) {
		return text
	}
	for i, c := range text {
		if left == 0 {
			return text[:i]
		}
		if c != ' ' && c != '-' {
			left--
		}
	}
	return text
}

var betweenGroups = strings.NewReplacer(" ", "", "-", "")

// compact is an IBAN without what people put between its characters.
func compact(text string) string {
	return strings.ToUpper(betweenGroups.Replace(text))
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
	// Checked tells that everything is in order and only the button is left.
	Checked bool
	Title   string
	// AddressFor are the countries whose accounts need the payer's address, none
	// when the merchant has told it. AsksAddress tells that the account typed is of one.
	AddressFor  string
	AsksAddress bool

	Mandate     mandate
	MandateHash string
	After       string
	Implicit    bool
	// Agree is the sentence of the check box, or the one above the button.
	Agree  template.HTML
	Button string
	// Assured is what a payer would ask before agreeing.
	Assured []fact
	// Words and SEPA are for the script, which checks as we do.
	Words     string
	SEPA      string
	TestIBANs []sandbox.TestIBAN
}

// declineView is what happened, and what to try.
type declineView struct {
	declineWords
	Title, Account, Attempts string
	// Outage tells that the account had no part in it.
	Outage bool
}

// form is the form as it is first shown: with the name that is known.
func (v visit) form() formView {
	in := input{Holder: v.knownHolder()}
	if v.last != nil && v.last.Transaction.HolderName != "" {
		in.Holder = v.last.Transaction.HolderName
	}
	return v.formWith(in)
}

// knownHolder is whom the merchant has named.
func (v visit) knownHolder() string {
	return strings.TrimSpace(v.Lead.FirstName + " " + v.Lead.LastName)
}

func (v visit) formWith(in input) formView {
	m := v.mandate()
	f := formView{
		input: in, Errors: map[string]string{}, Mandate: m, MandateHash: m.hash(), After: v.after(), Title: v.FormTitle,
		Implicit: v.Session.AcceptanceMode == payment.AcceptImplicit, Button: v.buttonWords(), Assured: v.assured(),
		Words: v.scriptWords(), SEPA: strings.Join(v.sepaCountries(), " "),
	}
	if v.isFreeTrial() {
		f.Title = v.FormTitleTrial
	}
	if !v.Lead.HasAddress() || v.gaveAddress() {
		f.AddressFor = strings.Join(slices.DeleteFunc(v.sepaCountries(), func(code string) bool { return !sepa.NeedsPayerAddress(code) }), " ")
		iban := compact(in.IBAN)
		f.AsksAddress = sepa.NeedsPayerAddress(iban[:min(len(iban), 2)])
	}
	f.Agree = strong(fill(v.consent(f.Implicit), "button", f.Button), "creditor", v.creditor())
	if v.last != nil && v.last.Transaction.Decline != nil {
		f.Decline = v.declined()
	}
	return f
}

// isFreeTrial tells a purchase by which nothing is collected yet.
func (v visit) isFreeTrial() bool { return v.Session.Terms.DueMinor() == 0 }

// consent is the sentence by which the payer agrees.
func (v visit) consent(implicit bool) string {
	sentences := [2]string{v.AgreeOnce, v.ImplicitOnce}
	switch {
	case v.isFreeTrial():
		sentences = [2]string{v.AgreeTrial, v.ImplicitTrial}
	case v.Session.Terms.StartsSubscription():
		sentences = [2]string{v.AgreeRecurring, v.ImplicitRecurring}
	}
	if implicit {
		return sentences[1]
	}
	return sentences[0]
}

// assured is what stands beside the consent: that a debit can be taken back,
// and that none comes as a surprise.
func (v visit) assured() []fact {
	points := []fact{{v.RefundTitle, v.RefundRight}}
	if v.Session.Terms.StartsSubscription() {
		return append(points, fact{v.NoticeTitle, v.NoticeText})
	}
	return append(points, fact{v.OnceTitle, v.OnceText})
}

// strong fills a word in and has it stand out. Both texts are escaped here.
func strong(text, key, value string) template.HTML {
	parts := strings.Split(text, "{"+key+"}")
	for i, part := range parts {
		parts[i] = template.HTMLEscapeString(part)
	}
	return template.HTML(strings.Join(parts, "<b>"+template.HTMLEscapeString(value)+"</b>")) //nolint:gosec // G203: escaped above
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
	words := v.decline(t.Decline.Code)
	if t.Decline.Code == payment.GatewayUnavailable {
		return &declineView{declineWords: words, Title: v.OutageTitle, Outage: true}
	}
	return &declineView{
		declineWords: words, Title: v.DeclinedTitle, Account: fill(v.AccountUsed, "last4", t.IBANLast4()),
		Attempts: v.count(v.AttemptsLeft, v.Session.AttemptsRemaining()),
	}
}

// buttonWords say what happens: now, and later.
func (v visit) buttonWords() string {
	terms := v.Session.Terms
	words, later := fill(v.PayButton, "amount", v.money(terms.DueMinor())), v.rhythm()
	if terms.BillingType == payment.TrialRecurring {
		words, later = fill(v.TrialPaidButton, "amount", v.money(terms.DueMinor())), v.regularPrice()
		if terms.DueMinor() == 0 {
			words = v.TrialFreeButton
		}
	}
	if terms.Frequency == "" {
		return words
	}
	return words + ", " + fill(v.texts.Then, "what", later)
}

// check fills in what is wrong and gives the account when nothing is.
func (p *Page) check(v visit, f *formView) payment.Instrument {
	if sentence := v.ibanWords(f.IBAN); sentence != "" {
		f.Errors[fieldIBAN] = sentence
	}
	switch {
	case web.IsBlank(f.Holder):
		f.Errors[fieldHolder] = v.HolderMissing
	case utf8.RuneCountInString(f.Holder) > maxHolder:
		f.Errors[fieldHolder] = v.HolderLong
	case !isPlain(f.Holder):
		f.Errors[fieldHolder] = v.HolderCharacter
	}
	if f.AsksAddress && !isLine(f.Street, maxStreet) {
		f.Errors[fieldStreet] = v.AddressMissing
	}
	if f.AsksAddress && !isLine(f.Town, maxTown) {
		f.Errors[fieldTown] = v.AddressMissing
	}
	if !f.Implicit && !f.Agreed {
		f.Errors[fieldAgree] = v.AgreeMissing
	}
	if len(f.Errors) > 0 {
		return payment.Instrument{}
	}
	return p.Checkout.Instrument(f.IBAN, f.Holder, payment.Fields{})
}

// isPlain tells a text that shows as what it is.
func isPlain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) || web.TurnsText(c) })
}

// isLine tells a line of an address that a bank can be told.
func isLine(text string, longest int) bool {
	return !web.IsBlank(text) && utf8.RuneCountInString(text) <= longest && isPlain(text)
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
		"outside": v.IBANOutsideSEPA, "holder": v.HolderMissing, "address": v.AddressMissing, "agree": v.AgreeMissing, "busy": v.PayBusy,
		"count": v.IBANCount, "valid": v.IBANValid, "long": v.ProcessingLong,
		"longer": fill(v.ProcessingLonger, "merchant", v.Tenant.Name),
	})
	return string(words)
}

// movesNothing tells a session whose payments are played: in a sandbox, or at an
// account of the gateway's own sandbox, which a production may have as well.
func (p *Page) movesNothing(v visit) bool { return v.Gateway.TestMode || p.testIBANs(v) != nil }

// testIBANs are offered where the sandbox's gateway would understand them.
func (p *Page) testIBANs(v visit) []sandbox.TestIBAN {
	if p.Checkout.Environment != merchant.Sandbox || v.Gateway.Adapter != "sandbox" {
		return nil
	}
	return sandbox.TestIBANs()
}
