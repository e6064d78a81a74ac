package listing_test

import (
	"os"
	"testing"
	"time"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
	"sepad/internal/testenv/server"
	"sepad/internal/vault"
)

// TestAReplicaIsReadFromWhileItKeepsUp: one that stands still, was made a primary or is gone would leave out what happened
// since, and who reads a list takes it for whole.
func TestAReplicaIsReadFromWhileItKeepsUp(t *testing.T) {
	t.Parallel()
	env, standby, leader := primaryAndStandby(t)
	tenant := env.Tenant(t)
	both, strict := reopen(t, env, standby, 0), reopen(t, env, standby, time.Microsecond)
	wantListed := func(want int, why string, stores ...*store.Store) {
		t.Helper()
		for _, s := range stores {
			page, err := listing.Transactions(t.Context(), s.Tenant(tenant.ID), wholeDay(10), listing.TransactionFilter{})
			if err != nil || len(page.Rows) != want {
				t.Errorf("%s: %d records are listed, want %d: %v", why, len(page.Rows), want, err)
			}
		}
	}
	awaitNear(t, strict)
	storetest.Scalar[string](t, standby, `SELECT CAST(pg_wal_replay_pause() AS text)`)
	env.InsertTransactions(t, []payment.Transaction{fullTransaction(tenant.ID)})
	wantListed(0, "a little behind", both)
	wantListed(1, "a standby that stands still", strict)
	if found, err := both.Tenant(tenant.ID).Tenant(t.Context()); err != nil || found.ID != tenant.ID || both.ReplicaPool().Open == 0 {
		t.Errorf("the tenant is read from the primary, over %d connections to the replica: %v", both.ReplicaPool().Open, err)
	}

	storetest.Scalar[string](t, standby, `SELECT CAST(pg_wal_replay_resume() AS text)`)
	awaitNear(t, strict)
	wantListed(1, "a standby that goes on", strict)

	leader.Stop()
	if !strict.IsReplicaNear(t.Context()) {
		t.Error("a primary that says nothing is to be read from instead of the replica")
	}
	if err := leader.Restart(); err != nil {
		t.Fatal(err)
	}
	env.LookAway()
	trusting := reopen(t, env, standby, time.Hour)
	awaitNear(t, trusting)
	storetest.Scalar[bool](t, standby, `SELECT pg_promote()`)
	further := fullTransaction(tenant.ID)
	further.TenantReferenceID, further.MerchantTransactionID = nil, "TXN-FURTHER"
	env.InsertTransactions(t, []payment.Transaction{further})
	wantListed(2, "a standby that is a primary", strict)

	standby.Exec(t, `ALTER TABLE transactions RENAME TO gone`)
	wantListed(2, "a replica that was near and fails", trusting)
	if trusting.IsReplicaNear(t.Context()) {
		t.Error("a replica at which a read has failed is believed in for as long as before")
	}
}

// TestAReplicaThatIsAwayIsDoneWithout, as it was before there was one.
func TestAReplicaThatIsAwayIsDoneWithout(t *testing.T) {
	t.Parallel()
	env := storetest.Postgres(t)
	tenant := env.Tenant(t)
	env.InsertTransactions(t, []payment.Transaction{fullTransaction(tenant.ID)})
	away := &storetest.Env{URL: "postgres://nobody@127.0.0.1:1/none?connect_timeout=1"}
	page, err := listing.Transactions(t.Context(), reopen(t, env, away, 0).Tenant(tenant.ID), wholeDay(10), listing.TransactionFilter{})
	if err != nil || len(page.Rows) != 1 {
		t.Errorf("%d records are listed: %v", len(page.Rows), err)
	}
}

func reopen(t *testing.T, primary, standby *storetest.Env, lag time.Duration) *store.Store {
	t.Helper()
	return primary.ReopenWith(t, store.Options{
		Vault: primary.Vault, Options: db.Options{MaxConnections: 2, ReplicaURL: standby.URL, ReplicaLag: lag},
	})
}

// awaitNear waits until the replica has come to where the primary is.
func awaitNear(t *testing.T, s *store.Store) {
	t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); !s.IsReplicaNear(t.Context()); <-tick.C {
		if t.Context().Err() != nil {
			t.Fatal("the replica does not come near")
		}
	}
}

// primaryAndStandby are servers of the test's own, with our schema.
func primaryAndStandby(t *testing.T) (primary, standby *storetest.Env, leader *server.Postgres) {
	t.Helper()
	if os.Getenv(testenv.PostgresVariable) == "" {
		t.Skip("this test starts a PostgreSQL of its own, which make test allows")
	}
	folder := func() string {
		path, err := os.MkdirTemp("", "sepad-replica-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(path) })
		return path
	}
	leader, err := server.StartPostgres(folder(), server.Leading)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leader.Stop)
	keys, err := vault.New(vault.GenerateKey())
	if err != nil {
		t.Fatal(err)
	}
	primary = &storetest.Env{Engine: "postgres", URL: leader.URL, Vault: keys, Now: storetest.Start}
	primary.Store = primary.Reopen(t)
	if err := primary.Store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	follower, err := leader.StartStandby(folder())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(follower.Stop)
	return primary, &storetest.Env{Engine: "postgres", URL: follower.URL, Vault: keys, Now: storetest.Start}, leader
}

func TestReplica(t *testing.T) {
	t.Parallel()

	t.Run("without one, listings are read where everything is", func(t *testing.T) {
		t.Parallel()
		if storetest.SQLite(t).Store.HasReplica() {
			t.Error("a file has a replica")
		}
	})

	t.Run("an address that cannot be read is refused", func(t *testing.T) {
		t.Parallel()
		env := storetest.SQLite(t)
		_, err := store.Open(t.Context(), env.URL, store.Options{Vault: env.Vault, Options: db.Options{ReplicaURL: "mysql://replica"}})
		if err == nil {
			t.Error("the store opens")
		}
	})
}
