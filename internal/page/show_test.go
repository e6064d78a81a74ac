package page_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/limit"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

func TestThePageSaysWhatIsBought(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	now := s.Now(t)
	today := payment.DateOf(now)
	debit := func(due payment.Date) string {
		day := sepa.NextBusinessDay(due.Start())
		if day.Year() != now.Year() {
			return day.Format("Mon 2 January 2006")
		}
		return day.Format("Mon 2 January")
	}
	tomorrow, nextMonth := debit(today.AddDays(1)), debit(today.AddMonths(1))
	for campaign, texts := range map[string][]string{
		posterCampaign: {
			"Bergladen", "Your order", "Poster", "€19.90 one payment", "50 × 70 cm", "Pay €19.90", "First debit: " + tomorrow,
			"When your account is debited " + tomorrow + " one debit €19.90 On your statement: BERGLADEN",
			"I authorise Bergladen GmbH to collect this payment", "DE98ZZZ09999999999", "Hangweg 1, 83471 Berchtesgaden, DE", "One-off payment",
			"Collected by Bergladen GmbH", "Eight weeks to get it back", "Once only", "Help", "Terms", "Privacy", "Imprint", "Back to Bergladen",
		},
		premiumCampaign: {
			"Premium", "€29.99 per month, incl. VAT", tomorrow + " first debit €29.99 " + nextMonth + " then every month €29.99",
			"Recurrent payment", "to collect these payments", "Pay €29.99, then every month", "you are told of each further debit before it is made",
		},
		trialCampaign: {
			"€1.00 for 14 days", "then €29.99 per month", tomorrow + " for 14 days €1.00 " + debit(today.AddDays(14)) + " then every month €29.99",
			"Start trial for €1.00, then €29.99 per month", "By clicking “Start trial for €1.00, then €29.99 per month” you authorise Bergladen GmbH",
		},
		freeCampaign: {
			"Free for 2 weeks", "Set up the direct debit", "Start free trial, then €29.99 per month", "Our counsel wrote this.", "You may collect, Bergladen GmbH, under MND-",
			"Today nothing is debited " + debit(today.AddDays(14)) + " first debit, then every month €29.99", "the payments after the trial",
		},
		annualCampaign: {"Hut pass", "Sleep anywhere.", "Best value", "€1,234.50 per year", "Pay €1,234.50, then every year"},
		openCampaign:   {"Donations", "€10.00", "later payments as agreed with Bergladen"},
	} {
		s.get(t, path(s.session(t, campaign))).want(t, http.StatusOK, texts...)
	}
	t.Run("what the merchant does not want shown is not", func(t *testing.T) {
		t.Parallel()
		s.get(t, path(s.session(t, bareCampaign))).want(t, http.StatusOK, "Pay €19.90").
			without(t, "50 × 70", "one payment", "Poster")
	})
	t.Run("a session without a page has one all the same", func(t *testing.T) {
		t.Parallel()
		s.get(t, path(s.Create(t, apptest.Direct()))).want(t, http.StatusOK, "Bergladen", "€49.00", "Pay €49.00")
	})
	t.Run("a hosted page's own name is not for payers", func(t *testing.T) {
		t.Parallel()
		body := apptest.Direct().With(apptest.Body{"hosted_page_id": "019d0000-0000-7000-8000-000000000230"})
		s.get(t, path(s.Create(t, body))).want(t, http.StatusOK, "Your order Bergladen €49.00").without(t, "Green page")
	})
	t.Run("a free trial speaks of no payment", func(t *testing.T) {
		t.Parallel()
		s.get(t, path(s.session(t, freeCampaign))).without(t, "this payment", "€0.00")
	})
	t.Run("the name of the lead is filled in", func(t *testing.T) {
		t.Parallel()
		if page := s.get(t, path(s.session(t, posterCampaign))); !strings.Contains(page.body, `value="`+apptest.HolderName+`"`) {
			t.Error("the holder is not filled in")
		}
	})
}

func TestEveryStageHasAPage(t *testing.T) {
	t.Parallel()
	words := map[string][]string{
		"declined":   {"The payment was not accepted", "does not cover this payment", "Account ending in 3001", "Nothing has been collected.", "You can try 2 more times."},
		"processing": {"Your payment is being processed", "do not pay again", "It is still under way"},
		"verify":     {"confirm the debit of €19.90 by Bergladen", "Continue to your bank", "Already confirmed?"},
		"paid": {
			"your payment is complete", "€29.99 will be collected from your account ending in 3000", "Product Premium", "Amount €29.99",
			"Account Commerzbank •••• 3000", "Debit date", "Next debit €29.99", "On your statement BERGLADEN", "Mandate reference MND-",
			"Creditor identifier DE98ZZZ09999999999", "Order number ORD-", "Continue to Bergladen", "Print or save the mandate",
		},
		"paid-free-trial": {"your trial has begun", "Nothing is collected today", "Next debit €29.99"},
		"pending":         {"your payment is accepted", "€29.99 will be debited", "Debit date", "BERGLADEN"},
		"failed":          {"The payment did not succeed", "Nothing has been collected", "Back to Bergladen", "Pay another way"},
		"refunded":        {"This payment was refunded"},
		"returned":        {"Your bank has returned this payment"},
		"expired":         {"This payment link has expired", "can send you a new link", "Back to Bergladen"},
		"cancelled":       {"This payment was cancelled", "Bergladen has withdrawn it"},
		"unknown":         {"We can’t find this payment"},
	}
	eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
		for _, one := range stages {
			if one.name == "bank" || one.stage == "mandate" {
				continue
			}
			page := s.get(t, one.make(t, s))
			status := http.StatusOK
			if one.stage == "" {
				status = http.StatusNotFound
			}
			page.want(t, status, words[one.name]...)
			if !strings.Contains(page.body, `data-stage="`+one.stage+`"`) {
				t.Errorf("%s: another stage is shown: %s", one.name, page.text)
			}
			checkHeaders(t, one.name, page)
			if one.stage == "pending" {
				page.without(t, "complete")
			}
		}
	})
}

func checkHeaders(t *testing.T, name string, page answer) {
	t.Helper()
	for header, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	} {
		if got := page.Header.Get(header); got != want {
			t.Errorf("%s: %s is %q", name, header, got)
		}
	}
	if found := regexp.MustCompile(`<style|<script(?: type="[^"]*")?>| style="| on[a-z]+="|javascript:`).FindString(page.body); found != "" {
		t.Errorf("%s: the page holds %q", name, found)
	}
}

func TestLateRefusalIsAFailure(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	page := paid(t, s, posterCampaign, apptest.PendingDeclined)
	s.get(t, page).want(t, http.StatusOK, "your payment is accepted")
	s.Advance(t, 25*time.Hour)
	s.get(t, page).want(t, http.StatusOK, "The payment did not succeed", "does not cover this payment")
}

func TestHostileContentIsText(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	page := s.get(t, path(s.session(t, hostileCampaign))).want(t, http.StatusOK,
		"<script>alert(1)</script>", `"><img src=x onerror=alert(2)>`, "{{.}} </style><b>bold</b>", "<i>x</i>")
	for _, markup := range []string{"<script>alert", "<img", "<b>bold", "<i>", "javascript:"} {
		if strings.Contains(page.body, markup) {
			t.Errorf("%s is markup", markup)
		}
	}
	// A holder's name is a stranger's text too.
	form := page.form(apptest.Approved)
	form.Set("iban_holder_name", `"><script>alert(4)</script>`)
	form.Set("iban", "x")
	if answer := s.ask(t, http.MethodPost, path(tokenOf(page)), form); strings.Contains(answer.body, "<script>alert") {
		t.Error("the holder is markup")
	}
}

func tokenOf(page answer) string {
	return strings.TrimSuffix(strings.TrimPrefix(page.Request.URL.Path, "/pay/"), "/")
}

// TestWaysOn holds where a result leads: by a button, never by itself, so that
// who comes back from the shop is not sent forward again.
func TestWaysOn(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	thanks := "https://shop.example/thanks?order=7&amp;lang=de&amp;session_token="
	for name, want := range map[string][]string{
		"paid":      {`id="next" href="` + thanks + `{token}#top"`, "Continue to Bergladen"},
		"pending":   {`id="next" href="` + thanks + `{token}#top"`, "Continue to Bergladen"},
		"failed":    {`id="next" href="https://shop.example/other"`, "Pay another way", `href="https://shop.example/sorry?session_token={token}"`, "Back to Bergladen"},
		"expired":   {`id="next" href="https://shop.example/sorry?session_token={token}"`, "Back to Bergladen"},
		"cancelled": {`id="next" href="https://shop.example/sorry?session_token={token}"`, "Back to Bergladen"},
		"refunded":  {`id="next" href="https://shop.example/"`, "Back to Bergladen"},
		"returned":  {`id="next" href="https://shop.example/"`, "Back to Bergladen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := stages[slices.IndexFunc(stages, func(s stage) bool { return s.name == name })]
			page := s.get(t, one.make(t, s))
			for _, part := range want {
				if part = strings.ReplaceAll(part, "{token}", tokenOf(page)); !strings.Contains(page.body, part) {
					t.Errorf("%s is missing", part)
				}
			}
			if strings.Contains(page.body, "http-equiv") {
				t.Error("the page leads away by itself")
			}
		})
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	page := path(s.session(t, premiumCampaign))
	for code, button := range map[string]string{
		"en": "Pay €29.99, then every month", "de": "29,99\u00a0€ jetzt zahlen, danach jeden Monat", "fr": "Payer 29,99\u00a0€, puis chaque mois",
		"es": "Pagar 29,99\u00a0€, después cada mes", "it": "Paga 29,99\u00a0€, poi ogni mese", "nl": "€\u00a029,99 betalen, daarna elke maand",
		"pt": "Pagar 29,99\u00a0€, depois todos os meses", "pl": "Zapłać 29,99\u00a0€, potem co miesiąc",
		"sv": "Betala 29,99\u00a0€, sedan varje månad", "da": "Betal 29,99\u00a0€, derefter hver måned", "fi": "Maksa 29,99\u00a0€, sitten joka kuukausi",
		"cs": "Zaplatit 29,99\u00a0€, potom každý měsíc", "sk": "Zaplatiť 29,99\u00a0€, potom každý mesiac", "sl": "Plačaj 29,99\u00a0€, nato vsak mesec",
		"hr": "Plati 29,99\u00a0€, zatim svaki mjesec", "ro": "Plătiți 29,99\u00a0€, apoi în fiecare lună",
	} {
		for _, shown := range []answer{s.get(t, page, "Accept-Language", code), s.get(t, page+"?lang="+code, "Accept-Language", "ja")} {
			shown.want(t, http.StatusOK, button)
			if !strings.Contains(shown.body, `<html lang="`+code+`">`) {
				t.Errorf("the page of %s does not say so", code)
			}
		}
	}
	t.Run("a choice is kept for the way to the bank and back", func(t *testing.T) {
		t.Parallel()
		chosen := s.get(t, page+"?lang=de").Header.Get("Set-Cookie")
		if !strings.HasPrefix(chosen, "sepad_language=de; Path=/pay/") || !strings.Contains(chosen, "HttpOnly") {
			t.Fatalf("the cookie is %q", chosen)
		}
		s.get(t, page, "Cookie", "sepad_language=de", "Accept-Language", "fr").want(t, http.StatusOK, "Vom Bankkonto bezahlen")
		s.get(t, page, "Cookie", "sepad_language=xx", "Accept-Language", "fr").want(t, http.StatusOK, "Payer depuis votre compte bancaire")
		s.get(t, page+"?lang=xx", "Accept-Language", "it").want(t, http.StatusOK, "Paghi dal Suo conto bancario")
	})
	t.Run("another language loses nothing that was typed", func(t *testing.T) {
		t.Parallel()
		form := s.get(t, page).form("DE89 3704")
		form.Set("language", "de")
		form.Set("iban_holder_name", "Somebody Else")
		answer := s.ask(t, http.MethodPost, page, form).want(t, http.StatusOK, "Vom Bankkonto bezahlen").without(t, "Bitte prüfen Sie")
		for _, kept := range []string{`value="DE89 3704"`, `value="Somebody Else"`, ` checked`} {
			if !strings.Contains(answer.body, kept) {
				t.Errorf("%s is lost", kept)
			}
		}
	})
}

func TestTestIBANsAreOfferedInTheSandbox(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	page := s.get(t, path(s.session(t, posterCampaign)))
	page.want(t, http.StatusOK, "Test mode: no money moves", "DE02 3704 0044 0532 0130 14", "Approved at once.")
	form := page.form("")
	form.Set("test_iban", apptest.Approved)
	if filled := s.ask(t, http.MethodPost, path(tokenOf(page)), form); !strings.Contains(filled.body, `name="iban" value="`+apptest.Approved+`"`) {
		t.Error("the account is not filled in without a script")
	}
}

func TestLoadingIsLimited(t *testing.T) {
	t.Parallel()
	s := stock(t, apptest.SQLite(t, apptest.Options{Rates: limit.Rates{limit.Page: 2}}))
	page := path(s.session(t, posterCampaign))
	var refused answer
	apptest.Eventually(t, "a refusal", func() bool {
		refused = s.get(t, page)
		return refused.StatusCode == http.StatusTooManyRequests
	})
	refused.want(t, http.StatusTooManyRequests, "One moment, please")
	if refused.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", refused.Header.Get("Retry-After"))
	}
}

// TestTheWholePageIsSmall adds up what a browser loads for the largest page.
func TestTheWholePageIsSmall(t *testing.T) {
	t.Parallel()
	const most = 60 << 10
	s := openShop(t)
	page := s.get(t, path(s.session(t, premiumCampaign)))
	packed := s.get(t, path(tokenOf(page)), "Accept-Encoding", "gzip")
	if packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("the page is sent as %v", packed.Header)
	}
	total := len(packed.body)
	for _, file := range regexp.MustCompile(`(?:href|src)="(/pay/assets/[^"]+)"`).FindAllStringSubmatch(page.body, -1) {
		asset := s.get(t, file[1], "Accept-Encoding", "gzip")
		if asset.StatusCode != http.StatusOK || asset.Header.Get("Content-Encoding") != "gzip" ||
			asset.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d, %v", file[1], asset.StatusCode, asset.Header)
		}
		total += len(asset.body)
	}
	if total > most {
		t.Errorf("the page weighs %d bytes, at most %d", total, most)
	}
	t.Logf("the page weighs %d bytes", total)
	s.get(t, "/pay/assets/000000000000/page-ffd400-112233.css").want(t, http.StatusOK)
	if old := s.get(t, "/pay/assets/000000000000/page-ffd400-112233.css"); old.Header.Get("Cache-Control") != "no-cache" {
		t.Error("another version's file is kept for good")
	}
	s.get(t, "/pay/assets/000000000000/none.css").want(t, http.StatusNotFound)
}
