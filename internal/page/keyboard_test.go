package page_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sepad/internal/app/apptest"
)

// press types keys where the focus is, as a person without a mouse.
func (p *tab) press(keys string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// focused says what has the focus: its id, or the words that a screen reader
// would read.
func (p *tab) focused() string {
	p.t.Helper()
	return evaluate[string](p, `(document.activeElement.id || document.activeElement.getAttribute("aria-label") || document.activeElement.innerText).trim()`)
}

func TestInTheBrowser(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	for name, test := range map[string]func(*testing.T, *browser){
		"a payer without a mouse can pay":                           payByKeyboard,
		"a payer without scripts can pay, be refused and pay again": payWithoutScript,
		"a payer goes to the bank and back":                         goToTheBank,
		"a payer without scripts goes to the bank and back":         goToTheBankWithoutScript,
		"an IBAN is grouped and the caret stays":                    typeIBAN,
		"a pasted IBAN is cleaned":                                  pasteIBAN,
		"the browser checks as the server does":                     checkAlike,
		"the bank's name appears":                                   nameTheBank,
		"mistakes are announced and the first one has the focus":    announceMistakes,
		"the button is busy and a double click pays once":           clickTwice,
		"going back and reloading show the result":                  goBack,
		"two tabs pay once":                                         payInTwoTabs,
		"a payment that takes long shows its result by itself":      waitForResult,
		"a reload and a refusal keep what was typed":                keepTyping,
		"typing can be undone":                                      undoTyping,
		"the longest numbers can be seen on a narrow phone":         showEveryNumber,
		"nothing moves when the bank is named":                      keepStill,
		"no key in a field pays where the button is the consent":    pressEnter,
		"another language keeps what was typed":                     switchLanguage,
		"a test account is filled in by a click":                    clickTestIBAN,
		"an account abroad asks for the payer's address":            payFromAbroad,
		"a logo comes through us":                                   showLogo,
		"the first field is on a phone's first screen":              firstScreen,
		"every language fits a narrow phone":                        fitEveryLanguage,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, b)
		})
	}
}

func payByKeyboard(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	token := b.shop.session(t, premiumCampaign)
	p.visit(path(token))
	p.awaitStage("pay")
	var order []string
	for p.focusOn(&order) != "iban" {
		if len(order) > 10 {
			t.Fatalf("the first field is not reached: %v", order)
		}
	}
	p.press(apptest.Approved + kb.Tab)
	if p.focused() != "holder" {
		t.Fatalf("after the IBAN comes %s", p.focused())
	}
	p.press(kb.Tab)
	if p.focused() != "agree" {
		t.Fatalf("after the holder comes %s", p.focused())
	}
	p.press(" ") // ticks the box
	p.press(kb.Tab)
	p.press(kb.Enter) // opens the mandate
	p.await(`document.querySelector("details.full").open`)
	p.press(kb.Enter)
	p.do(chromedp.Focus(chromedp.ID("holder")))
	p.press(kb.Enter) // in a field, Enter pays
	p.awaitStage("paid")
	b.shop.WantLedger(t, token, 1, 1)
	if order[0] != "Skip to the payment" {
		t.Errorf("the first stop is %q", order[0])
	}
}

// focusOn goes one stop further and remembers it.
func (p *tab) focusOn(order *[]string) string {
	p.t.Helper()
	p.press(kb.Tab)
	*order = append(*order, p.focused())
	return (*order)[len(*order)-1]
}

func payWithoutScript(t *testing.T, b *browser) {
	p := b.open(t, phone.withoutScript())
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.awaitStage("pay")
	p.fillIn("DE89 3704")
	p.clickPay()
	p.await(`document.getElementById("iban-error").innerText.includes("8 characters")`)
	if got := evaluate[string](p, `document.getElementById("iban").value`); got != "DE89 3704" {
		t.Errorf("the field holds %q", got)
	}
	p.checkAccessible("mistake", everyRule)
	call(p, disableScripts, scriptless)
	p.screenshot("mistake")
	p.fillIn(apptest.DeclinedInsufficientFunds)
	p.clickPay()
	p.await(`document.body.innerText.includes("The payment was not accepted")`)
	p.fillIn(apptest.Approved)
	p.do(chromedp.Click(chromedp.ID("agree")))
	p.clickPay()
	p.awaitStage("paid")
	b.shop.WantLedger(t, token, 2, 1)
}

// fillIn puts an account into the form, and ticks the box where it is not.
func (p *tab) fillIn(iban string) {
	p.t.Helper()
	p.do(chromedp.Focus(chromedp.ID("iban")), chromedp.Evaluate[chromedp.Void](`document.getElementById("iban").select()`), chromedp.KeyEvent(iban))
	if box := evaluate[string](p, `(document.getElementById("agree")?.checked ?? "none") + ""`); box == "false" && !strings.Contains(p.text(), "was not accepted") {
		p.do(chromedp.Click(chromedp.ID("agree")))
	}
}

func (p *tab) clickPay() {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS("form button.main")))
}

func announceMistakes(t *testing.T, b *browser) {
	p := b.open(t, desktop)
	p.visit(path(b.shop.session(t, posterCampaign)))
	p.awaitStage("pay")
	p.clickPay()
	p.await(`document.activeElement.id === "iban"`)
	for id, sentence := range map[string]string{"iban-error": "Please enter your IBAN.", "agree-error": "Please tick the box"} {
		if got := evaluate[string](p, `document.getElementById("`+id+`").innerText + "|" + document.getElementById("`+id+`").getAttribute("role")`); !strings.HasPrefix(got, sentence) || !strings.HasSuffix(got, "|alert") {
			t.Errorf("%s says %q", id, got)
		}
	}
	if described := evaluate[string](p, `document.getElementById("iban").getAttribute("aria-describedby") + document.getElementById("iban").getAttribute("aria-invalid")`); described != "iban-error iban-hinttrue" {
		t.Errorf("the field is described by %q", described)
	}
	p.screenshot("mistakes")
	p.checkAccessible("mistakes", everyRule)
	p.press(apptest.Approved)
	p.await(`!document.getElementById("iban").hasAttribute("aria-invalid") && document.getElementById("iban-error").innerText === ""`)
}

func firstScreen(t *testing.T, b *browser) {
	for _, campaign := range []string{posterCampaign, premiumCampaign, trialCampaign, annualCampaign} {
		p := b.open(t, phone.in("de"))
		p.visit(path(b.shop.session(t, campaign)))
		p.awaitStage("pay")
		if bottom := evaluate[float64](p, `document.getElementById("iban").getBoundingClientRect().bottom`); bottom > float64(phone.height) {
			t.Errorf("the first field ends at %.0f pixels", bottom)
		}
	}
}

func fitEveryLanguage(t *testing.T, b *browser) {
	p := b.open(t, look{name: "narrow", width: 360, height: 640})
	page := path(b.shop.session(t, premiumCampaign))
	for _, code := range []string{"en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da", "fi", "cs", "sk", "sl", "hr", "ro"} {
		p.visit(page + "?lang=" + code)
		p.awaitStage("pay")
		p.checkFits(code)
	}
}
