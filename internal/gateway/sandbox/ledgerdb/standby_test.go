package ledgerdb_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sepad/internal/db"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestAnApprovalIsOnTheStandbyBeforeItIsTold has a primary wait for a standby that does not come. The ledger stands
// for a gateway elsewhere, which no failover touches: an approval that only the lost primary knew would make payments
// of the books that no gateway has.
func TestAnApprovalIsOnTheStandbyBeforeItIsTold(t *testing.T) {
	t.Parallel()
	env, admin := primaryWithout(t)
	ledger := newLedger(env)
	entry := func(reference string) sandbox.Entry {
		return sandbox.Entry{
			Key:   sandbox.Key{TenantID: payment.NewID(), AccountID: payment.NewID(), MerchantTransactionID: reference},
			State: sandbox.StateAwaiting, AmountMinor: 1, ReceivedAt: env.Now,
		}
	}
	known := entry("TXN-KNOWN")
	if _, _, err := ledger.Insert(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	for name, act := range map[string]func() error{
		"a payment that arrives": func() error {
			_, _, err := ledger.Insert(t.Context(), entry("TXN-NEW"))
			return err
		},
		"a decision of the payer's": func() error {
			_, err := ledger.Decide(t.Context(), known.Key, sandbox.StateAwaiting, sandbox.StateApproved, env.Now)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			nameStandby(t, admin, "elsewhere")
			awaitStandby(t, env, "elsewhere")
			committed := awaitWait(t, env, admin)
			told := make(chan error, 1)
			go func() { told <- act() }()
			for tick := time.NewTicker(5 * time.Millisecond); waiting(t, admin) < 2; {
				select {
				case err := <-told:
					t.Fatalf("it is told without the standby: %v", err)
				case <-tick.C:
				}
			}
			nameStandby(t, admin, "")
			if err := <-told; err != nil {
				t.Error(err)
			}
			<-committed
			awaitStandby(t, env, "")
		})
	}
}

// primaryWithout is a server of the test's own, whose ledger has one connection.
func primaryWithout(t *testing.T) (*storetest.Env, *pgx.Conn) {
	t.Helper()
	cluster, env := storetest.OwnPostgres(t)
	env.Store = env.ReopenWith(t, store.Options{Vault: env.Vault, Options: db.Options{MaxConnections: 1}})
	admin, err := pgx.Connect(t.Context(), cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	return env, admin
}

// nameStandby says which standby commits wait for, "" for none.
func nameStandby(t *testing.T, admin *pgx.Conn, name string) {
	t.Helper()
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + name + "'", "SELECT pg_reload_conf()"} {
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitStandby waits until the ledger's connection has heard of it.
func awaitStandby(t *testing.T, env *storetest.Env, name string) {
	t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		result, err := env.Store.Query(t.Context(), "SELECT current_setting('synchronous_standby_names')")
		seen, err := db.One(result, err, func(r db.Rows) (text string, err error) { return text, r.Scan(&text) })
		if err != nil {
			t.Fatal(err)
		}
		if seen == name {
			return
		}
	}
}

// awaitWait commits something ordinary, over and over until it waits for the standby: PostgreSQL's processes hear of
// a setting one after the other. What it gives is closed once it is through.
func awaitWait(t *testing.T, env *storetest.Env, admin *pgx.Conn) chan struct{} {
	t.Helper()
	ordinary, err := pgx.Connect(t.Context(), env.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ordinary.Close(context.Background()) })
	var seen atomic.Bool
	through := make(chan struct{})
	go func() {
		defer close(through)
		for err == nil && !seen.Load() {
			_, err = ordinary.Exec(context.Background(), "SELECT txid_current()")
		}
	}()
	for tick := time.NewTicker(5 * time.Millisecond); waiting(t, admin) == 0; {
		<-tick.C
	}
	seen.Store(true)
	return through
}

// waiting counts those who wait for a standby.
func waiting(t *testing.T, admin *pgx.Conn) (count int) {
	t.Helper()
	err := admin.QueryRow(t.Context(), "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&count)
	if err != nil {
		t.Fatal(err)
	}
	return count
}
