package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
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
		for _, path := range []string{"/dashboard/people/", shopSetup} {
			d.wants(d.get(path, http.StatusOK), "sign out and in again")
		}
		d.post(person+"remove/", nil, http.StatusSeeOther) // whoever must go goes at once
	})
}
