package listing_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// insert writes rows as they are, many to a statement.
func insert(t *testing.T, env *storetest.Env, into string, rows [][]any) {
	t.Helper()
	for batch := range db.InBatches(rows) {
		var args []any
		for _, row := range batch {
			args = append(args, row...)
		}
		env.Exec(t, `INSERT INTO `+into+` VALUES `+db.Placeholders(1, len(batch), len(batch[0])), args...)
	}
}

const (
	insertedEvents   = `events (tenant_id, id, event_key, kind, webhook_profile_id, payload, created_at, delivery_status)`
	insertedDeeds    = `audit_entries (id, at, actor, address, action, object_type, object_id, tenant_id)`
	insertedAttempts = `webhook_attempts (tenant_id, event_id, id, number, attempted_at, duration_us, status_code, error, answer)`
)

// someEvents are told of a thing, all at once.
func someEvents(t *testing.T, env *storetest.Env, shop storetest.Shop, about uuid.UUID, count int) (ids []uuid.UUID) {
	t.Helper()
	var rows [][]any
	for i := range count {
		id := payment.NewID()
		ids = append(ids, id)
		rows = append(rows, []any{
			shop.ID.String(), id.String(), fmt.Sprintf("subscription.changed:%s:%d", about, i), "subscription.changed", shop.Profile.ID.String(), "{}",
			env.Now.UnixMicro(), "failed",
		})
	}
	insert(t, env, insertedEvents, rows)
	return ids
}

func someAttempts(t *testing.T, env *storetest.Env, shop storetest.Shop, events []uuid.UUID, each int) {
	t.Helper()
	var rows [][]any
	for _, id := range events {
		for number := range each {
			rows = append(rows, []any{shop.ID.String(), id.String(), payment.NewID().String(), number + 1, env.Now.UnixMicro() + int64(number), 1, 500, "", "no"})
		}
	}
	insert(t, env, insertedAttempts, rows)
}

// TestAHistoryWithoutEndIsToldFromItsNewest: a program may change one subscription fifty times a second for hours, and have
// what that says sent again as often. A timeline of all of it took a gigabyte of memory.
func TestAHistoryWithoutEndIsToldFromItsNewest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		subscription := fullSubscription(shop.ID)
		env.InsertSubscriptions(t, []payment.Subscription{subscription})
		events := someEvents(t, env, shop, subscription.ID, 2300)
		someAttempts(t, env, shop, events[len(events)-400:], 25)
		var deeds [][]any
		for range 1300 {
			deeds = append(deeds, []any{payment.NewID().String(), env.Now.UnixMicro(), "key:k", "", "subscription.change", "subscription", subscription.ID.String(), shop.ID.String()})
		}
		insert(t, env, insertedDeeds, deeds)
		h, err := listing.ReadHistory(t.Context(), env.Store.Tenant(shop.ID), listing.Subject{SubscriptionID: subscription.ID})
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Events) != 2000 || len(h.Deeds) != 1000 {
			t.Errorf("%d events and %d deeds are told, want 2000 and 1000", len(h.Events), len(h.Deeds))
		}
		toldEvents, tries := map[uuid.UUID][]store.Attempt{}, 0
		for _, e := range h.Events {
			toldEvents[e.ID] = e.Attempts
			tries += len(e.Attempts)
		}
		for _, newest := range events[len(events)-2000:] {
			if _, isTold := toldEvents[newest]; !isTold {
				t.Fatal("an event is left out that is newer than one that is told")
			}
		}
		latest := toldEvents[events[len(events)-1]]
		if len(latest) != 20 || latest[0].Number != 6 || latest[19].Number != 25 {
			t.Errorf("of the newest event are told %d tries", len(latest))
		}
		if tries < 2000 || tries > 2000+128*20 {
			t.Errorf("%d tries are told", tries)
		}
	})
}

// TestDeliveriesAreListedWithTheirLatestTries: two hundred of each among a thousand took as much.
func TestDeliveriesAreListedWithTheirLatestTries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		events := someEvents(t, env, shop, payment.NewID(), 300)
		someAttempts(t, env, shop, events, 22)
		for limit, want := range map[int]int{10: 20, 300: 5} {
			listed, err := listing.Deliveries(t.Context(), env.Store.Tenant(shop.ID), listing.DeliveryFilter{}, listing.Paging{Limit: limit})
			if err != nil || len(listed) != limit {
				t.Fatalf("%d deliveries are listed: %v", len(listed), err)
			}
			for _, d := range listed {
				if n := len(d.Attempts); n != want || d.Attempts[n-1].Number != 22 || d.Attempts[0].Number != 22-want+1 {
					t.Fatalf("of %d deliveries each has %d tries, want the latest %d", limit, n, want)
				}
			}
		}
		one, err := listing.Delivery(t.Context(), env.Store.Tenant(shop.ID), events[0])
		if err != nil || len(one.Attempts) != 20 {
			t.Errorf("a delivery has %d tries: %v", len(one.Attempts), err)
		}
	})
}
