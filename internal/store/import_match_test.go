package store_test

import (
	"slices"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestAFileLacksOnlyWhatBelongsInIt: our records that a file does not name are missing there if they are of its account
// and of its days, from the first instant to the last; whatever else we have is none of its business.
func TestAFileLacksOnlyWhatBelongsInIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		beside := env.Gateway(t, shop.ID)
		from, to := env.Now, env.Now.Add(24*time.Hour)
		record := func(name string, at time.Time, change ...func(*payment.Transaction)) payment.Transaction {
			made := payment.Transaction{
				ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, MerchantTransactionID: name, Status: payment.TransactionApproved,
				Type: payment.Sale, AmountMinor: 100, Currency: "EUR", Source: payment.SourceImport, ProcessedAt: at, CreatedAt: at, UpdatedAt: at,
			}
			for _, c := range change {
				c(&made)
			}
			return made
		}
		env.InsertTransactions(t, []payment.Transaction{
			record("before", from.Add(-time.Microsecond)), record("first", from), record("last", to.Add(-time.Microsecond)), record("after", to),
			record("named", from),
			record("another account's", from, func(x *payment.Transaction) { x.GatewayID = beside.ID }),
			record("another tenant's", from, func(x *payment.Transaction) { x.TenantID, x.GatewayID = other.ID, other.Gateway.ID }),
		})
		match := store.Match{TenantID: shop.ID, ImportID: payment.NewID(), GatewayID: shop.Gateway.ID, From: from, To: to}
		env.Write(t, func(tx *store.Tx) error {
			return tx.AddCompared(match, []store.Compared{{
				Line: 2, MerchantTransactionID: "named", Status: payment.TransactionApproved, Type: payment.Sale, AmountMinor: 100, Currency: "EUR", ProcessedAt: from,
			}})
		})
		var lacks []string
		err := match.Mismatches(t.Context(), env.Store, func(m store.Mismatch) { lacks = append(lacks, m.Known.MerchantTransactionID) })
		if want := []string{"first", "last"}; err != nil || !slices.Equal(lacks, want) {
			t.Errorf("the file lacks %q, want %q: %v", lacks, want, err)
		}
	})
}
