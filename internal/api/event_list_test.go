package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/merchant"
	"sepad/internal/store/storetest"
)

const feed = "/api/v1/events/"

// follow reads a feed to its end and gives the ids with the address to go on from.
func follow(t *testing.T, s *apptest.Server, key, address string) (ids []string, next string) {
	t.Helper()
	for next = address; ; {
		page := s.Do(t, apptest.Request{Path: strings.TrimPrefix(next, s.URL), Key: key}).Want(t, http.StatusOK, nil)
		for _, entry := range page.Get(t, "results").([]any) {
			ids = append(ids, entry.(map[string]any)["id"].(string))
		}
		next = page.Text(t, "next")
		if page.Get(t, "has_more") == false {
			return ids, next
		}
	}
}

// allEvents are the ids of a tenant's events as the database has them.
func allEvents(t *testing.T, s *apptest.Server, tenant string) (ids []string) {
	t.Helper()
	db := s.Env.DB(t)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT id FROM events WHERE tenant_id = $1`, tenant)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestAShopThatWasOfflineCatchesUp(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Completed(t, apptest.Direct())
		known, next := follow(t, s, s.Key, feed+"?page_size=2")
		if len(known) != 2 {
			t.Fatalf("the shop knows %d events before it goes offline", len(known))
		}
		// A day on which nobody reads: payments, one that comes back, one that is refused later.
		for _, iban := range []string{apptest.Approved, apptest.PendingApproved, apptest.PendingDeclined, apptest.Chargeback} {
			s.Pay(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign)), iban).Want(t, http.StatusOK, nil)
		}
		s.Advance(t, 25*time.Hour)
		s.Advance(t, 72*time.Hour)
		missed, end := follow(t, s, s.Key, next)
		all := slices.Sorted(slices.Values(append(slices.Clone(known), missed...)))
		if want := slices.Sorted(slices.Values(allEvents(t, s, apptest.Shop))); !slices.Equal(all, want) || len(missed) < 10 {
			t.Errorf("the shop has read %d events, %d of them missed, and there are %d", len(all), len(missed), len(want))
		}
		if again, _ := follow(t, s, s.Key, end); len(again) != 0 {
			t.Errorf("%d events come twice", len(again))
		}
		if whole, _ := follow(t, s, s.Key, feed); !slices.Equal(whole, append(known, missed...)) {
			t.Error("from the beginning the feed is another one")
		}
	})
}

func TestTheEventFeed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token, _ := s.Completed(t, apptest.Direct())
		s.Completed(t, apptest.InCampaign(apptest.QuietCampaign))
		ids, _ := follow(t, s, s.Key, feed)
		t.Run("an event shows what is sent, and how far that is", func(t *testing.T) {
			s.Do(t, apptest.Request{Path: feed + ids[1] + "/", Key: s.Key}).Want(t, http.StatusOK, fields{
				"id": ids[1], "type": "payment_session.completed", "data.session_token": token, "data.status": "COMPLETED", "delivered": false, "delivery_status": apptest.Any,
			})
		})
		t.Run("one that goes to nobody is there too", func(t *testing.T) {
			s.Do(t, apptest.Request{Path: feed + ids[2] + "/", Key: s.Key}).Want(t, http.StatusOK, fields{"type": "transaction.created", "delivered": false, "delivery_status": nil})
		})
		t.Run("what was missed is what nobody has taken", func(t *testing.T) {
			s.Env.OutOfLine(t)
			s.Env.Exec(t, `UPDATE events SET delivery_status = 'delivered', next_attempt_at = NULL WHERE id = $1`, ids[0])
			if missed, _ := follow(t, s, s.Key, feed+"?delivered=false&page_size=1"); !slices.Equal(missed, ids[1:]) {
				t.Errorf("missed are %v of %v", missed, ids)
			}
			if taken, _ := follow(t, s, s.Key, feed+"?delivered=true"); !slices.Equal(taken, ids[:1]) {
				t.Errorf("taken are %v of %v", taken, ids)
			}
		})
		t.Run("another tenant reads its own alone", func(t *testing.T) {
			if others, _ := follow(t, s, s.RivalKey, feed); len(others) != 0 {
				t.Errorf("it reads %v", others)
			}
			s.Do(t, apptest.Request{Path: feed + ids[0] + "/", Key: s.RivalKey}).WantDetail(t, http.StatusNotFound, "Event not found")
		})
		t.Run("a key needs the scope", func(t *testing.T) {
			for _, path := range []string{feed, feed + ids[0] + "/"} {
				s.Do(t, apptest.Request{Path: path, Key: keyWith(t, s, merchant.ScopePayments)}).Want(t, http.StatusForbidden, nil)
				s.Do(t, apptest.Request{Path: path}).Want(t, http.StatusUnauthorized, nil)
			}
		})
		t.Run("every bad parameter is named", func(t *testing.T) {
			s.Do(t, apptest.Request{Path: feed + "?page_size=1001&cursor=x&delivered=perhaps", Key: s.Key}).
				WantBad(t, map[string]string{"page_size": "", "cursor": "", "delivered": ""})
		})
		t.Run("what is older than 90 days is not read", func(t *testing.T) {
			s.Env.Exec(t, `UPDATE events SET id = '00000000-0000-7000-8000-000000000001' WHERE id = $1`, ids[0])
			if left, _ := follow(t, s, s.Key, feed); !slices.Equal(left, ids[1:]) {
				t.Errorf("left are %v", left)
			}
			if storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM events WHERE feed_position IS NULL`) != 0 {
				t.Error("an event has no place")
			}
		})
	})
}
