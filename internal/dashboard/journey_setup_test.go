package dashboard_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
)

// signInAsDeveloper opens a tab in which an administrator of a sandbox is signed in.
func signInAsDeveloper(t *testing.T, s *apptest.Server) *tab {
	t.Helper()
	link, err := s.App.People.DeveloperLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := openTab(t, s)
	p.do(chromedp.Navigate(link.URL))
	p.awaitHead("Overview")
	return p
}

// open goes to a screen.
func (p *tab) open(path, head string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.s.URL + path))
	p.awaitHead(head)
}

// choose chooses a value of a field by its label.
func (p *tab) choose(id, label string) {
	p.t.Helper()
	if !evaluate[bool](p, `(() => {
		const field = document.getElementById("`+id+`");
		const option = [...field.options].find((o) => o.text === "`+label+`");
		if (option) { field.value = option.value; field.dispatchEvent(new Event("change", { bubbles: true })); }
		return !!option;
	})()`) {
		p.t.Fatalf("%s has no %s", id, label)
	}
}

// merchantsLogo is a merchant's own picture, at an address of this machine.
func merchantsLogo(t *testing.T) string {
	t.Helper()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 40" width="200" height="40">
			<path d="M2 36 20 8l10 16 6-8 12 20z" fill="#1f6f54"/><text x="58" y="28" font-family="sans-serif" font-size="22" font-weight="700" fill="#16372c">Bergladen</text></svg>`))
	}))
	t.Cleanup(host.Close)
	return host.URL + "/logo.svg"
}

func TestACampaignIsMadeAndPaidInTheBrowser(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, allowPrivate, func(t *testing.T, s *apptest.Server) {
		p := signInAsDeveloper(t, s)
		p.open("/dashboard/setup/", "Setup")
		p.picture("setup")
		p.checkAccessible("setup")
		p.open(shopSetup, "Bergladen")
		p.picture("setup-merchant")
		p.checkAccessible("setup-merchant")
		p.open(shopSetup+"hosted-pages/"+standardPage+"/", "Standard page")
		p.await(`document.querySelector("iframe").contentDocument?.body?.innerText.includes("Your order")`)
		p.await(`document.body.innerText.includes("There is no picture at this address")`) // nobody is asked from here
		evaluate[bool](p, `(() => { const field = document.getElementById("branding.logo_url"); field.focus(); field.select(); return true; })()`)
		p.do(chromedp.KeyEvent(merchantsLogo(t)))
		p.await(`[...document.querySelectorAll(".logos .plate img")].some((i) => i.naturalWidth > 0)`)
		p.await(`!document.body.innerText.includes("There is no picture at this address")`)
		evaluate[bool](p, `(() => { const field = document.getElementById("content.headline"); field.focus(); field.setSelectionRange(99, 99); return true; })()`)
		p.do(chromedp.KeyEvent(" of today"))
		p.await(`document.querySelector("iframe").contentDocument?.body?.innerText.includes("Your order of today")`) // as it would be saved
		p.await(`document.querySelector("iframe").contentDocument?.querySelector(".logo img")?.naturalWidth > 0`)
		evaluate[bool](p, `(() => { document.getElementById("branding.logo_url").value = "https://shop.example/logo.svg"; return true; })()`) // for who looks at the picture
		p.picture("setup-page")
		p.checkAccessible("setup-page")

		p.open(shopSetup+"campaigns/new/", "New campaign")
		p.fill("name", "Journey")
		p.choose("offer_id", "Premium monthly")
		p.choose("gateway_id", "Main account")
		p.choose("hosted_page_id", "Standard page")
		p.picture("setup-campaign")
		p.checkAccessible("setup-campaign")
		p.do(chromedp.Click(chromedp.CSS("form.record button")))
		p.awaitHead("Journey")
		campaign := strings.Split(evaluate[string](p, `location.pathname`), "/")[6]

		token := s.Create(t, apptest.InCampaign(campaign))
		p.do(chromedp.Navigate(s.URL + "/pay/" + token + "/"))
		p.await(`document.getElementById("iban")`)
		p.fill("iban", apptest.Approved)
		p.do(chromedp.Click(chromedp.ID("agree")), chromedp.Click(chromedp.CSS("button.main")))
		p.await(`document.body.dataset.stage === "paid"`) // until then the browser is on its way, and would not open another page
		apptest.Eventually(t, "the session is paid", func() bool {
			return s.Retrieve(t, token).Text(t, "status") == "COMPLETED"
		})
		p.open("/dashboard/sandbox/", "Sandbox")
		p.await(`document.body.innerText.includes("payment_session.completed")`)
		p.picture("sandbox")
		p.checkAccessible("sandbox")
	})
}

func TestAFileWithBadLinesIsTakenInInTheBrowser(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		file := filepath.Join(t.TempDir(), "report.csv")
		const lines = "merchant_transaction_id,adapter_unique_id,status,amount,currency,date_processed\r\n" +
			"TXN-20260101-AAAAAAAA,one,approved,10.00,EUR,2026-01-01T10:00:00Z\r\n" +
			"TXN-20260101-BBBBBBBB,two,approved,ten,EUR,2026-01-01T10:00:00Z\r\n"
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		p := signInAsDeveloper(t, s)
		p.open("/dashboard/imports/new/", "Take a file in")
		p.checkAccessible("take-in")
		p.choose("gateway_id", "Bergladen: Main account")
		p.do(chromedp.SetUploadFiles(chromedp.ID("file"), []string{file}), chromedp.Click(chromedp.CSS("form[data-upload] button")))
		p.await(`document.querySelector(".came h2")?.innerText === "Taken in"`)
		p.picture("taken-in")
		if text := p.text(); !strings.Contains(text, "TXN-20260101-BBBBBBBB") {
			t.Errorf("the rejected line is not shown:\n%s", text)
		}
		p.checkAccessible("taken-in")
	})
}

// saidBy is what the page after a form will say.
func saidBy(t *testing.T, answer apptest.Answer) string {
	t.Helper()
	given, err := http.ParseSetCookie(answer.Header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := base64.RawURLEncoding.DecodeString(given.Value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheSandboxCorner(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		d := desk{t, s, signedIn(t, s, store.Administrator)}
		pay := func(campaign, iban string, status int) apptest.Answer {
			return d.post("/dashboard/sandbox/pay/", url.Values{"campaign": {campaign}, "iban": {iban}}, status)
		}
		const monthly = "019d0000-0000-7000-8000-000000000052"
		paid := pay(monthly, apptest.Approved, http.StatusSeeOther)
		if at := paid.Header.Get("Location"); !strings.Contains(at, "transaction=") || !strings.Contains(saidBy(t, paid), "completed") {
			t.Errorf("it leads to %s and says %q", at, saidBy(t, paid))
		}
		if said := saidBy(t, pay(monthly, apptest.TimeoutApproved, http.StatusSeeOther)); !strings.Contains(said, "did not answer") {
			t.Errorf("it says %q", said)
		}
		pay(uuid.NewString(), apptest.Approved, http.StatusNotFound)
		pay("", apptest.Approved, http.StatusBadRequest)
		pay(monthly, "DE02120300000000202051", http.StatusBadRequest) // no test account
		before := s.Now(t)
		for by, least := range map[string]int{"day": 24, "week": 7 * 24, "month": 28 * 24} {
			d.post("/dashboard/sandbox/clock/", url.Values{"by": {by}}, http.StatusSeeOther)
			if after := s.Now(t); int(after.Sub(before).Hours()) < least {
				t.Errorf("a %s is %s", by, after.Sub(before))
			}
			before = s.Now(t)
		}
		d.post("/dashboard/sandbox/clock/", url.Values{"by": {"year"}}, http.StatusBadRequest)
		bound := desk{t, s, signedIn(t, s, store.Administrator, apptest.Shop)}
		bound.post("/dashboard/sandbox/pay/", url.Values{"campaign": {"019d0000-0000-7000-8000-000000000150"}, "iban": {apptest.Approved}}, http.StatusNotFound)
	})
}
