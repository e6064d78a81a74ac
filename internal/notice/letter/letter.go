package letter

import (
	"cmp"
	"net/mail"
	"strings"

	"sepad/internal/locale"
	"sepad/internal/merchant"
	"sepad/internal/store"
)

// Letter is a mail in its language, ready to be laid out.
type Letter struct {
	Language       string
	Subject, Title string
	Shop           string
	LogoURL        string // "" for the shop's name alone
	Color          string
	Amount, Date   string
	// Paragraphs come before the facts, and Notes behind them.
	Paragraphs []string
	Facts      []fact
	Notes      []string
	Why        string
}

type fact struct{ Name, Value string }

// Write says what a payer is told.
func Write(setup *merchant.Setup, m store.Mail, of store.Letter) Letter {
	code := languageOf(of)
	words, writes := tongues[code], locale.Find(code)
	t, tenant := of.Transaction, setup.Tenant
	l := Letter{
		Language: code, Shop: tenant.Name, Color: merchant.DefaultPrimaryColor,
		Amount: writes.Money(t.AmountMinor, t.Currency), Date: writes.Date(m.DueDate),
	}
	l.brand(setup, of)
	say := func(text string) string {
		return locale.Fill(text, "merchant", tenant.Name, "creditor", cmp.Or(m.CreditorName, tenant.Name), "amount", l.Amount, "date", l.Date,
			"last4", t.IBANLast4(), "contact", contact(tenant.Notices))
	}
	subject, title, intro := words.Subject, words.Title, words.Intro
	if m.Kind == store.MailMoved {
		subject, title, intro = words.SubjectMoved, words.TitleMoved, words.IntroMoved
	}
	l.Subject, l.Title, l.Why = say(subject), title, say(words.Why)
	l.Paragraphs = []string{say(intro), words.Cover}
	l.Facts = []fact{
		{words.Amount, l.Amount},
		{words.DebitDate, l.Date},
		{words.Account, "•••• " + t.IBANLast4()},
		{words.Creditor, cmp.Or(m.CreditorName, tenant.Name)},
		{words.Identifier, m.CreditorIdentifier},
		{words.Reference, t.MandateReference},
	}
	if product := productOf(setup, of); product != "" {
		l.Facts = append([]fact{{words.Product, product}}, l.Facts...)
	}
	l.Notes = []string{words.Refund, say(words.Ask)}
	return l
}

// brand gives the letter the looks of the page on which the purchase was made.
func (l *Letter) brand(setup *merchant.Setup, of store.Letter) {
	if of.HostedPageID == nil {
		return
	}
	page, found := setup.HostedPages[*of.HostedPageID]
	if !found {
		return
	}
	l.Color = cmp.Or(page.Branding.PrimaryColor, l.Color)
	// A logo over plain http would be blocked, or tell others what is read.
	if logo := page.Branding.LogoURL; logo != nil && strings.HasPrefix(*logo, "https://") {
		l.LogoURL = *logo
	}
}

func productOf(setup *merchant.Setup, of store.Letter) string {
	if of.Options.ProductName != "" || of.OfferID == nil {
		return of.Options.ProductName
	}
	if product := setup.Offers[*of.OfferID].ProductName; product != nil {
		return *product
	}
	return ""
}

// contact is whom a payer can ask.
func contact(n merchant.Notices) string {
	address, err := mail.ParseAddress(cmp.Or(n.ReplyTo, n.Sender))
	if err != nil { // it was checked when it was set
		return n.Sender
	}
	return address.Address
}

// languages say what is spoken where a payer lives, as far as we speak it. Where it
// is more than one, the one that most speak.
var languages = map[string]string{
	"DE": "de", "AT": "de", "CH": "de", "LI": "de", "LU": "fr", "FR": "fr", "MC": "fr", "BE": "nl", "NL": "nl", "ES": "es", "AD": "es",
	"IT": "it", "SM": "it", "VA": "it", "PT": "pt", "PL": "pl", "SE": "sv", "DK": "da", "FI": "fi", "AX": "sv", "CZ": "cs", "SK": "sk",
	"SI": "sl", "HR": "hr", "RO": "ro", "MD": "ro",
}

// languageOf is the language that the payer has read the mandate in, else what the
// merchant said, else that of the country, else English.
func languageOf(of store.Letter) string {
	for _, code := range []string{of.Language, of.Options.Language, languages[strings.ToUpper(of.Country)]} {
		if _, spoken := tongues[code]; spoken {
			return code
		}
	}
	return "en"
}
