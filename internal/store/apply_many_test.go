package store_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestManyChargebacks(t *testing.T) {
	t.Parallel()
	t.Run("come back as they were taken, with their effects", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testManyChargebacks)
	})
	t.Run("are not written when one of them rests on what has changed", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testStaleAmongMany)
	})
	t.Run("may tell a fee, and whose it is, in one report", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testAFeeBesideItsPayment)
	})
}

// hostile has what COPY and SQL give a meaning to.
const hostile = "a\tb\nc\rd\\N\\.'\"€"

// chargedBack is a payment taken back, ready to be written.
func chargedBack(t *testing.T, env *storetest.Env, paid payment.Debit) store.Applied {
	t.Helper()
	change, err := paid.ChargeBack(payment.Chargeback{
		Source: payment.ChargebackImported, ReasonCode: "AM04", ReasonMessage: hostile, ReportInfo: `\N`, BankFeeMinor: new(payment.Minor(3_50)),
	}, payment.Policy{}, env.Now)
	if err != nil {
		t.Fatal(err)
	}
	return store.Applied{Change: change, IsNew: true, Events: []store.EventRow{{Event: change.Events[0], Payload: hostile}}}
}

// unlinked is a chargeback of a payment that nobody knows.
func unlinked(env *storetest.Env, shop storetest.Shop, reference string) store.Applied {
	return store.Applied{IsNew: true, Change: payment.RecordUnlinked(payment.Chargeback{
		TenantID: shop.ID, GatewayID: shop.Gateway.ID, MerchantTransactionID: reference, AmountMinor: 5_00, Currency: "EUR",
		Source: payment.ChargebackImported,
	}, env.Now)}
}

func applyChargebacks(t *testing.T, env *storetest.Env, tenantID uuid.UUID, taken []store.Applied) error {
	t.Helper()
	return env.TryWrite(t, func(tx *store.Tx) error { return tx.ApplyAll(tenantID, taken) })
}

func testManyChargebacks(t *testing.T, env *storetest.Env) {
	shop := env.Shop(t)
	tenant := env.Store.Tenant(shop.ID)
	var taken []store.Applied
	var references []string
	for range 140 { // more than one statement names
		taken = append(taken, chargedBack(t, env, collected(t, env, shop, storetest.WithTerms(storetest.Monthly))))
	}
	waiting := unlinked(env, shop, "CB-1")
	late, err := collected(t, env, shop, storetest.WithTerms(storetest.Monthly)).LinkChargeback(*waiting.Chargeback, nil, payment.Policy{}, env.Now)
	if err != nil {
		t.Fatal(err)
	}
	taken = append(taken, waiting, store.Applied{Change: late})
	if err := applyChargebacks(t, env, shop.ID, taken); err != nil {
		t.Fatal(err)
	}
	for _, c := range slices.DeleteFunc(slices.Clone(taken), func(c store.Applied) bool { return c.Before.Transaction.ID == uuid.Nil }) {
		stored, err := tenant.Chargeback(t.Context(), c.Chargeback.ID)
		if err != nil {
			t.Fatal(err)
		}
		storetest.Equal(t, stored, *c.Chargeback)
		now := env.Debit(t, c.Before.Transaction)
		storetest.Equal(t, now.Transaction, c.Transaction)
		storetest.Equal(t, now.Subscription, c.Subscription)
		if now.Order.Status != payment.OrderChargedBack {
			t.Errorf("the order is %s", now.Order.Status)
		}
		references = append(references, c.Transaction.MerchantTransactionID)
	}
	if got := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM events WHERE payload = $1`, hostile); got != 140 {
		t.Errorf("%d events are as they were given", got)
	}
	if found, err := tenant.DebitsByMerchantID(t.Context(), references); err != nil || len(found) != 141 {
		t.Errorf("found %d payments, error %v", len(found), err)
	} else if !slices.ContainsFunc(found, func(c payment.Debit) bool {
		return c.Subscription != nil && c.Subscription.Status == payment.SubscriptionCancelled
	}) {
		t.Error("the payments came without their subscriptions")
	}
}

func testStaleAmongMany(t *testing.T, env *storetest.Env) {
	shop := env.Shop(t)
	first, second := chargedBack(t, env, collected(t, env, shop)), chargedBack(t, env, collected(t, env, shop))
	third := unlinked(env, shop, "CB-1")
	for name, elsewhere := range map[string]store.Applied{
		"a payment that was charged back":      first,
		"a chargeback that is recorded by now": third,
	} {
		if err := applyChargebacks(t, env, shop.ID, []store.Applied{elsewhere}); err != nil {
			t.Fatal(err)
		}
		before := env.Dump(t)
		again := elsewhere
		again.Chargeback = new(*elsewhere.Chargeback)
		again.Chargeback.ID = payment.NewID()
		if elsewhere.Before.Transaction.ID != uuid.Nil {
			again.Chargeback.MerchantTransactionID = "CB-2"
		}
		err := applyChargebacks(t, env, shop.ID, []store.Applied{second, again})
		if !errors.Is(err, store.ErrStale) {
			t.Errorf("%s gave %v", name, err)
		}
		if env.Dump(t) != before {
			t.Errorf("%s: something was written", name)
		}
	}
}

// TestManyAnswersEndTheirSessions: what changes more than a payment's status is written with all of it, though many come
// together.
func TestManyAnswersEndTheirSessions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		var taken []store.Applied
		for range 3 {
			answered := env.Decide(t, env.Attempt(t, env.Session(t, shop, storetest.WithTerms(storetest.Monthly))), approved)
			taken = append(taken, store.Applied{Change: answered, Events: storetest.Events(answered)})
		}
		if err := applyChargebacks(t, env, shop.ID, taken); err != nil {
			t.Fatal(err)
		}
		for _, c := range taken {
			now := env.Debit(t, c.Transaction)
			storetest.Equal(t, now.Session, c.Session)
			storetest.Equal(t, now.Transaction, c.Transaction)
		}
	})
}

// TestAnOrderThatHasMovedHoldsUpManyChanges: none of those that come together is written.
func TestAnOrderThatHasMovedHoldsUpManyChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		first, second := chargedBack(t, env, collected(t, env, shop)), chargedBack(t, env, collected(t, env, shop))
		env.Exec(t, `UPDATE orders SET status = 'refunded' WHERE id = $1`, second.Order.ID.String())
		before := env.Dump(t)
		if err := applyChargebacks(t, env, shop.ID, []store.Applied{first, second}); !errors.Is(err, store.ErrStale) || env.Dump(t) != before {
			t.Errorf("gave %v", err)
		}
	})
}

// testAFeeBesideItsPayment has one line name a bank's charges of a chargeback that nobody could place, and the next its payment, which
// has the same charges by then. That is no reason to begin anew, and neither is who tells of less.
func testAFeeBesideItsPayment(t *testing.T, env *storetest.Env) {
	shop := env.Shop(t)
	paid := collected(t, env, shop, storetest.WithTerms(storetest.Monthly)) // older than the chargeback, and written before it
	waiting := unlinked(env, shop, "CB-1")
	if err := applyChargebacks(t, env, shop.ID, []store.Applied{waiting}); err != nil {
		t.Fatal(err)
	}
	charged, less := *waiting.Chargeback, *waiting.Chargeback
	charged.BankFeeMinor, less.BankFeeMinor = new(payment.Minor(3_00)), new(payment.Minor(1_00))
	linked, err := paid.LinkChargeback(charged, nil, payment.Policy{}, env.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range [][]store.Applied{
		{{Change: payment.Change{Fee: &charged}}, {Change: linked}},
		{{Change: payment.Change{Fee: &less}}},
	} {
		if err := applyChargebacks(t, env, shop.ID, report); err != nil {
			t.Error(err)
		}
		stored, err := env.Store.Tenant(shop.ID).ChargebackByMerchantID(t.Context(), "CB-1")
		if err != nil || stored == nil || stored.TransactionID == nil || stored.BankFeeMinor == nil || *stored.BankFeeMinor != 3_00 {
			t.Errorf("stored is %+v, %v", stored, err)
		}
	}
}
