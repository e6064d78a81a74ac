package admin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
)

// story reads a timeline: the kinds and the texts of its entries, in order.
func story(t *testing.T, s *apptest.Server, path string) (kinds []string, all string) {
	t.Helper()
	answer := s.Do(t, operator(path+"timeline/", nil)).Want(t, http.StatusOK, nil)
	previous := ""
	for _, one := range answer.Get(t, "entries").([]any) {
		entry := one.(map[string]any)
		kinds = append(kinds, entry["kind"].(string))
		all += entry["text"].(string) + "\n"
		if at := entry["at"].(string); at < previous && entry["kind"] != "delivery" {
			t.Errorf("%v stands behind what happened at %s", entry, previous)
		} else if entry["kind"] != "delivery" {
			previous = at
		}
		if object := entry["object"].(map[string]any); object["type"] == "" || object["id"] == "" {
			t.Errorf("%v is about nothing", entry)
		}
	}
	return kinds, all
}

// told is what a timeline has to have: kinds of entries, and texts.
type told struct{ kinds, texts []string }

// wantTold expects timelines to tell what happened.
func wantTold(t *testing.T, s *apptest.Server, stories map[string]told) {
	t.Helper()
	for path, want := range stories {
		kinds, all := story(t, s, path)
		for _, kind := range want.kinds {
			if !slices.Contains(kinds, kind) {
				t.Errorf("%s has no %s:\n%s", path, kind, all)
			}
		}
		for _, text := range want.texts {
			if !strings.Contains(all, text) {
				t.Errorf("%s does not tell %q:\n%s", path, text, all)
			}
		}
	}
}

func TestATimelineTellsWhatHappened(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		m := openMarket(t, s)
		s.Do(t, operator(transactions+m.sale+"/refunds/", apptest.Body{"amount": "5.00"})).Want(t, http.StatusCreated, nil)
		wantTold(t, s, map[string]told{
			transactions + m.sale + "/": {
				[]string{"request", "attempt", "gateway", "event", "action"},
				[]string{"A session was made", "Attempt 1: 49.00 EUR from the account ending in", "The gateway approved.", "transaction.created", "A refund was asked for.", "A refund of 5.00 EUR"},
			},
			transactions + m.declined + "/": {[]string{"attempt", "gateway"}, []string{"The gateway declined: insufficient_funds"}},
			sessions + m.monthly + "/":      {[]string{"request", "state", "bank"}, []string{"The session is COMPLETED.", "Charged back", "MD06"}},
			subscriptions + m.subscription + "/": {
				[]string{"attempt", "gateway", "state", "bank", "event"},
				[]string{"The subscription began", "Charged back", "The payment was approved and is charged_back.", "The subscription was cancelled"},
			},
			chargebacks + m.chargeback + "/": {[]string{"attempt", "bank", "action"}, []string{"The gateway approved.", "Charged back", "A chargeback was recorded by hand."}},
		})
		for _, kind := range []string{sessions, transactions, subscriptions, chargebacks, leads, mandates, deliveries, imports} {
			s.Do(t, operator(kind+"018f0000-0000-7000-8000-000000000001/timeline/", nil)).Want(t, http.StatusNotFound, nil)
			s.Do(t, operator(kind+"nonsense/timeline/", nil)).Want(t, http.StatusNotFound, nil)
		}
	})
}

// TestATimelineTellsOfWhateverThereIs: of a person all that they bought, and what files
// have brought in under their address; of files, events and mandates what became of them.
func TestATimelineTellsOfWhateverThereIs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		m := openMarket(t, s)
		lead := storetest.Scalar[string](t, s.Env, `SELECT CAST(lead_id AS TEXT) FROM sessions WHERE id = $1`, m.session)
		mandate := storetest.Scalar[string](t, s.Env, `SELECT mandate_reference FROM transactions WHERE id = $1`, m.first)
		event := storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM events WHERE kind = 'chargeback.created'`)
		payments := s.Do(t, importing(t, "transactions", header+"P-1,U-1,approved,sdd_sale,12.50,EUR,2026-03-01T10:00:00Z,,,"+m.email+"\nP-2,U-2,approved,sdd_sale,x,EUR,2026-03-01T10:00:00Z,,,\n", nil)).
			Want(t, http.StatusCreated, counts(1, 0, 0, 1)).Text(t, "id")
		s.Do(t, importing(t, "chargebacks", returnsHeader+"X-1,,,9.00,EUR,2026-04-01,AM04\n", nil)).Want(t, http.StatusCreated, counts(1, 0, 0, 0))
		stray := storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM chargebacks WHERE transaction_id IS NULL`)
		second := s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign).With(apptest.Body{"lead": apptest.Lead().With(apptest.Body{"email": m.email})}))
		s.Pay(t, second, apptest.Approved).Want(t, http.StatusOK, nil)
		s.Do(t, operator(leads+lead+"/export/", nil)).Want(t, http.StatusOK, nil)
		s.Do(t, calling("POST", deliveries+event+"/resend/", nil)).Want(t, http.StatusOK, nil)
		wantTold(t, s, map[string]told{
			leads + lead + "/": {
				[]string{"request", "attempt", "gateway", "state", "event", "action"},
				[]string{
					"The payer became known.", "A session was made: 49.00 EUR due", "The session is COMPLETED.", "in the campaign", "The subscription began",
					"A report brought in a payment of 12.50 EUR", "payment_session.completed", "What is known of the payer was exported.",
				},
			},
			mandates + mandate + "/":  {[]string{"request", "attempt", "gateway", "state", "bank"}, []string{"A session was made", "The gateway approved.", "The subscription was cancelled", "Charged back"}},
			deliveries + event + "/":  {[]string{"event", "action"}, []string{"chargeback.created for ", "The event was sent again by hand."}},
			imports + payments + "/":  {[]string{"request", "state", "action"}, []string{"A file of transactions came from", "The import is completed: 1 lines new, 0 updated, 0 unchanged, 1 rejected.", "The file was handed in."}},
			chargebacks + stray + "/": {[]string{"bank", "event"}, []string{"Charged back: 9.00 EUR, AM04"}},
		})
		if _, all := story(t, s, leads+lead+"/"); strings.Contains(all, "Charged back") || strings.Count(all, "A session was made") != 2 {
			t.Errorf("the story of one person is\n%s", all)
		}
	})
}
