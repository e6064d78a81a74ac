package listing_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// countedAs sums up what was counted as day totals show it.
func countedAs(t *testing.T, env *storetest.Env, tenant uuid.UUID, first, last payment.Date) string {
	t.Helper()
	counts, err := listing.DayCounts(t.Context(), env.Store.Tenant(tenant), first, last)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]listing.Sum{}
	for _, c := range counts {
		key := c.Day.String() + " " + c.Currency + " " + string(c.Kind)
		sums[key] = listing.Sum{Count: sums[key].Count + c.Count, Minor: sums[key].Minor + c.Minor}
	}
	return fmt.Sprint(sums) // fmt sorts keys
}

// books are the same sums, made of the rows themselves.
func books(t *testing.T, env *storetest.Env, tenant uuid.UUID, first, last payment.Date) string {
	t.Helper()
	days, err := listing.ReadDayTotals(t.Context(), env.Store.Tenant(tenant), first, last)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]listing.Sum{}
	for _, d := range days {
		for kind, sum := range map[string]listing.Sum{
			"collected": d.Collected, "pending": d.Pending, "declined": d.Declined, "refunded": d.Refunded, "charged_back": d.ChargedBack,
		} {
			if sum.Count != 0 {
				sums[d.Day.String()+" "+d.Currency+" "+kind] = sum
			}
		}
	}
	return fmt.Sprint(sums)
}

func TestDaysAreCountedAsTheBooksAre(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		first, last := payment.DateOf(storetest.Start).AddDays(-400), payment.DateOf(storetest.Start).AddDays(400)
		same := func(when string) {
			t.Helper()
			for _, tenant := range []uuid.UUID{shop.ID, other.ID} {
				if got, want := countedAs(t, env, tenant, first, last), books(t, env, tenant, first, last); got != want {
					t.Errorf("%s, counted are\n%s\nthe books say\n%s", when, got, want)
				}
			}
		}
		var rows []payment.Transaction
		for i := range 2500 {
			tx := fullTransaction([]uuid.UUID{shop.ID, other.ID}[i%2])
			tx.MerchantTransactionID, tx.TenantReferenceID, tx.Status = fmt.Sprint("TXN-", i), nil, rareStatus(i)
			tx.Type = rareType(i)
			rows = append(rows, tx)
		}
		env.InsertTransactions(t, rows)
		recount(t, env) // what is loaded in bulk goes past triggers in tests
		env.InsertChargebacks(t, []payment.Chargeback{fullChargeback(shop.ID)})
		recount(t, env)
		env.Settled(t, shop, storetest.WithTerms(storetest.Monthly))
		env.Write(t, func(tx *store.Tx) error {
			for i := range 3 {
				one := fullTransaction(shop.ID)
				one.MerchantTransactionID, one.TenantReferenceID = fmt.Sprint("TXN-ADDED-", i), nil
				one.OrderID, one.SessionID, one.SubscriptionID = nil, nil, nil
				tx.AddTransaction(one, nil)
			}
			return nil
		})
		same("after inserts")
		for i, change := range []string{
			`UPDATE transactions SET status = 'refunded' WHERE status = 'approved' AND merchant_transaction_id LIKE 'TXN-1%'`,
			`UPDATE transactions SET status = 'declined', decline_code = 'account_closed' WHERE status = 'pending'`,
			`UPDATE transactions SET processed_at = processed_at + 86400000000 WHERE merchant_transaction_id LIKE 'TXN-2%'`,
			`UPDATE transactions SET amount_minor = amount_minor + 1 WHERE merchant_transaction_id LIKE 'TXN-3%'`,
			`UPDATE transactions SET processed_at = NULL WHERE merchant_transaction_id LIKE 'TXN-4%'`,
			`UPDATE chargebacks SET reason_code = 'AM04', amount_minor = 7`,
		} {
			env.Exec(t, change)
			same(fmt.Sprint("after change ", i))
		}
		sumUp(t, env)
		same("summed up")
		if left := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM count_changes`); left != 0 {
			t.Errorf("%d changes are left", left)
		}
		env.Exec(t, `UPDATE transactions SET status = 'charged_back' WHERE status = 'declined'`)
		same("changed after that")
	})
}

// recount counts everything anew, as what was there before triggers.
func recount(t *testing.T, env *storetest.Env) (pieces int) {
	t.Helper()
	for _, change := range []string{
		`DELETE FROM count_changes`, `DELETE FROM count_days`,
		`INSERT INTO count_older (tenant_id, kind, counted_above) SELECT n.id, 'transactions', t.id FROM tenants n JOIN transactions t ON t.tenant_id = n.id
			AND t.id = (SELECT x.id FROM transactions x WHERE x.tenant_id = n.id ORDER BY x.id DESC LIMIT 1)`,
		`INSERT INTO count_older (tenant_id, kind, counted_above) SELECT n.id, 'chargebacks', t.id FROM tenants n JOIN chargebacks t ON t.tenant_id = n.id
			AND t.id = (SELECT x.id FROM chargebacks x WHERE x.tenant_id = n.id ORDER BY x.id DESC LIMIT 1)`,
	} {
		env.Exec(t, change)
	}
	for more := true; more; pieces++ {
		env.Exec(t, `UPDATE transactions SET amount_minor = amount_minor + 1 WHERE merchant_transaction_id LIKE '%7'`) // some of them are counted already
		var err error
		if more, err = env.Store.CountOlder(t.Context(), env.Now); err != nil {
			t.Fatal(err)
		}
	}
	return pieces
}

func sumUp(t *testing.T, env *storetest.Env) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = env.Store.SumUpDays(t.Context(), env.Now); err != nil {
			t.Fatal(err)
		}
	}
}

// What was there before the triggers is counted in pieces, while payments go on changing.
func TestWhatIsOlderIsCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		first, last := payment.DateOf(storetest.Start).AddDays(-400), payment.DateOf(storetest.Start).AddDays(400)
		var rows []payment.Transaction
		for i := range 2500 {
			tx := fullTransaction(shop.ID)
			tx.MerchantTransactionID, tx.TenantReferenceID, tx.Status = fmt.Sprint("TXN-", i), nil, rareStatus(i)
			rows = append(rows, tx)
		}
		env.InsertTransactions(t, rows)
		env.InsertChargebacks(t, []payment.Chargeback{fullChargeback(shop.ID)})
		pieces := recount(t, env)
		if got, want := countedAs(t, env, shop.ID, first, last), books(t, env, shop.ID, first, last); got != want || pieces < 4 {
			t.Errorf("in %d pieces are counted\n%s\nthe books say\n%s", pieces, got, want)
		}
	})
}
