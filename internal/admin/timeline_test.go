package admin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
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

func TestATimelineTellsWhatHappened(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		m := openMarket(t, s)
		s.Do(t, operator(transactions+m.sale+"/refunds/", apptest.Body{"amount": "5.00"})).Want(t, http.StatusCreated, nil)
		for path, want := range map[string]struct {
			kinds, texts []string
		}{
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
		} {
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
		for _, kind := range []string{sessions, transactions, subscriptions} {
			s.Do(t, operator(kind+"018f0000-0000-7000-8000-000000000001/timeline/", nil)).Want(t, http.StatusNotFound, nil)
			s.Do(t, operator(kind+"nonsense/timeline/", nil)).Want(t, http.StatusNotFound, nil)
		}
	})
}
