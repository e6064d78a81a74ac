package store_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestNothingReadsAWholeTable takes every list, search, count, pick and sweep among many rows and asks PostgreSQL what
// it has read for it: nothing from end to end, and by an index far less than there is.
func TestNothingReadsAWholeTable(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	const many = 8_000
	// What is counted or searched stops after so many rows, wherever it is; a table with next to nothing in it may be read as it is.
	const most, few = many / 2, many / 100
	at := fillForWalks(t, env, many)
	// So small a table may well be read as it is; without leave to do so, only what has no index does.
	address, err := url.Parse(env.URL)
	if err != nil {
		t.Fatal(err)
	}
	settings := address.Query()
	settings.Set("enable_seqscan", "off")
	address.RawQuery = settings.Encode()
	st, err := store.Open(t.Context(), address.String(), store.Options{Vault: env.Vault, Options: db.Options{MaxConnections: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	for _, walk := range storetest.Walks() {
		wholeBefore, indexedBefore, err := storetest.Reads(t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		if err := walk.Run(t.Context(), st, at); err != nil {
			t.Errorf("%s: %v", walk.Name, err)
		}
		whole, indexed, err := storetest.Reads(t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		if whole-wholeBefore > few {
			t.Errorf("%s reads %d rows of whole tables", walk.Name, whole-wholeBefore)
		}
		if indexed-indexedBefore > most && walk.Name != sortsFew {
			t.Errorf("%s reads %d rows by an index, of %d that there are", walk.Name, indexed-indexedBefore, many)
		}
	}
}

// sortsFew is a list that is merged of ranges, each planned as if all of it were read: some ten thousand rows PostgreSQL
// rather sorts. Among more it reads along the index, as the plans of listings show.
const sortsFew = "list of subscriptions"

// fillForWalks copies one purchase with its subscription.
func fillForWalks(t *testing.T, env *storetest.Env, many int) storetest.Place {
	t.Helper()
	shop := env.Shop(t)
	sold := subscribed(t, env, shop, weekly)
	const day = 86_400_000_000
	made := map[string]string{
		"id": "$id", "lead_id": "$id", "session_id": "$id", "order_id": "$id", "subscription_id": "$id", "last_transaction_id": "$id",
		"email": "'payer.' || n || '@shop.example'", "email_key": "'payer.' || n || '@shop.example'", "token": "'t' || n", "order_number": "'o' || n",
		"merchant_transaction_id": "'m' || n", "event_key": "kind || ':' || $id", "feed_position": "n",
		"delivery_status": "CASE WHEN n % 100 = 0 THEN 'pending' ELSE 'delivered' END",
		"created_at":      fmt.Sprintf("created_at + n * CAST(%d AS bigint)", day/many), "processed_at": fmt.Sprintf("processed_at + n * CAST(%d AS bigint)", day/many),
		"due_at": fmt.Sprintf("due_at + n * CAST(%d AS bigint)", day/many),
	}
	for _, table := range []string{"leads", "sessions", "orders", "transactions", "subscriptions", "events"} {
		multiply(t, env, table, 1, many, made)
	}
	env.Exec(t, `INSERT INTO events_in_line SELECT tenant_id, webhook_profile_id, id FROM events
		WHERE delivery_status = 'delivered' AND webhook_profile_id IS NOT NULL AND RIGHT(event_key, 2) = '01' AND id NOT IN (SELECT event_id FROM events_in_line)`)
	env.Exec(t, "VACUUM ANALYZE")
	middle := uuid.MustParse(fmt.Sprintf("00000000-0000-7000-8000-%012x", many/2))
	from := env.Now.AddDate(0, 0, -1)
	return storetest.Place{
		TenantID: shop.ID, GatewayID: sold.GatewayID, ProfileID: shop.Profile.ID, SessionID: middle, SubscriptionID: middle, TransactionID: middle,
		From: from, Before: from.AddDate(0, 0, 60), Email: fmt.Sprintf("payer.%d@shop.example", many/2), Reference: fmt.Sprint("m", many/2),
		Holder: "Nobody Here", Amount: "0.01", Account: "0000",
	}
}
