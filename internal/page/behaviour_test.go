package page_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/sepa"
)

var (
	disableScripts = emulation.SetScriptExecutionDisabled
	scriptless     = emulation.SetScriptExecutionDisabledParams{Value: true}
)

func goToTheBank(t *testing.T, b *browser) {
	p := b.open(t, phone)
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.fillIn(apptest.VerificationPage)
	p.clickPay()
	p.awaitStage("verify")
	p.await(`document.title.includes("Simulated bank")`) // the page goes there by itself
	p.do(chromedp.Click(chromedp.CSS("button[value=approve]")))
	p.awaitStage("paid") // and asks the bank by itself
	b.shop.WantLedger(t, token, 1, 1)
}

func goToTheBankWithoutScript(t *testing.T, b *browser) {
	p := b.open(t, phone.withoutScript())
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.fillIn(apptest.VerificationPage)
	p.clickPay()
	p.awaitStage("verify")
	p.do(chromedp.Click(chromedp.CSS("#verify button")))
	p.await(`document.body.innerText.includes("has not reported your decision yet")`)
	p.screenshot("verify-too-early")
	p.do(chromedp.Click(chromedp.ID("to-bank")))
	p.await(`document.title.includes("Simulated bank")`)
	p.do(chromedp.Click(chromedp.CSS("button[value=reject]")))
	p.awaitStage("verify")
	p.do(chromedp.Click(chromedp.CSS("#verify button")))
	p.await(`document.body.innerText.includes("The direct debit was not permitted.")`)
	b.shop.WantLedger(t, token, 1, 0)
}

// typeIBAN types, deletes and inserts; | is the caret in what is expected.
func typeIBAN(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	p.visit(path(b.shop.session(t, posterCampaign)))
	p.awaitStage("pay")
	p.do(chromedp.Focus(chromedp.ID("iban")))
	left := func(n int) string { return strings.Repeat(kb.ArrowLeft, n) }
	for _, step := range []struct{ keys, want string }{
		{"de8", "DE8|"},
		{"9", "DE89|"},
		{"3", "DE89 3|"},
		{"704", "DE89 3704|"},
		{"0044", "DE89 3704 0044|"},
		{kb.Backspace, "DE89 3704 004|"},
		{kb.Backspace + kb.Backspace + kb.Backspace, "DE89 3704|"},
		{"0044", "DE89 3704 0044|"},
		{left(9), "DE89 |3704 0044"},
		{kb.Backspace, "DE8|3 7040 044"}, // a space is no character of its own
		{"9", "DE89 |3704 0044"},
		{"1", "DE89 1|370 4004 4"},
		{kb.Backspace, "DE89| 3704 0044"},
		{kb.Delete, "DE89| 7040 044"},
		{"3", "DE89 3|704 0044"},
		{kb.End + " ", "DE89 3704 0044|"},
		{"-0532 0130 00", "DE89 3704 0044 0532 0130 00|"},
	} {
		p.press(step.keys)
		got := evaluate[string](p, `(() => { const f = document.getElementById("iban"); return f.value.slice(0, f.selectionStart) + "|" + f.value.slice(f.selectionEnd); })()`)
		if got != step.want {
			t.Errorf("after %q: %q, want %q", step.keys, got, step.want)
		}
	}
	if mode := evaluate[string](p, `document.getElementById("iban").inputMode`); mode != "numeric" {
		t.Errorf("the keyboard of a German IBAN is %q", mode)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("iban").select()`))
	p.press("FR")
	if mode := evaluate[string](p, `document.getElementById("iban").inputMode`); mode != "text" {
		t.Errorf("the keyboard of a French IBAN is %q", mode)
	}
}

func pasteIBAN(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	p.visit(path(b.shop.session(t, posterCampaign)))
	p.awaitStage("pay")
	for pasted, want := range map[string]string{
		"IBAN: de89 3704-0044 0532\u00a00130 00\n":     "DE89 3704 0044 0532 0130 00",
		"NL91ABNA0417164300":                           "NL91 ABNA 0417 1643 00",
		"DE89.3704.0044.0532.0130.00":                  "DE89 3704 0044 0532 0130 00",
		"DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX": "DE89 3704 0044 0532 0130 00",
	} {
		p.do(chromedp.Focus(chromedp.ID("iban")), chromedp.Evaluate[chromedp.Void](`(() => {
			const field = document.getElementById("iban"), data = new DataTransfer();
			field.select();
			data.setData("text", `+strconv.Quote(pasted)+`);
			field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
		})()`))
		if got := evaluate[string](p, `document.getElementById("iban").value`); got != want {
			t.Errorf("%q became %q", pasted, got)
		}
	}
}

// checkAlike tries accounts on the script and on the server: both must say the
// same sentence, or nothing.
func checkAlike(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.awaitStage("pay")
	samples := []string{
		"", "D", "DE", "12", "D1", "ZZ12", "DE8937040044053201300", "DE89370400440532013001", "DE8937040044053201300X",
		"NL911BNA0417164300", "DE00370400440532013000", "DE!", "ÄÖ", "BR1800360305000010009795493C1", "de89-3704 0044", "IBAN: DE89.3704", "DE89370400440532013000COBADEFF", "DE8937040044053201300012345678", "SC18SSCB11010000000000001497USD",
	}
	for _, test := range sandbox.TestIBANs() {
		samples = append(samples, test.IBAN)
	}
	for _, country := range sepa.Countries() {
		samples = append(samples, country.Code+"00"+strings.Repeat("0", country.Length-4), country.Code+"00"+strings.Repeat("A", country.Length-4))
	}
	form := b.shop.get(t, path(token)).form("")
	form.Set("iban_holder_name", "") // so that nothing is paid
	for _, sample := range samples {
		p.do(chromedp.Evaluate[chromedp.Void](`(() => {
			const field = document.getElementById("iban");
			field.value = ` + strconv.Quote(sample) + `;
			document.getElementById("pay").requestSubmit(document.querySelector("form button.main"));
		})()`))
		inBrowser := evaluate[string](p, `document.getElementById("iban-error").textContent`)
		form.Set("iban", sample)
		answer := b.shop.ask(t, http.MethodPost, path(token), form)
		if onServer := textOf(between(t, answer.body, `id="iban-error" role="alert">`, `</p>`)); onServer != inBrowser {
			t.Errorf("%q: the browser says %q, the server %q", sample, inBrowser, onServer)
		}
	}
}

func nameTheBank(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	p.visit(path(b.shop.session(t, posterCampaign)))
	p.fillIn(apptest.Approved)
	p.await(`document.getElementById("bank").innerText === "Commerzbank"`)
	p.screenshot("filled-in")
	p.checkAccessible("filled in", everyRule)
	const clipped = `document.getElementById("iban").scrollWidth > document.getElementById("iban").clientWidth`
	p.lookAs(phone) // as when a tablet is turned
	p.await(`!document.getElementById("bank").classList.contains("inside")`)
	if evaluate[bool](p, clipped) {
		t.Error("the number is clipped once the window is narrow")
	}
	p.lookAs(desktop)
	p.await(`document.getElementById("bank").classList.contains("inside")`)
	p.do(chromedp.Focus(chromedp.ID("iban")))
	p.press(kb.End + kb.Backspace)
	p.await(`document.getElementById("bank").innerText === ""`)
}

func clickTwice(t *testing.T, b *browser) {
	p := b.open(t, phone)
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.fillIn(apptest.Approved)
	// Both clicks come before the browser can leave the page.
	state := evaluate[string](p, `(() => {
		const button = document.querySelector("form button.main"), before = button.offsetWidth;
		button.click();
		button.click();
		return [button.offsetWidth === before, button.getAttribute("aria-busy"), button.innerText.trim()].join("|");
	})()`)
	if state != "true|true|Submitting…" {
		t.Errorf("the button is %s", state)
	}
	p.awaitStage("paid")
	b.shop.WantLedger(t, token, 1, 1)
}

func goBack(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.fillIn(apptest.Approved)
	p.clickPay()
	p.awaitStage("paid")
	p.do(chromedp.Evaluate[chromedp.Void](`location.reload()`))
	p.awaitStage("paid")
	p.visit(path(token) + "mandate/")
	p.awaitStage("mandate")
	p.do(chromedp.Evaluate[chromedp.Void](`history.go(-2)`))
	p.awaitStage("paid")
	b.shop.WantLedger(t, token, 1, 1)
}

func payInTwoTabs(t *testing.T, b *browser) {
	token := b.shop.session(t, posterCampaign)
	first, second := b.open(t, desktop), b.open(t, phone.withoutScript())
	for _, p := range []*tab{first, second} {
		p.visit(path(token))
		p.fillIn(apptest.Approved)
	}
	first.clickPay()
	first.awaitStage("paid")
	second.clickPay()
	second.awaitStage("paid")
	b.shop.WantLedger(t, token, 1, 1)
}

func waitForResult(t *testing.T, b *browser) {
	p := b.open(t, phone)
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.fillIn(apptest.TimeoutApproved)
	p.clickPay()
	p.awaitStage("processing")
	b.shop.LookUp(t)
	p.awaitStage("paid")
	b.shop.WantLedger(t, token, 1, 1)
}

// keepTyping reloads before paying and is refused: what was typed is there, and
// nothing in the browser says which account it was.
func keepTyping(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.awaitStage("pay")
	p.do(chromedp.Evaluate[chromedp.Void](`addEventListener("input", () => { window.lastInput = performance.now(); }, true)`))
	p.fillIn(apptest.DeclinedInsufficientFunds)
	p.await(`performance.getEntriesByType("resource").some((r) => r.name.endsWith("/draft/") && r.startTime >= window.lastInput && r.responseEnd > 0)`)
	p.do(chromedp.Evaluate[chromedp.Void](`location.reload()`))
	p.await(`window.lastInput === undefined`)
	holds := func(when string) {
		t.Helper()
		p.await(`document.getElementById("iban").value.replaceAll(" ", "") === "` + apptest.DeclinedInsufficientFunds + `"`)
		kept := evaluate[string](p, `JSON.stringify(sessionStorage) + JSON.stringify(localStorage) + document.cookie + location.href + history.state`)
		if strings.Contains(strings.ReplaceAll(kept, " ", ""), "0532013001") || strings.Contains(kept, "Quastenbrink") {
			t.Errorf("%s the browser keeps %s", when, kept)
		}
	}
	holds("after a reload")
	if !evaluate[bool](p, `document.getElementById("agree").checked`) {
		t.Error("the tick is lost")
	}
	p.clickPay()
	p.await(`document.activeElement.id === "notice" && document.body.innerText.includes("The payment was not accepted")`)
	holds("after a refusal")
	if named := evaluate[string](p, `document.getElementById("bank").textContent`); named != "" {
		t.Errorf("an account that was refused is confirmed: %s", named)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("iban").select()`), chromedp.Focus(chromedp.ID("iban")), chromedp.KeyEvent(apptest.Approved), chromedp.Click(chromedp.ID("agree")))
	p.clickPay()
	p.awaitStage("paid")
	if cookie := b.shop.draftOf(p, token); cookie != "" {
		t.Error("what was typed is kept after the payment")
	}
}

// draftOf is the draft that the browser would send, which scripts cannot see.
func (s *shop) draftOf(p *tab, token string) string {
	p.t.Helper()
	cookies, err := chromedp.Call(p.ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{s.URL + path(token)}})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, cookie := range cookies.Cookies {
		if cookie.Name == "sepad_draft" {
			return cookie.Value
		}
	}
	return ""
}

// undoTyping goes back step by step, as in any other field.
func undoTyping(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	p.visit(path(b.shop.session(t, posterCampaign)))
	p.awaitStage("pay")
	p.do(chromedp.Focus(chromedp.ID("iban")))
	p.press("DE893704")
	before := evaluate[string](p, `document.getElementById("iban").value`)
	p.press("x")
	p.do(chromedp.Evaluate[chromedp.Void](`document.execCommand("undo")`))
	if after := evaluate[string](p, `document.getElementById("iban").value`); before != "DE89 3704" || after != before {
		t.Errorf("%q became %q by undoing", before, after)
	}
}

// showEveryNumber types the longest numbers on a narrow phone.
func showEveryNumber(t *testing.T, b *browser) {
	narrow := look{name: "narrow", width: 375, height: 667}
	p := b.open(t, narrow)
	p.visit(path(b.shop.session(t, posterCampaign)))
	p.awaitStage("pay")
	for _, iban := range []string{"PL61109010140000071219812874", "FR1420041010050500013M02606", "MT84MALT011000012345MTLCAST001S"} {
		p.fillIn(iban)
		if beyond := evaluate[int](p, `(() => { const f = document.getElementById("iban"); return f.scrollWidth - f.clientWidth; })()`); beyond > 0 {
			t.Errorf("%s is cut by %d pixels", iban[:2], beyond)
		}
	}
	p.screenshot("longest-number")
}

// keepStill holds the form where it is while a bank's name comes and goes.
func keepStill(t *testing.T, b *browser) {
	for _, l := range []look{desktop, phone} {
		p := b.open(t, l)
		p.visit(path(b.shop.session(t, posterCampaign)))
		p.awaitStage("pay")
		place := func() float64 {
			return evaluate[float64](p, `document.getElementById("holder").getBoundingClientRect().top + scrollY`)
		}
		before := place()
		for iban, name := range map[string]string{apptest.Approved: "Commerzbank", "FR1420041010050500013M02606": "La Banque Postale", "AT611904300234573201": "Valid IBAN"} {
			p.fillIn(iban)
			p.await(`document.getElementById("bank").innerText === "` + name + `"`)
			if after := place(); after != before {
				t.Errorf("(%s) %s moves the form by %.0f pixels", l.name, name, after-before)
			}
		}
		p.screenshot("bank-named")
	}
}

// pressEnter goes from field to field; where the button is the consent, no key
// in a field pays.
func pressEnter(t *testing.T, b *browser) {
	for _, l := range []look{desktop, desktop.withoutScript()} {
		p := b.open(t, l)
		token := b.shop.session(t, trialCampaign)
		p.visit(path(token))
		p.awaitStage("pay")
		p.do(chromedp.Focus(chromedp.ID("iban")), chromedp.KeyEvent(apptest.Approved))
		// The page has got every key before the next one comes.
		p.await(`document.getElementById("iban").value.replaceAll(" ", "") === "` + apptest.Approved + `"`)
		p.press(kb.Enter)
		if !l.scriptless {
			p.await(`document.activeElement.id === "holder"`)
			p.press(kb.Enter)
		}
		p.await(`document.activeElement.matches("button.main")`)
		b.shop.WantLedger(t, token, 0, 0)
		p.press(kb.Enter)
		p.awaitStage("paid")
		b.shop.WantLedger(t, token, 1, 1)
	}
}

func switchLanguage(t *testing.T, b *browser) {
	for _, l := range []look{desktop, phone.withoutScript()} {
		p := b.open(t, l)
		p.visit(path(b.shop.session(t, posterCampaign)))
		p.fillIn("DE89 3704")
		p.do(chromedp.Click(chromedp.CSS(".languages summary")), chromedp.Click(chromedp.CSS(".languages button[value=de]")))
		p.await(`document.documentElement.lang === "de"`)
		if got := evaluate[string](p, `document.getElementById("iban").value + document.getElementById("agree").checked`); got != "DE89 3704true" {
			t.Errorf("(%s) the form holds %q", l.name, got)
		}
		p.do(chromedp.Click(chromedp.CSS(".languages summary")))
		p.screenshot("languages")
	}
}

func clickTestIBAN(t *testing.T, b *browser) {
	for _, l := range []look{desktop, phone.withoutScript()} {
		p := b.open(t, l)
		p.visit(path(b.shop.session(t, posterCampaign)))
		p.do(chromedp.Click(chromedp.CSS(".strip summary")))
		p.screenshot("test-ibans")
		p.checkAccessible("test IBANs", everyRule)
		if l.scriptless {
			call(p, disableScripts, scriptless)
		}
		p.do(chromedp.Click(chromedp.CSS(`button[value="` + apptest.VerificationPage + `"]`)))
		p.await(`document.getElementById("iban").value.replaceAll(" ", "") === "` + apptest.VerificationPage + `"`)
	}
}

func showLogo(t *testing.T, b *browser) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 120, 40))); err != nil {
		t.Fatal(err)
	}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/logo.png" {
			http.Error(w, "<script>", http.StatusOK)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(picture.Bytes())
	}))
	t.Cleanup(host.Close)
	pageWith := func(id, logo string) string {
		b.shop.Apply(t, fmt.Sprintf(`tenants: [{id: %s, name: Bergladen, creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999},
			hosted_pages: [{id: %s, name: Logo, branding: {logo_url: "%s"}}]}]`, apptest.Shop, id, host.URL+logo))
		return path(b.shop.Create(t, apptest.InCampaign(posterCampaign).With(apptest.Body{"hosted_page_id": id})))
	}
	p := b.open(t, desktop)
	p.visit(pageWith("019d0000-0000-7000-8000-000000000234", "/logo.png"))
	p.await(`document.querySelector(".logo img").naturalWidth === 120`)
	p.visit(pageWith("019d0000-0000-7000-8000-000000000235", "/no-picture"))
	p.await(`!document.querySelector("img") && document.querySelector(".shop").innerText.trim() === "Bergladen"`)
	if elsewhere := p.requestsElsewhere(); len(elsewhere) > 0 {
		t.Errorf("the browser asked %v", elsewhere)
	}
}
