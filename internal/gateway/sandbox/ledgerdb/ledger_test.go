package ledgerdb_test

import (
	"testing"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/gateway/sandbox/ledgertest"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

func newLedger(env *storetest.Env) ledgerdb.Ledger { return ledgerdb.New(env.Store.DB, env.Vault) }

func TestLedger(t *testing.T) {
	t.Parallel()
	newKey := func(*testing.T, sandbox.Ledger) sandbox.Key {
		return sandbox.Key{TenantID: payment.NewID(), AccountID: payment.NewID(), MerchantTransactionID: "TXN-20260302-ABCDEFGH"}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		ledgertest.Run(t, func(t *testing.T) sandbox.Ledger { return newLedger(storetest.SQLite(t)) }, newKey)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		ledgertest.Run(t, func(t *testing.T) sandbox.Ledger { return newLedger(storetest.Postgres(t)) }, newKey)
	})
}

func TestLedgerListsItsEntries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		ledger := newLedger(env)
		entry := sandbox.Entry{
			Key:   sandbox.Key{TenantID: payment.NewID(), AccountID: payment.NewID(), MerchantTransactionID: "TXN-1"},
			State: sandbox.StateApproved, AmountMinor: 1, ReceivedAt: env.Now,
		}
		if _, _, err := ledger.Insert(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
		entries, err := ledgerdb.New(env.Reopen(t).DB, env.Vault).Entries(t.Context())
		if err != nil || len(entries) != 1 || entries[0] != entry {
			t.Errorf("got %+v, error %v", entries, err)
		}
	})
}
