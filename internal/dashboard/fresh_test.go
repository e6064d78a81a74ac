package dashboard_test

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/store"
)

// ahead shows a later time than it is.
type ahead time.Duration

func (a ahead) Now() time.Time { return clock.Real{}.Now().Add(time.Duration(a)) }

// TestABrowserThatWasLeftOpenLetsNobodyIn comes upon an administrator's, whose session ends soon: what is made in it does not.
func TestABrowserThatWasLeftOpenLetsNobodyIn(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, allowPrivate, func(t *testing.T, s *apptest.Server) {
		d := desk{t, s, signedIn(t, s, store.Administrator)}
		other, _, err := s.App.People.Add(t.Context(), "grace@counter.example", store.Viewer, store.TenantSet{All: true})
		if err != nil {
			t.Fatal(err)
		}
		page := string(d.post(shopSetup+"webhook-profiles/", url.Values{"name": {"Hooks"}, "url": {"http://127.0.0.1:9/"}, "payload": {"contract"}}, http.StatusOK).Raw)
		profile := regexp.MustCompile(`action="([^"]+/webhook-profiles/[^"]+/)try/"`).FindStringSubmatch(page)[1]
		person := "/dashboard/people/" + other.ID.String() + "/"
		const anHour = ahead(time.Hour)
		s.App.People.Environment, s.App.People.Clock = merchant.Production, anHour

		way := regexp.MustCompile(`ticket=|rk_test_\w{20}|whsec_`)
		for path, form := range map[string]url.Values{
			"/dashboard/people/":    {"email": {"mallory@counter.example"}, "role": {"admin"}},
			person + "reset/":       {},
			person + "role/":        {"role": {"admin"}},
			shopSetup + "api-keys/": {"name": {"of my own"}, "scopes": {"refunds"}},
			profile + "rotate/":     {"version": {d.version(profile)}},
		} {
			refused := string(d.post(path, form, http.StatusConflict).Raw)
			if d.wants(refused, "more than a quarter of an hour ago"); way.MatchString(refused) {
				t.Errorf("%s is answered %s", path, refused)
			}
		}
		for path, typed := range map[string]url.Values{ // what was typed outlives the sign-in that is asked for
			"/dashboard/people/":         {"email": {"eve@counter.example"}, "role": {"finance"}, "tenant": {apptest.Shop}},
			shopSetup + "api-keys/":      {"name": {"of the till"}, "scopes": {"refunds"}},
			"/dashboard/account/tokens/": {"name": {"of the night"}, "days": {"17"}},
		} {
			shown := string(d.post(path, typed, http.StatusConflict).Raw)
			for name, values := range typed {
				is := regexp.MustCompile(`(value="` + values[0] + `"|<option selected>` + values[0] + `)( checked)?`).FindStringSubmatch(shown)
				if is == nil || (name == "scopes" || name == "tenant") && is[2] == "" {
					t.Errorf("%s: the %s is lost", path, name)
				}
			}
		}
		for _, path := range []string{"/dashboard/people/", shopSetup} {
			d.wants(d.get(path, http.StatusOK), "sign out and in again")
		}
		d.post(person+"remove/", nil, http.StatusSeeOther) // whoever must go goes at once
	})
}

// TestABrowserThatWasLeftOpenSpeaksInNobodysName: whoever comes upon it does not write to payers as the merchant, nor read what
// they answer.
func TestABrowserThatWasLeftOpenSpeaksInNobodysName(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, allowPrivate, func(t *testing.T, s *apptest.Server) {
		d := desk{t, s, signedIn(t, s, store.Administrator)}
		form := func(sender, replyTo, name string) url.Values {
			return url.Values{"name": {name}, "notices.sender": {sender}, "notices.reply_to": {replyTo}, "version": {d.version(shopSetup)}}
		}
		d.post(shopSetup, form("shop@shop.example", "help@shop.example", "Shop"), http.StatusSeeOther)
		const anHour = ahead(time.Hour)
		s.App.People.Environment, s.App.People.Clock = merchant.Production, anHour
		for _, changed := range []url.Values{
			form("mallory@shop.example", "help@shop.example", "Shop"), form("shop@shop.example", "mallory@elsewhere.example", "Shop"), form("", "", "Shop"),
		} {
			d.wants(string(d.post(shopSetup, changed, http.StatusConflict).Raw), "more than a quarter of an hour ago")
		}
		d.wants(d.get(shopSetup, http.StatusOK), "in whose name payers get mails", `value="shop@shop.example"`, `value="help@shop.example"`)
		d.post(shopSetup, form("shop@shop.example", "help@shop.example", "Another name"), http.StatusSeeOther)
	})
}

// TestABrowserThatWasLeftOpenTurnsNothingAway comes upon an administrator's again: an account, a receiver and a way on that are
// changed in it stay changed.
func TestABrowserThatWasLeftOpenTurnsNothingAway(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, allowPrivate, func(t *testing.T, s *apptest.Server) {
		d := desk{t, s, signedIn(t, s, store.Administrator)}
		hooks := url.Values{"name": {"Hooks"}, "url": {"http://127.0.0.1:9/"}, "payload": {"contract"}}
		made := string(d.post(shopSetup+"webhook-profiles/", hooks, http.StatusOK).Raw)
		profile := regexp.MustCompile(`action="([^"]+/webhook-profiles/[^"]+/)try/"`).FindStringSubmatch(made)[1]
		account := url.Values{"name": {"House bank"}, "adapter": {"bank"}, "test_mode": {"true"}, "settings.account_iban": {"DE89370400440532013000"}, "settings.folder": {t.TempDir()}}
		bank := d.made(shopSetup+"gateways/", account)
		way := url.Values{"name": {"Page"}, "branding.primary_color": {"#123456"}, "branding.accent_color": {"#654321"}, "links.other_payment": {"https://shop.example/card"}, "content.help_url": {"https://shop.example/help"},
			"branding.logo_url": {"https://shop.example/logo.svg"}, "content.headline": {"Pay the shop"}}
		page := d.made(shopSetup+"hosted-pages/", way)
		const anHour = ahead(time.Hour)
		s.App.People.Environment, s.App.People.Clock = merchant.Production, anHour

		with := func(form url.Values, version, name, value string) url.Values {
			form = maps.Clone(form)
			form.Set(name, value)
			form.Set("version", version)
			return form
		}
		for path, form := range map[string]url.Values{
			profile:                         with(hooks, d.version(profile), "url", "http://127.0.0.1:10/"),
			bank:                            with(account, d.version(bank), "settings.account_iban", "FR1420041010050500013M02606"),
			page:                            with(way, d.version(page), "links.other_payment", "https://mallory.example/card"),
			page + "?":                      with(way, d.version(page), "content.help_url", "https://mallory.example/help"),
			page + "?logo":                  with(way, d.version(page), "branding.logo_url", "https://mallory.example/logo.svg"),
			page + "?dark":                  with(way, d.version(page), "branding.logo_dark_url", "https://mallory.example/logo.svg"),
			page + "?words":                 with(way, d.version(page), "content.headline", "Pay elsewhere"),
			shopSetup + "webhook-profiles/": with(hooks, "0", "name", "Mine"),
			shopSetup + "gateways/":         with(account, "0", "name", "Mine"),
		} {
			refused := string(d.post(path, form, http.StatusConflict).Raw)
			if d.wants(refused, "more than a quarter of an hour ago", html.EscapeString(form.Get("name"))); strings.Contains(refused, "whsec_") {
				t.Errorf("%s is answered %s", path, refused)
			}
		}
		file := d.get(shopSetup+"export/", http.StatusOK)
		if d.wants(file, "http://127.0.0.1:9/", "DE89370400440532013000", "https://shop.example/card", "https://shop.example/help", "https://shop.example/logo.svg", "Pay the shop"); strings.Contains(file, "Mine") {
			t.Errorf("there is more than was:\n%s", file)
		}
		for path, form := range map[string]url.Values{profile: hooks, bank: account, page: way} {
			d.wants(d.get(path, http.StatusOK), "sign out and in again")
			d.post(path, with(form, d.version(path), "name", "Another name"), http.StatusSeeOther) // which leads nowhere else
			d.post(path+"off/", nil, http.StatusSeeOther)
		}
	})
}
