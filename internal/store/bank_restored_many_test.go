package store_test

import (
	"fmt"
	"testing"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestPlacesAreGivenInATimeThatGrowsWithThem: PostgreSQL has no statistics right after a restore, and went through all that the
// bank has for each payment that it gave a place. Of a few dozen it may well do so: nothing is quicker.
func TestPlacesAreGivenInATimeThatGrowsWithThem(t *testing.T) {
	t.Parallel()
	env := storetest.Postgres(t)
	for _, count := range []int{300, 600} {
		shop := env.Shop(t)
		waiting := make([]payment.Transaction, count)
		for i := range waiting {
			waiting[i] = payment.Transaction{
				ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, MerchantTransactionID: fmt.Sprintf("TXN-20260401-%06d", i),
				Status: payment.TransactionPending, Type: payment.Sale, AmountMinor: 100, Currency: "EUR", CreatedAt: env.Now, UpdatedAt: env.Now,
			}
		}
		env.InsertTransactions(t, waiting)
		env.Exec(t, `UPDATE transactions SET settle_due_at = updated_at WHERE tenant_id = $1`, shop.ID.String())
		file := lostFile(t, env, shop, waiting...)
		if err := env.Store.AnalyzeYoung(t.Context(), env.Now); err != nil {
			t.Fatal(err)
		}
		var read []int
		env.Write(t, func(tx *store.Tx) error {
			tx.AssignAdopted(shop.ID, shop.Gateway.ID, env.Now)
			rows, err := tx.Query(`SELECT CAST(SUM(seq_tup_read + COALESCE(idx_tup_fetch, 0)) AS bigint) FROM pg_stat_xact_user_tables`)
			read, err = db.Collect(rows, err, func(r db.Rows) (sum int, err error) { return sum, r.Scan(&sum) })
			return err
		})
		wantFile(t, env, file, store.BankFileSent, count, payment.Minor(100*count))
		if read[0] < count || read[0] > 100*count {
			t.Errorf("%d payments were given their places by reading %d rows", count, read[0])
		}
	}
}
