package backup_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestAPlaceInALostFeedMissesNothing reads a feed further after the backup than it reaches in the restored database: whoever
// goes on from there is given what happens now.
func TestAPlaceInALostFeedMissesNothing(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		shop := business(t, env)
		path, _ := write(t, env)
		for range 3 {
			happens(t, env, shop.ID)
		}
		lost := readOn(t, env, shop.ID, 0)
		place := lost[len(lost)-1].Position

		target := elsewhere(t, env)
		if _, err := target.Restore(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		restored := &storetest.Env{Engine: env.Engine, URL: target.Address, Vault: env.Vault, Now: env.Now.Add(time.Minute)}
		restored.Store = restored.Reopen(t)
		happened := happens(t, restored, shop.ID)
		after := readOn(t, restored, shop.ID, place)
		if len(after) == 0 || after[len(after)-1].ID != happened {
			t.Errorf("from place %d on there is %v, want at last %s", place, after, happened)
		}
	})
}

// happens writes an event of which nobody has heard yet.
func happens(t *testing.T, env *storetest.Env, tenantID uuid.UUID) uuid.UUID {
	t.Helper()
	id := payment.NewID()
	env.Write(t, func(tx *store.Tx) error {
		event := payment.Event{ID: id, Kind: payment.EventTransactionCreated, Key: fmt.Sprint("happens/", id)}
		tx.AddEvents(tenantID, []store.EventRow{{Event: event, Payload: "{}"}})
		return nil
	})
	return id
}

// readOn reads a feed beyond a place to its end, as its merchant does.
func readOn(t *testing.T, env *storetest.Env, tenantID uuid.UUID, place int64) []store.FeedEvent {
	t.Helper()
	env.Write(t, func(tx *store.Tx) error {
		_, err := tx.NumberEvents(tenantID, time.Unix(0, 0))
		return err
	})
	events, err := env.Store.Tenant(tenantID).Feed(t.Context(), place, store.FeedAll, 100)
	if err != nil {
		t.Fatal(err)
	}
	return events
}
