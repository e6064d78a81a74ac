package page_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
)

// swiss is the registry's example of an account outside the European Economic Area.
const swiss = "CH9300762011623852957"

const addressHint = "For accounts in this country the banks ask for the account holder’s address."

func (s *shop) wantLead(t *testing.T, want string) {
	t.Helper()
	if got := scalar[string](t, s, `SELECT address || '|' || city FROM leads`); got != want {
		t.Errorf("the lead lives at %q, want %q", got, want)
	}
}

// asksAddress tells whether a page shows the fields of the address.
func (a answer) asksAddress() bool {
	_, block, found := strings.Cut(a.body, `<div id="address"`)
	tag, _, _ := strings.Cut(block, ">")
	return found && !strings.HasSuffix(tag, " hidden")
}

func TestAnAccountAbroadAsksForTheAddress(t *testing.T) {
	t.Parallel()
	eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
		token := s.session(t, premiumCampaign)
		page := s.get(t, path(token))
		if page.asksAddress() {
			t.Error("the address is asked for before an account is known")
		}
		form := page.form("ch93 0076-2011 6238 5295 7")
		for _, lines := range [][2]string{{"", ""}, {"Gasse 1", ""}, {"", "Bern"}, {"\u200b", "Bern"}, {"Gasse \u202e1", "Bern"}, {"Gasse 1", strings.Repeat("x", 256)}} {
			form.Set("address", lines[0])
			form.Set("city", lines[1])
			asked := s.ask(t, http.MethodPost, path(token), form).want(t, http.StatusUnprocessableEntity, addressHint, "Street and number", "Please enter the account holder’s address.")
			if !asked.asksAddress() || !strings.Contains(asked.body, `aria-invalid="true"`) {
				t.Errorf("%q: the fields are not shown, or not as wrong", lines)
			}
		}
		s.WantLedger(t, token, 0, 0)
		s.wantLead(t, "|")

		form.Set("address", " Gasse 1 ")
		form.Set("city", "Bern")
		s.ask(t, http.MethodPost, path(token), form).wantBack(t, token)
		s.WantStatus(t, token, "COMPLETED")
		s.WantLedger(t, token, 1, 1)
		s.wantLead(t, "Gasse 1|Bern")
	})
}

func TestAKnownAddressIsNotAskedFor(t *testing.T) {
	t.Parallel()
	eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
		known := apptest.Lead().With(apptest.Body{"address": "Weg 2", "city": "Genf"})
		token := s.Create(t, apptest.InCampaign(posterCampaign).With(apptest.Body{"lead": known}))
		form := s.get(t, path(token)).without(t, addressHint).form(swiss)
		form.Set("address", "Gasse 1")
		form.Set("city", "Bern")
		s.ask(t, http.MethodPost, path(token), form).wantBack(t, token)
		s.WantStatus(t, token, "COMPLETED")
		s.wantLead(t, "Weg 2|Genf")
	})
}

// TestAnAddressCanBeCorrected follows a payer whose bank refused: the address
// that came from this browser may be changed, one from the shop may not.
func TestAnAddressCanBeCorrected(t *testing.T) {
	t.Parallel()
	eachShop(t, apptest.Options{}, func(t *testing.T, s *shop) {
		token := s.session(t, posterCampaign)
		form := s.get(t, path(token)).form(swiss)
		form.Set("address", "Gase 1")
		form.Set("city", "Bern")
		first := s.ask(t, http.MethodPost, path(token), form)
		first.wantBack(t, token)
		cookie := strings.Split(first.Header.Get("Set-Cookie"), ";")[0]
		// No test account abroad is refused: this one is made to be.
		s.Env.Exec(t, `UPDATE transactions SET status = 'declined', decline_code = 'do_not_honor' WHERE session_id = (SELECT id FROM sessions WHERE token = $1)`, store.TokenKey(token))
		s.Env.Exec(t, `UPDATE orders SET status = 'FAILED' WHERE session_id = (SELECT id FROM sessions WHERE token = $1)`, store.TokenKey(token))
		s.Env.Exec(t, `UPDATE sessions SET status = 'PENDING' WHERE token = $1`, store.TokenKey(token))
		s.Env.Exec(t, `UPDATE events SET event_key = event_key || ' undone'`)

		if s.get(t, path(token)).want(t, http.StatusOK, "gave no reason").asksAddress() {
			t.Error("whoever else has the link is shown the address")
		}
		again := s.get(t, path(token), "Cookie", cookie)
		if !again.asksAddress() || !strings.Contains(again.body, `value="Gase 1"`) {
			t.Error("the payer is not asked for the address again")
		}
		kept := s.ask(t, http.MethodPost, path(token)+"draft/", form, "Cookie", cookie)
		cookie = strings.Split(kept.Header.Get("Set-Cookie"), ";")[0]
		form = again.form(swiss)
		form.Set("address", "Gasse 1")
		form.Set("city", "Bern")
		s.ask(t, http.MethodPost, path(token), form, "Cookie", cookie).wantBack(t, token)
		s.WantStatus(t, token, "COMPLETED")
		s.wantLead(t, "Gasse 1|Bern")
	})
}

func TestAnAddressThatNobodyAskedForIsNotKept(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	token := s.session(t, posterCampaign)
	form := s.get(t, path(token)).form(apptest.Approved)
	form.Set("address", "Gasse 1")
	form.Set("city", "Bern")
	s.ask(t, http.MethodPost, path(token), form).wantBack(t, token)
	s.WantStatus(t, token, "COMPLETED")
	s.wantLead(t, "|")
}

func payFromAbroad(t *testing.T, b *browser) {
	p := b.open(t, phone)
	token := b.shop.session(t, posterCampaign)
	p.visit(path(token))
	p.awaitStage("pay")
	p.fillIn("DE")
	if slices.Contains(p.tree(), spoken{"textbox", "Town"}) {
		t.Error("an account in Germany needs no address")
	}
	p.fillIn(swiss)
	p.await(`!document.getElementById("address").hidden`)
	for _, want := range []spoken{{"textbox", "Street and number"}, {"textbox", "Town"}} {
		if nodes := p.tree(); !slices.Contains(nodes, want) {
			t.Errorf("%v is missing in %v", want, nodes)
		}
	}
	p.checkNames("the address")
	p.clickPay()
	p.await(`document.activeElement.id === "street" && document.getElementById("town-error").innerText.startsWith("Please enter")`)
	p.screenshot("address")
	p.do(chromedp.KeyEvent("Gasse 1"+kb.Enter), chromedp.KeyEvent("Bern"+kb.Enter))
	p.awaitStage("paid")
	b.shop.WantLedger(t, token, 1, 1)
}
