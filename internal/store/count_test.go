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

// manyPayments writes payments past the store.
func manyPayments(t *testing.T, env *storetest.Env, shop storetest.Shop, count int) {
	t.Helper()
	rows := make([]payment.Transaction, count)
	for i := range rows {
		rows[i] = payment.Transaction{
			TenantID: shop.ID, ID: payment.NewID(), GatewayID: shop.Gateway.ID, MerchantTransactionID: fmt.Sprint("TXN-", i), Status: payment.TransactionApproved,
			Type: payment.Sale, AmountMinor: 1_00, Currency: "EUR", Source: payment.SourceImport, ProcessedAt: env.Now.AddDate(0, 0, i%2), CreatedAt: env.Now, UpdatedAt: env.Now,
		}
	}
	env.InsertTransactions(t, rows)
}

// wantCounted checks what the days of a shop hold together, and that nothing is left to be summed up.
func wantCounted(t *testing.T, env *storetest.Env, what string, shop storetest.Shop, records int, minor payment.Minor) {
	t.Helper()
	got := storetest.Scalar[string](t, env, `SELECT CAST(COUNT(*) AS TEXT) || ' days, ' || CAST(COALESCE(SUM(records), 0) AS TEXT) || ' of ' || CAST(COALESCE(SUM(minor), 0) AS TEXT)
		FROM count_days WHERE tenant_id = $1`, shop.ID.String())
	if want := fmt.Sprintf("2 days, %d of %d", records, minor); got != want || env.Count(t, "count_changes") != 0 {
		t.Errorf("%s: counted are %s, want %s; %d are left", what, got, want, env.Count(t, "count_changes"))
	}
}

// TestDaysAreCounted anew after a restore, and then as payments change: each once, for whom it is.
func TestDaysAreCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		const one, more = 1000, 1001 // what is counted at once, and one more
		shop, other := env.Shop(t), env.Shop(t)
		manyPayments(t, env, shop, one)
		manyPayments(t, env, other, more)
		count := func(some func(context.Context, time.Time) (bool, error), between func()) (rounds int) {
			t.Helper()
			for rest := true; rest; rounds++ {
				var err error
				if rest, err = some(t.Context(), env.Now); err != nil {
					t.Fatal(err)
				}
				between()
			}
			return rounds
		}
		set := func(minor int, where string) {
			env.Exec(t, `UPDATE transactions SET amount_minor = $1 WHERE `+where, minor)
		}
		env.Write(t, func(tx *store.Tx) error { tx.MarkRestored(env.Now); return nil })
		amount := 1_00
		pieces := count(env.Store.CountOlder, func() {
			amount++
			set(amount, `merchant_transaction_id = 'TXN-7'`) // counted already, or not yet
		})
		if pieces != 4 { // one tenant's at once, the other's in two pieces, and nothing
			t.Errorf("counted in %d pieces", pieces)
		}
		count(env.Store.SumUpDays, func() {})
		wantCounted(t, env, "anew", shop, one, one*1_00+4)
		wantCounted(t, env, "anew", other, more, more*1_00+4)
		if env.Count(t, "count_older") != 0 {
			t.Error("something is still to be counted")
		}
		set(2_00, `tenant_id = '`+shop.ID.String()+`'`)
		count(env.Store.SumUpDays, func() {})
		wantCounted(t, env, "what has changed", shop, one, one*2_00)
		wantCounted(t, env, "beside what has changed", other, more, more*1_00+4)
	})
}
