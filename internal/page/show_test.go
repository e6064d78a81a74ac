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
)

func TestThePageSaysWhatIsBought(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	now := s.Now(t)
	nextMonth := payment.Monthly.PeriodStart(payment.DateOf(now), 1).Start()
	trialEnd := now.AddDate(0, 0, 14)
	for campaign, texts := range map[string][]string{
		posterCampaign: {
			"Bergladen", "Your order", "Poster", "€19.90", "One payment", "50 × 70 cm", "Pay €19.90 by direct debit",
			"I allow Bergladen GmbH to collect this payment", "DE98ZZZ09999999999", "Hangweg 1, 83471 Berchtesgaden, DE", "One-off",
			"Collected by Bergladen GmbH", "within eight weeks", "Help from Bergladen",
		},
		premiumCampaign: {"Premium", "€29.99", "then €29.99 every month, next on " + nextMonth.Format("2 January 2006"), "Recurrent", "and the following ones"},
		trialCampaign: {
			"Due today", "€1.00 14 days", "From " + trialEnd.Format("2 January 2006"), "€29.99 every month",
			"Start the trial for €1.00", "With the button below you allow Bergladen GmbH",
		},
		freeCampaign:   {"€0.00", "Free for 2 weeks", "Start the free trial", "Our counsel wrote this.", "You may collect, Bergladen GmbH, under MND-"},
		annualCampaign: {"Hut pass", "Sleep anywhere.", "Best value", "€1,234.50", "every year"},
		openCampaign:   {"Donations", "€10.00", "Later payments as agreed with Bergladen"},
	} {
		s.get(t, path(s.session(t, campaign))).want(t, http.StatusOK, texts...)
	}
	t.Run("what the merchant does not want shown is not", func(t *testing.T) {
		t.Parallel()
		s.get(t, path(s.session(t, bareCampaign))).want(t, http.StatusOK, "Pay €19.90 by direct debit").
			without(t, "50 × 70", "One payment", "Poster")
	})
	t.Run("a session without a page has one all the same", func(t *testing.T) {
		t.Parallel()
		s.get(t, path(s.Create(t, apptest.Direct()))).want(t, http.StatusOK, "Bergladen", "€49.00", "Pay €49.00 by direct debit")
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
		"declined":        {"The payment was not accepted", "does not cover this payment", "Account ending in 3001", "You can try 2 more times."},
		"processing":      {"Your payment is being processed", "do not pay again", "takes longer than usual"},
		"verify":          {"Confirm the payment with your bank", "Continue to your bank", "I have confirmed it"},
		"paid":            {"your payment is complete", "€29.99 is collected from your account ending in 3000", "BERGLADEN", "Next payment", "ORD-", "Continue to Bergladen", "Print or save the mandate"},
		"paid-free-trial": {"your trial has begun", "Nothing is collected today"},
		"pending":         {"your payment is accepted", "€29.99 will be debited", "Expected debit", "BERGLADEN"},
		"failed":          {"The payment did not succeed", "Nothing has been collected"},
		"refunded":        {"This payment was refunded"},
		"returned":        {"Your bank has returned this payment"},
		"expired":         {"This payment link has expired", "can send you a new link", "Back to Bergladen"},
		"cancelled":       {"This payment was cancelled", "Bergladen has withdrawn it"},
		"unknown":         {"This link leads to no payment"},
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
			collects := one.stage != "" && !slices.Contains([]string{"failed", "refunded", "returned", "expired", "cancelled"}, one.stage)
			if strings.Contains(page.text, "Collected by") != collects {
				t.Errorf("%s: who collects is named wrongly", one.name)
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
	for _, markup := range []string{"<script>alert", "<img", "<b>", "<i>", "javascript:"} {
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

func TestRedirects(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	success := paid(t, s, premiumCampaign, apptest.Approved)
	token := strings.Trim(strings.TrimPrefix(success, "/pay/"), "/")
	target := "https://shop.example/thanks?order=7&amp;lang=de&amp;session_token=" + token + "#top"
	page := s.get(t, success)
	for _, wanted := range []string{
		`<noscript><meta http-equiv="refresh" content="6; url=` + target + `"></noscript>`, `href="` + target + `"`, `data-leave="6"`, `href="?stay"`,
	} {
		if !strings.Contains(page.body, wanted) {
			t.Errorf("%s is missing", wanted)
		}
	}
	page.want(t, http.StatusOK, "You are taken back to Bergladen in a few seconds.")
	if stays := s.get(t, success+"?stay"); strings.Contains(stays.body, "http-equiv") || strings.Contains(stays.body, "data-leave") {
		t.Error("who stays is led away")
	}
	failure := s.get(t, paid(t, s, posterCampaign, apptest.DeclinedFinal))
	if wanted := `content="6; url=https://shop.example/sorry?session_token=ps_`; !strings.Contains(failure.body, wanted) {
		t.Errorf("%s is missing in %s", wanted, failure.body)
	}
	for _, name := range []string{"expired", "cancelled"} {
		for _, one := range stages {
			if one.name == name {
				if page := s.get(t, one.make(t, s)); strings.Contains(page.body, "http-equiv") || !strings.Contains(page.body, "https://shop.example/sorry?session_token=") {
					t.Errorf("%s leads away by itself, or offers no way back", name)
				}
			}
		}
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	page := path(s.session(t, premiumCampaign))
	for code, button := range map[string]string{
		"en": "Pay €29.99 by direct debit", "de": "29,99\u00a0€ per Lastschrift zahlen", "fr": "Payer 29,99\u00a0€ par prélèvement",
		"es": "Pagar 29,99\u00a0€ por domiciliación", "it": "Paga 29,99\u00a0€ con addebito diretto", "nl": "€\u00a029,99 betalen via incasso",
		"pt": "Pagar 29,99\u00a0€ por débito direto", "pl": "Zapłać 29,99\u00a0€ poleceniem zapłaty",
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
		s.get(t, page, "Cookie", "sepad_language=de", "Accept-Language", "fr").want(t, http.StatusOK, "Per Lastschrift bezahlen")
		s.get(t, page, "Cookie", "sepad_language=xx", "Accept-Language", "fr").want(t, http.StatusOK, "Payer par prélèvement")
		s.get(t, page+"?lang=xx", "Accept-Language", "it").want(t, http.StatusOK, "Pagare con addebito diretto")
	})
	t.Run("another language loses nothing that was typed", func(t *testing.T) {
		t.Parallel()
		form := s.get(t, page).form("DE89 3704")
		form.Set("language", "de")
		form.Set("iban_holder_name", "Somebody Else")
		answer := s.ask(t, http.MethodPost, page, form).want(t, http.StatusOK, "Per Lastschrift bezahlen").without(t, "Bitte prüfen Sie")
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
	total := len(page.body) // as it is sent: not compressed
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
	s.get(t, "/pay/assets/000000000000/page.css").want(t, http.StatusOK)
	if old := s.get(t, "/pay/assets/000000000000/page.css"); old.Header.Get("Cache-Control") != "no-cache" {
		t.Error("another version's file is kept for good")
	}
	s.get(t, "/pay/assets/000000000000/none.css").want(t, http.StatusNotFound)
}
