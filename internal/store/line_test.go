package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// due are the events in line for a shop, as a drain reads them.
func due(t *testing.T, env *storetest.Env, shop storetest.Shop) (ids []uuid.UUID) {
	t.Helper()
	line, err := env.Store.Tenant(shop.ID).DeliveriesDue(t.Context(), shop.Profile.ID, uuid.Nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range line {
		if d.Payload == "" || d.Kind == "" || d.Unreadable != nil {
			t.Errorf("%s cannot be sent: %v", d.EventID, d.Unreadable)
		}
		ids = append(ids, d.EventID)
	}
	return ids
}

// TestADeliveryLeavesItsEventAsItIs: what a successful one writes is in no index of the events.
func TestADeliveryLeavesItsEventAsItIs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		ids := inLine(t, env, shop, 3)
		shown := func(id uuid.UUID, status store.DeliveryStatus, tries int) {
			t.Helper()
			if e, err := listing.FindEvent(t.Context(), env.Store.Tenant(shop.ID), id); err != nil || e.Status != status || e.Tries != tries {
				t.Errorf("the event is %s after %d tries (%v), want %s after %d", e.Status, e.Tries, err, status, tries)
			}
			for _, other := range store.DeliveryStatuses {
				found, err := listing.Deliveries(t.Context(), env.Store.Tenant(shop.ID), listing.DeliveryFilter{Status: other}, listing.Paging{Limit: 10})
				listed := slices.ContainsFunc(found, func(d listing.DeliveryRecord) bool { return d.EventID == id && d.Status == other })
				if err != nil || listed != (other == status) {
					t.Errorf("among those that are %s: %t (%v), and it is %s", other, listed, err, status)
				}
			}
		}
		for _, id := range ids {
			wantDelivery(t, env, "what is in line", id, "delivered 1/0")
			shown(id, store.DeliveryPending, 0)
		}
		results := []store.DeliveryResult{
			result(ids[0], store.DeliveryDelivered, 0, time.Time{}), result(ids[2], store.DeliveryFailed, 1, time.Time{}),
			result(ids[1], store.DeliveryPending, 1, env.Now.Add(time.Minute)),
		}
		for range 2 { // the second time there is nothing left to write
			env.Write(t, func(tx *store.Tx) error { tx.RecordDeliveries(endpointOf(shop), results[:1]); return nil })
		}
		env.Write(t, func(tx *store.Tx) error { tx.RecordDeliveries(endpointOf(shop), results[1:]); return nil })
		wantDelivery(t, env, "what was taken", ids[0], "delivered 1/0")
		wantDelivery(t, env, "what is tried again", ids[1], "pending 1/1 in 1m0s")
		wantDelivery(t, env, "what has failed", ids[2], "failed 1/1")
		shown(ids[0], store.DeliveryDelivered, 1)
		shown(ids[1], store.DeliveryPending, 1)
		shown(ids[2], store.DeliveryFailed, 1)
		if line := due(t, env, shop); len(line) != 0 || env.Count(t, "events_in_line") != 0 {
			t.Errorf("in line are %v", line)
		}
	})
}

// TestBothFormsAreOneLine: an upgrade that is finished finds events in line as older programs put them there.
func TestBothFormsAreOneLine(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		env.Exec(t, `UPDATE schema_compatibility SET oldest_version = 37`)
		shop := env.Shop(t)
		env.Store = env.Reopen(t)
		if !env.Store.UpgradeIsOpen() {
			t.Error("programs that do not know the line may still run")
		}
		ids := inLine(t, env, shop, 2)
		if env.Count(t, "events_in_line") != 0 {
			t.Error("older programs do not see what is in line")
		}
		if _, err := env.Store.FinishUpgrade(t.Context(), env.Now, func(int, int) {}); err != nil || env.Store.UpgradeIsOpen() {
			t.Errorf("the upgrade is not finished: %v", err)
		}
		ids = append(ids, inLine(t, env, shop, 2)...)
		if line := due(t, env, shop); !slices.Equal(line, ids) || env.Count(t, "events_in_line") != 2 {
			t.Errorf("in line are %v, want %v", line, ids)
		}
		if backlog, err := env.Store.DeliveryBacklog(t.Context()); err != nil || backlog["in_line"] != 4 {
			t.Errorf("counted are %v: %v", backlog, err)
		}
		var results []store.DeliveryResult
		for _, id := range ids {
			results = append(results, result(id, store.DeliveryDelivered, 0, time.Time{}))
		}
		env.Write(t, func(tx *store.Tx) error { tx.RecordDeliveries(endpointOf(shop), results); return nil })
		for _, id := range ids {
			wantDelivery(t, env, "what was taken", id, "delivered 1/0")
		}
		if line := due(t, env, shop); len(line) != 0 {
			t.Errorf("in line are %v", line)
		}
	})
}

// TestWhatTheFeedHasSaysItselfThatItIsInLine, so that the feed is read by the events alone; it is still delivered once.
func TestWhatTheFeedHasSaysItselfThatItIsInLine(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		ids := inLine(t, env, shop, 3)
		taken := []store.DeliveryResult{result(ids[0], store.DeliveryDelivered, 0, time.Time{})}
		env.Write(t, func(tx *store.Tx) error { tx.RecordDeliveries(endpointOf(shop), taken); return nil })
		env.Write(t, func(tx *store.Tx) error {
			more, err := tx.NumberEvents(shop.ID, time.Unix(0, 0))
			if more {
				t.Error("some have no place yet")
			}
			return err
		})
		missed, err := env.Store.Tenant(shop.ID).Feed(t.Context(), 0, store.FeedUndelivered, 10)
		if err != nil || len(missed) != 2 || missed[0].ID != ids[1] || missed[1].ID != ids[2] {
			t.Errorf("%d were not taken: %v", len(missed), err)
		}
		if env.Count(t, "events_in_line") != 0 {
			t.Error("what has a place in the feed is kept apart")
		}
		if line := due(t, env, shop); !slices.Equal(line, ids[1:]) {
			t.Errorf("in line are %v", line)
		}
		rest := []store.DeliveryResult{result(ids[1], store.DeliveryDelivered, 0, time.Time{}), result(ids[2], store.DeliveryPending, 1, env.Now.Add(time.Minute))}
		env.Write(t, func(tx *store.Tx) error { tx.RecordDeliveries(endpointOf(shop), rest); return nil })
		wantDelivery(t, env, "what was taken", ids[1], "delivered 1/0")
		wantDelivery(t, env, "what is tried again", ids[2], "pending 1/1 in 1m0s")
	})
}

// TestOnlyWhatGetsItsPlaceLeavesTheLine: a shop without receivers has hundreds of thousands of events before one that goes out,
// and everybody waited for SQLite's writer while each page of its feed went through all of them.
func TestOnlyWhatGetsItsPlaceLeavesTheLine(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		ids := inLine(t, env, shop, 1)
		const page = 2_000
		multiply(t, env, "events", 1, page+1, map[string]string{"id": "$id", "event_key": "kind || n", "webhook_profile_id": "NULL"})
		number := func(wantMore bool, wantInLine int) {
			t.Helper()
			env.Write(t, func(tx *store.Tx) error {
				more, err := tx.NumberEvents(shop.ID, time.Unix(0, 0))
				if more != wantMore || err != nil {
					t.Errorf("there are more: %t, want %t: %v", more, wantMore, err)
				}
				return err
			})
			if n := env.Count(t, "events_in_line"); n != wantInLine {
				t.Errorf("%d are in line, want %d", n, wantInLine)
			}
		}
		number(true, 1)
		number(false, 0)
		wantDelivery(t, env, "what has its place", ids[0], "pending 0/0")
	})
}

// TestWhatIsInLineIsNotResent: it goes out once; what has left the line goes out again.
func TestWhatIsInLineIsNotResent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		ids := inLine(t, env, shop, 2)
		taken := []store.DeliveryResult{result(ids[0], store.DeliveryDelivered, 0, time.Time{})}
		env.Write(t, func(tx *store.Tx) error { tx.RecordDeliveries(endpointOf(shop), taken); return nil })
		for _, id := range ids {
			env.Write(t, func(tx *store.Tx) error { tx.Resend(endpointOf(shop), id); return nil })
		}
		if line := due(t, env, shop); !slices.Equal(line, ids) {
			t.Errorf("in line are %v, want %v", line, ids)
		}
		wantDelivery(t, env, "what goes out again", ids[0], "pending 1/0")
		wantDelivery(t, env, "what was in line", ids[1], "delivered 1/0")
	})
}

// TestWhatIsInLineSurvivesTheWayBack to programs that know nothing but the events.
func TestWhatIsInLineSurvivesTheWayBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		ids := inLine(t, env, shop, 2)
		taken := []store.DeliveryResult{result(ids[0], store.DeliveryDelivered, 0, time.Time{})}
		env.Write(t, func(tx *store.Tx) error { tx.RecordDeliveries(endpointOf(shop), taken); return nil })
		if _, err := migrationsOf(t, env).DownTo(t.Context(), 37); err != nil {
			t.Fatal(err)
		}
		wantDelivery(t, env, "what was taken", ids[0], "delivered 1/0")
		wantDelivery(t, env, "what is in line", ids[1], "pending 0/0")
		if oldest := storetest.Scalar[int](t, env, `SELECT oldest_version FROM schema_compatibility`); oldest >= 38 {
			t.Errorf("the oldest schema is %d", oldest)
		}
	})
}
