package store_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// collected is a payment that was taken, as its transaction is read.
func collected(t *testing.T, env *storetest.Env, shop storetest.Shop, change ...func(*storetest.Draft)) payment.Debit {
	t.Helper()
	outcome := payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "GW-" + payment.NewID().String()}
	paid := env.Settle(t, env.Attempt(t, env.Session(t, shop, change...)), outcome)
	return env.Debit(t, paid.Transaction)
}

// moneyReads are those about what happens after a payment.
func moneyReads(t *testing.T, env *storetest.Env, shop storetest.Shop) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	paid := collected(t, env, shop)
	imported := anImport(env, shop)
	env.Write(t, func(tx *store.Tx) error {
		tx.PutImport(imported)
		tx.AddRejections(imported, []store.Rejection{{Line: 2, Reason: "unreadable"}})
		return nil
	})
	reads := chargebackReads(t, env, shop, paid.Transaction)
	maps.Copy(reads, map[string]func(context.Context, store.Tenant) int{
		"Import": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Import(ctx, imported.ID)
			return found(true, err)
		},
		"Rejections": func(ctx context.Context, scope store.Tenant) int {
			rejected, err := scope.Rejections(ctx, imported.ID, 0, 10)
			return found(len(rejected) > 0, err)
		},
		"DebitOf": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.DebitOf(ctx, *paid.Session, paid.Transaction.ID)
			return found(true, err)
		},
		"Debit": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Debit(ctx, paid.Transaction.ID)
			return found(true, err)
		},
		"DebitByMerchantID": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.DebitByMerchantID(ctx, paid.Transaction.MerchantTransactionID)
			return found(true, err)
		},
		"DebitByGatewayReference": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.DebitByGatewayReference(ctx, shop.Gateway.ID, paid.Transaction.GatewayReference)
			return found(true, err)
		},
		"Transaction": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Transaction(ctx, paid.Transaction.ID)
			return found(true, err)
		},
		"DebitsByMerchantID": func(ctx context.Context, scope store.Tenant) int {
			all, err := scope.DebitsByMerchantID(ctx, []string{paid.Transaction.MerchantTransactionID})
			return found(len(all) > 0, err)
		},
		"DebitsByGatewayReference": func(ctx context.Context, scope store.Tenant) int {
			all, err := scope.DebitsByGatewayReference(ctx, shop.Gateway.ID, []string{paid.Transaction.GatewayReference})
			return found(len(all) > 0, err)
		},
	})
	return reads
}

// chargebackReads are those about chargebacks of a payment, and of one that is not known yet.
func chargebackReads(t *testing.T, env *storetest.Env, shop storetest.Shop, paid payment.Transaction) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	waiting, linked := unlinked(env, shop, "CB-1").Change, unlinked(env, shop, "CB-2").Change
	waiting.Chargeback.GatewayReference = paid.GatewayReference
	for _, change := range []payment.Change{waiting, linked} {
		if err := env.Apply(t, change); err != nil {
			t.Fatal(err)
		}
	}
	env.Exec(t, `UPDATE chargebacks SET transaction_id = $1 WHERE id = $2`, paid.ID.String(), linked.Chargeback.ID.String())
	return map[string]func(context.Context, store.Tenant) int{
		"Chargeback": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Chargeback(ctx, waiting.Chargeback.ID)
			return found(true, err)
		},
		"ChargebackByMerchantID": func(ctx context.Context, scope store.Tenant) int {
			known, err := scope.ChargebackByMerchantID(ctx, "CB-1")
			return found(known != nil, err)
		},
		"ChargebacksByMerchantID": func(ctx context.Context, scope store.Tenant) int {
			all, err := scope.ChargebacksByMerchantID(ctx, []string{"CB-1"})
			return found(len(all) > 0, err)
		},
		"ChargebacksOf": func(ctx context.Context, scope store.Tenant) int {
			all, err := scope.ChargebacksOf(ctx, []uuid.UUID{paid.ID})
			return found(len(all) > 0, err)
		},
		"UnlinkedChargeback": func(ctx context.Context, scope store.Tenant) int {
			known, err := scope.UnlinkedChargeback(ctx, paid)
			return found(known != nil, err)
		},
	}
}

func anImport(env *storetest.Env, shop storetest.Shop) store.Import {
	return store.Import{ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Kind: "transactions", Status: store.ImportRunning, CreatedAt: env.Now}
}

func TestMoneyBack(t *testing.T) {
	t.Parallel()
	t.Run("a refund comes back as it was claimed and settled", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testRefundRoundTrip)
	})
	t.Run("a change on what has changed meanwhile writes nothing", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testStaleChange)
	})
	t.Run("a chargeback comes back as it was recorded, once", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testChargebackRoundTrip)
	})
	t.Run("a processor's id that two payments have finds neither", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testAmbiguousReference)
	})
}

func testRefundRoundTrip(t *testing.T, env *storetest.Env) {
	paid := collected(t, env, env.Shop(t), storetest.WithTerms(storetest.Monthly))
	claimed, err := paid.BeginRefund(new(payment.Minor(10_00)), env.Now)
	if err != nil {
		t.Fatal(err)
	}
	env.Write(t, func(tx *store.Tx) error {
		tx.ClaimRefund(claimed)
		return nil
	})
	env.Written(&claimed.Refund.Attempt)
	stored := env.Debit(t, paid.Transaction)
	storetest.Equal(t, stored.Transaction, claimed.Transaction)
	refund := env.Debit(t, *claimed.Refund).Transaction
	storetest.Equal(t, refund, *claimed.Refund)
	due, err := env.Store.LookupsDue(t.Context(), env.Now, 10)
	if err != nil || len(due) != 1 || due[0].ID != refund.ID || due[0].Type != payment.Refund {
		t.Fatalf("due are %v, error %v", due, err)
	}
	stored.Refund = &refund
	settled := env.Settle(t, stored, payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "R-1"})
	storetest.Equal(t, env.Debit(t, refund).Transaction, *settled.Refund)
	after := env.Debit(t, paid.Transaction)
	storetest.Equal(t, after.Transaction, settled.Transaction)
	if after.Subscription.RevenueMinor != 19_99 {
		t.Errorf("the revenue is %s", after.Subscription.RevenueMinor)
	}
}

func testStaleChange(t *testing.T, env *storetest.Env) {
	paid := collected(t, env, env.Shop(t))
	refund, err := paid.BeginRefund(nil, env.Now)
	if err != nil {
		t.Fatal(err)
	}
	chargeback, err := paid.ChargeBack(payment.Chargeback{Source: payment.ChargebackManual}, payment.Policy{}, env.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Apply(t, chargeback); err != nil {
		t.Fatal(err)
	}
	before := env.Dump(t)
	err = env.TryWrite(t, func(tx *store.Tx) error {
		tx.ClaimRefund(refund)
		return nil
	})
	if !errors.Is(err, store.ErrStale) {
		t.Errorf("claiming gave %v", err)
	}
	if err := env.Apply(t, chargeback); !errors.Is(err, store.ErrStale) {
		t.Errorf("charging back again gave %v", err)
	}
	if env.Dump(t) != before {
		t.Error("something was written")
	}
}

func testChargebackRoundTrip(t *testing.T, env *storetest.Env) {
	paid := collected(t, env, env.Shop(t))
	report := payment.Chargeback{
		Source: payment.ChargebackImported, ReasonCode: "AM04", ReasonMessage: "no money", ReportType: "return",
		ReportMessage: "m", ReportInfo: "i", ARN: "a", BankFeeMinor: new(payment.Minor(3_50)),
	}
	change, err := paid.ChargeBack(report, payment.Policy{}, env.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Apply(t, change); err != nil {
		t.Fatal(err)
	}
	stored, err := env.Store.Tenant(paid.Transaction.TenantID).Chargeback(t.Context(), change.Chargeback.ID)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Equal(t, stored, *change.Chargeback)
	again := payment.RecordUnlinked(*change.Chargeback, env.Now)
	if err := env.Apply(t, again); !errors.Is(err, store.ErrStale) {
		t.Errorf("the same from another source gave %v", err)
	}
}

func testAmbiguousReference(t *testing.T, env *storetest.Env) {
	shop := env.Shop(t)
	first, second := collected(t, env, shop), collected(t, env, shop)
	tenant, reference := env.Store.Tenant(shop.ID), first.Transaction.GatewayReference
	if found, err := tenant.DebitByGatewayReference(t.Context(), shop.Gateway.ID, reference); err != nil || found.Transaction.ID != first.Transaction.ID {
		t.Errorf("found %v, error %v", found.Transaction, err)
	}
	env.Exec(t, "UPDATE transactions SET gateway_reference = $1 WHERE id = $2", reference, second.Transaction.ID.String())
	if _, err := tenant.DebitByGatewayReference(t.Context(), shop.Gateway.ID, reference); !errors.Is(err, store.ErrNoTransaction) {
		t.Errorf("two payments gave %v", err)
	}
	if found, err := tenant.DebitsByGatewayReference(t.Context(), shop.Gateway.ID, []string{reference}); err != nil || len(found) != 0 {
		t.Errorf("two payments gave %d among many, error %v", len(found), err)
	}
	env.Exec(t, "UPDATE transactions SET gateway_id = $1 WHERE id = $2", payment.NewID().String(), second.Transaction.ID.String())
	if found, err := tenant.DebitByGatewayReference(t.Context(), shop.Gateway.ID, reference); err != nil || found.Transaction.ID != first.Transaction.ID {
		t.Errorf("one through another gateway is in the way: %v", err)
	}
	if found, err := tenant.DebitsByGatewayReference(t.Context(), shop.Gateway.ID, []string{reference}); err != nil || len(found) != 1 {
		t.Errorf("one through another gateway gave %d among many, error %v", len(found), err)
	}
}
