package dashboard_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sepad/internal/app/apptest"
	"sepad/internal/merchant"
	"sepad/internal/people"
)

// TestWhatWasTypedOutlivesTheSignIn asks for a fresh sign-in in the middle of a form: what was typed stays there, and goes through
// once this browser has signed in anew, in another tab. A sign-in at another browser does not count.
func TestWhatWasTypedOutlivesTheSignIn(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, allowPrivate, func(t *testing.T, s *apptest.Server) {
		p := signInAsDeveloper(t, s)
		link := func() people.Link {
			t.Helper()
			made, err := s.App.People.DeveloperLink(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		save := chromedp.Click(chromedp.CSS("form.record button:not([type])"))
		p.open(shopSetup+"webhook-profiles/new/", "New webhook profile")
		p.fill("name", "Hooks of the shop")
		p.fill("url", "http://127.0.0.1:9/hooks")
		s.App.People.Environment, s.App.People.Clock = merchant.Production, ahead(20*time.Minute)
		refused := func(when string) {
			t.Helper()
			p.do(chromedp.Evaluate[chromedp.Void](`window.isBefore = true`), save)
			p.await(`!window.isBefore && document.querySelector("form.record")?.innerText.includes("more than a quarter of an hour ago")`)
			for id, want := range map[string]string{"name": "Hooks of the shop", "url": "http://127.0.0.1:9/hooks"} {
				if got := evaluate[string](p, `document.getElementById("`+id+`").value`); got != want {
					t.Errorf("%s: the %s is %q", when, id, got)
				}
			}
		}
		refused("after twenty minutes")
		s.App.People.Environment = merchant.Sandbox // where links sign in
		if _, err := s.App.People.SignInByLink(t.Context(), ticketOf(t, link()), "192.0.2.9"); err != nil {
			t.Fatal(err)
		}
		s.App.People.Environment = merchant.Production
		refused("after a sign-in elsewhere")
		s.App.People.Environment = merchant.Sandbox
		address, err := json.Marshal(link().URL)
		if err != nil {
			t.Fatal(err)
		}
		if !evaluate[bool](p, `fetch(`+string(address)+`).then((r) => r.ok && r.redirected)`) {
			t.Fatal("nobody signs in")
		}
		s.App.People.Environment = merchant.Production
		p.do(save)
		p.awaitHead("Hooks of the shop")
		p.await(`document.body.innerText.includes("whsec_")`)
	})
}
