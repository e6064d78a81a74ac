package letter

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sepad/internal/locale"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

var braces = regexp.MustCompile(`\{[a-z0-9]+\}`)

// sorted are the distinct words in braces.
func sorted(text string) []string {
	words := braces.FindAllString(text, -1)
	slices.Sort(words)
	return slices.Compact(words)
}

func TestEveryLanguageSaysTheSame(t *testing.T) {
	t.Parallel()
	english := reflect.ValueOf(*tongues["en"])
	for code, words := range tongues {
		if locale.Find(code) == nil {
			t.Errorf("nobody knows how %s writes money", code)
		}
		said := reflect.ValueOf(*words)
		for i := range said.NumField() {
			name, text := said.Type().Field(i).Name, said.Field(i).String()
			if want := sorted(english.Field(i).String()); text == "" || !slices.Equal(sorted(text), want) {
				t.Errorf("%s of %s is %q, with %v", name, code, text, want)
			}
		}
	}
}

// TestLetters writes both kinds of mail in every language.
func TestLetters(t *testing.T) {
	t.Parallel()
	logo := "https://shop.example/logo.svg"
	page, offer, product := payment.NewID(), payment.NewID(), "Wanderkarte <Süd>"
	setup := merchant.NewSetup(merchant.Tenant{Name: "Bergladen", Notices: merchant.Notices{Sender: "konto@bergladen.example"}})
	setup.HostedPages[page] = merchant.HostedPage{ID: page, Branding: merchant.Branding{LogoURL: &logo, PrimaryColor: "#0b6b4b"}}
	setup.Offers[offer] = merchant.Offer{ID: offer, ProductName: &product}
	due, err := payment.ParseDate("2026-12-01")
	if err != nil {
		t.Fatal(err)
	}
	for code := range tongues {
		for _, kind := range []store.MailKind{store.MailAnnounced, store.MailMoved} {
			of := store.Letter{
				Transaction: payment.Transaction{AmountMinor: 1234_50, Currency: "EUR", MaskedIBAN: "******************3000", MandateReference: "MND-ABCDEFGHIJKL"},
				Language:    code, HostedPageID: &page, OfferID: &offer,
			}
			m := store.Mail{Kind: kind, Plan: payment.Plan{DueDate: due, CreditorName: "Bergladen GmbH", CreditorIdentifier: "DE98ZZZ09999999999"}}
			l := Write(setup, m, of)
			html, err := l.HTML()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				locale.Find(code).Money(1234_50, "EUR"), locale.Find(code).Date(due), "3000", "MND-ABCDEFGHIJKL", "DE98ZZZ09999999999",
				"Bergladen GmbH", "konto@bergladen.example",
			} {
				if !strings.Contains(l.Text(), want) || !strings.Contains(html, want) {
					t.Errorf("%s in %s does not say %q", kind, code, want)
				}
			}
			keep(t, code+"-"+string(kind), html)
			if strings.ContainsAny(l.Subject+l.Text(), "{}") || !strings.Contains(html, "Wanderkarte &lt;Süd&gt;") || !strings.Contains(html, logo) || !strings.Contains(html, "#0b6b4b") {
				t.Errorf("%s in %s: %s", kind, code, l.Subject)
			}
		}
	}
}

// keep leaves a mail where people can look at it.
func keep(t *testing.T, name, html string) {
	t.Helper()
	folder := os.Getenv("SEPAD_SCREENSHOTS")
	if folder == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, "mail-"+name+".html"), []byte(html), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheLanguageOfALetter(t *testing.T) {
	t.Parallel()
	for want, of := range map[string]store.Letter{
		"fr": {Language: "fr", Country: "DE"}, "de": {Country: "at"}, "en": {Country: "GR"}, "nl": {Language: "xx", Country: "BE"},
		"it": {Options: payment.SessionOptions{Language: "it"}, Country: "DE"},
	} {
		if got := languageOf(of); got != want {
			t.Errorf("%+v is written in %s, want %s", of, got, want)
		}
	}
}
