package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// veryManyIn makes a file of as many payments as more than one unit takes, under names that end as their places do.
func veryManyIn(t *testing.T, env *storetest.Env, shop storetest.Shop, many int) store.BankFile {
	t.Helper()
	waiting := make([]payment.Transaction, many)
	for i := range waiting {
		waiting[i] = payment.Transaction{
			ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, MerchantTransactionID: fmt.Sprintf("TXN-20260401-%06d", i+1),
			Status: payment.TransactionPending, Type: payment.Sale, AmountMinor: 100, Currency: "EUR", CreatedAt: env.Now, UpdatedAt: env.Now,
		}
	}
	env.InsertTransactions(t, waiting)
	env.Exec(t, `UPDATE transactions SET settle_due_at = 1 WHERE tenant_id = $1`, shop.ID.String())
	return fileWith(t, env, store.BankFileClosed, waiting...)
}

// TestAFileOfVeryManyPaymentsIsChangedSomeAtATime: a bank whose server is away for a day is sent a file of hundreds of thousands
// late, and everybody waited for SQLite's writer while silence about each of them was made longer.
func TestAFileOfVeryManyPaymentsIsChangedSomeAtATime(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	shop := env.Shop(t)
	const many, some = 5_000, 2_000
	file := veryManyIn(t, env, shop, many)
	postponed, until := file, env.Now.Add(96*time.Hour)
	postponed.DueDate = "2027-01-04"
	// In this order: who postpones a file makes the silence about its payments longer too.
	for _, c := range []struct {
		what, table, last, left string
		change                  func() error
	}{
		{"silence", "transactions", fmt.Sprintf("OLD.merchant_transaction_id = 'TXN-20260401-%06d'", many),
			fmt.Sprintf("transactions WHERE settle_due_at < %d", until.UnixMicro()),
			func() error { return env.Store.WaitLonger(t.Context(), env.Now, file, until) }},
		{"days", "bank_file_entries", fmt.Sprintf("OLD.position = %d", many), "bank_file_entries WHERE due_date < '2027-01-04'",
			func() error { return env.Store.PostponeBankFile(t.Context(), env.Now, file, postponed, until) }},
	} {
		env.Exec(t, fmt.Sprintf(`CREATE TRIGGER stays BEFORE UPDATE ON %s WHEN %s BEGIN SELECT RAISE(ABORT, 'it stays'); END`, c.table, c.last))
		if err := c.change(); err == nil {
			t.Errorf("%s: all were changed", c.what)
		}
		if left := env.Count(t, c.left); left == 0 || left > some {
			t.Errorf("%s: %d of %d were in the unit that failed", c.what, left, many)
		}
		env.Exec(t, `DROP TRIGGER stays`)
		if err := c.change(); err != nil || env.Count(t, c.left) != 0 {
			t.Errorf("%s: %d are left: %v", c.what, env.Count(t, c.left), err)
		}
	}
}

// TestWhetherAFileIsOverIsLookedForBesideOthers: nearly all of a file of hundreds of thousands may be gone through for that, at
// each answer of the bank and each round.
func TestWhetherAFileIsOverIsLookedForBesideOthers(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	shop := env.Shop(t)
	file := fileWith(t, env, store.BankFileSent, awaitingFile(t, env, shop))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	env.Write(t, func(tx *store.Tx) error {
		tx.Then(`UPDATE tenants SET version = version`)
		return env.Store.SettleBankFiles(ctx, env.Now, shop.ID, shop.Gateway.ID)
	})
	if read, err := env.Store.Tenant(shop.ID).BankFile(t.Context(), file.ID); err != nil || read.State != store.BankFileSent {
		t.Errorf("the file is %s: %v", read.State, err)
	}
}
