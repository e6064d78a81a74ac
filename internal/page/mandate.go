package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"sepad/internal/payment"
	"sepad/internal/web"
)

// Versions of the mandate's wording, as the evidence names them. The wording is
// meant to be the scheme's: the European Payments Council publishes the text of
// the core mandate in each language, and it is not ours to phrase. It was written
// from memory of that text, and held against copies that banks and creditors
// publish since, as far as they were found; the guide tells merchants what was
// compared in which language. Whoever mends MandateAuthority, MandateRefund or
// MandateRights in any language raises the first.
const (
	wordingScheme   = "3"
	wordingMerchant = "merchant"
)

// mandate is what a payer agrees to.
type mandate struct {
	Title      string
	Paragraphs []string
	Facts      []fact
	version    string
}

// fact is a line with a name.
type fact struct{ Name, Value string }

// mandate puts the session's mandate into words. It holds no date: what was
// shown before midnight is the same after.
func (v visit) mandate() mandate {
	m := mandate{Title: v.MandateTitle, version: wordingScheme}
	m.Paragraphs = []string{fill(v.MandateAuthority, "creditor", v.creditor()), v.MandateRefund, v.MandateRights}
	if own := v.content("mandate_text"); own != "" {
		m.version = wordingMerchant
		m.Paragraphs = paragraphs(fill(own, "creditor", v.creditor(), "reference", v.Session.MandateReference))
	}
	kind := v.TypeOnce
	if v.Session.Terms.StartsSubscription() {
		kind = v.TypeRecurring
	}
	for _, f := range []fact{
		{v.Creditor, v.creditor()},
		{v.Address, v.Tenant.Creditor.Address},
		{v.Identifier, v.Tenant.Creditor.Identifier},
		{v.Reference, v.Session.MandateReference},
		{v.TypeOfPayment, kind},
		{v.Payments, v.paymentWords()},
	} {
		if f.Value != "" {
			m.Facts = append(m.Facts, f)
		}
	}
	return m
}

// creditor is whom the mandate names.
func (v visit) creditor() string { return cmp.Or(v.Tenant.Creditor.Name, v.Tenant.Name) }

// paymentWords are what the mandate covers: "€1.00 for 14 days; €29.99 every month".
func (v visit) paymentWords() string {
	terms := v.Session.Terms
	regular := fill(v.OpenRhythm, "merchant", v.Tenant.Name)
	if terms.Frequency != "" {
		regular = v.money(terms.PriceMinor) + " " + v.rhythm()
	}
	switch {
	case terms.BillingType == payment.OneOff:
		return v.money(terms.PriceMinor)
	case terms.BillingType == payment.Recurring:
		return regular
	case terms.DueMinor() == 0:
		return v.Free + " " + fill(v.ForPeriod, "period", v.trialPeriod()) + "; " + regular
	default:
		return v.money(terms.DueMinor()) + " " + fill(v.ForPeriod, "period", v.trialPeriod()) + "; " + regular
	}
}

// paragraphs cuts a text at its empty lines.
func paragraphs(text string) (all []string) {
	for _, one := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// text is the mandate as it is recorded: title, paragraphs and facts, apart by
// empty lines, and the facts a line each.
func (m mandate) text() string {
	lines := make([]string, len(m.Facts))
	for i, f := range m.Facts {
		lines[i] = f.Name + ": " + f.Value
	}
	blocks := append(append([]string{m.Title}, m.Paragraphs...), strings.Join(lines, "\n"))
	return strings.Join(blocks, "\n\n")
}

// readMandate is the mandate that a recorded text tells.
func readMandate(text string) mandate {
	blocks := strings.Split(text, "\n\n")
	m := mandate{Title: blocks[0]}
	if len(blocks) == 1 {
		return m
	}
	m.Paragraphs = blocks[1 : len(blocks)-1]
	for _, line := range strings.Split(blocks[len(blocks)-1], "\n") {
		name, value, _ := strings.Cut(line, ": ")
		m.Facts = append(m.Facts, fact{name, value})
	}
	return m
}

// hash names the text; the form brings it back as the proof of what was shown.
func (m mandate) hash() string { return hashOf(m.text()) }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// maxUserAgent is how much of a browser's name is kept.
const maxUserAgent = 255

// accept is the evidence that the payer of a request has agreed.
func (v visit) accept(r *http.Request, m mandate) *payment.Acceptance {
	a := &payment.Acceptance{
		Mode: v.Session.AcceptanceMode, Language: v.Code, TextVersion: m.version, Text: m.text(), TextHash: m.hash(),
		UserAgent: shorten(printable(r.UserAgent()), maxUserAgent),
	}
	if address := web.ClientIP(r.Context()); address.IsValid() {
		a.ClientIP = address.String()
	}
	return a
}

// printable drops what no database should be given.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return -1
		}
		return c
	}, text)
}
