package page_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
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
	p.do(chromedp.Click(chromedp.ID("to-bank")))
	p.await(`document.title.includes("Simulated bank")`)
	p.do(chromedp.Click(chromedp.CSS("button[value=approve]")))
	p.awaitStage("paid") // the page asks the bank by itself
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
		"IBAN: de89 3704-0044 0532\u00a00130 00\n": "DE89 3704 0044 0532 0130 00",
		"NL91ABNA0417164300":                       "NL91 ABNA 0417 1643 00",
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
		"NL911BNA0417164300", "DE00370400440532013000", "DE!", "ÄÖ", "BR1800360305000010009795493C1", "de89-3704 0044", "SC18SSCB11010000000000001497USD",
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
	p.checkAccessible("filled in")
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

func keepDraft(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.fillIn(apptest.DeclinedInsufficientFunds)
	p.clickPay()
	p.await(`document.activeElement.id === "notice" && document.body.innerText.includes("The payment was not accepted")`)
	if got := evaluate[string](p, `document.getElementById("iban").value`); strings.ReplaceAll(got, " ", "") != apptest.DeclinedInsufficientFunds {
		t.Errorf("the field holds %q", got)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("iban").select()`), chromedp.Focus(chromedp.ID("iban")), chromedp.KeyEvent(apptest.Approved), chromedp.Click(chromedp.ID("agree")))
	p.clickPay()
	p.awaitStage("paid")
	if kept := evaluate[int](p, `sessionStorage.length`); kept != 0 {
		t.Errorf("%d things are kept after the payment", kept)
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
		p.checkAccessible("test IBANs")
		if l.scriptless {
			call(p, disableScripts, scriptless)
		}
		p.do(chromedp.Click(chromedp.CSS(`button[value="` + apptest.VerificationPage + `"]`)))
		p.await(`document.getElementById("iban").value.replaceAll(" ", "") === "` + apptest.VerificationPage + `"`)
	}
}

func leaveOrStay(t *testing.T, b *browser) {
	token := b.shop.session(t, posterCampaign)
	b.shop.submit(t, token, apptest.Approved).wantBack(t, token)
	want := "https://shop.example/thanks?order=7&lang=de&session_token=" + token
	stays := b.open(t, desktop)
	stays.visit(path(token))
	stays.screenshot("leaving")
	stays.do(chromedp.Click(chromedp.ID("stay")))
	for _, l := range []look{desktop, desktop.withoutScript()} {
		p := b.open(t, l)
		p.visit(path(token))
		apptest.Eventually(t, "the shop is asked for", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return slices.ContainsFunc(p.requests, func(address string) bool { return strings.HasPrefix(address, want) })
		})
	}
	stays.await(`performance.now() > 7000 && document.body.dataset.stage === "paid"`)
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
	p.await(`document.querySelector("img.logo").naturalWidth === 120`)
	p.visit(pageWith("019d0000-0000-7000-8000-000000000235", "/no-picture"))
	p.await(`document.querySelector("img.logo").alt === "Bergladen" && document.querySelector("img.logo").naturalWidth === 0`)
	if elsewhere := p.requestsElsewhere(); len(elsewhere) > 0 {
		t.Errorf("the browser asked %v", elsewhere)
	}
}
