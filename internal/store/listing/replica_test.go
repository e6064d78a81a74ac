package listing_test

import (
	"testing"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

func TestReplica(t *testing.T) {
	t.Parallel()

	t.Run("listings are read from it and nothing else is", func(t *testing.T) {
		t.Parallel()
		primary, standby := storetest.Postgres(t), storetest.Postgres(t)
		tenant := primary.Tenant(t)
		row := fullTransaction(tenant.ID)
		standby.InsertTransactions(t, []payment.Transaction{row})
		both := primary.ReopenWith(t, store.Options{Vault: primary.Vault, Options: db.Options{MaxConnections: 2, ReplicaURL: standby.URL}})
		page, err := listing.Transactions(t.Context(), both.Tenant(tenant.ID), wholeDay(10), listing.TransactionFilter{})
		if err != nil || len(page.Rows) != 1 || page.Rows[0].ID != row.ID {
			t.Errorf("%d records are listed, %v", len(page.Rows), err)
		}
		if found, err := both.Tenant(tenant.ID).Tenant(t.Context()); err != nil || found.ID != tenant.ID {
			t.Errorf("the tenant is not read from the primary: %v", err)
		}
		if !both.HasReplica() || both.ReplicaPool().Open == 0 {
			t.Error("the replica's connections are not shown")
		}
	})

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
