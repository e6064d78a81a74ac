package checkout_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/gateway/adapters"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// still is a service's time that does not pass.
type still time.Time

func (s still) Now() time.Time { return time.Time(s) }

// till is where payments are made.
type till struct {
	*checkout.Checkout
	env *storetest.Env
}

func newTill(env *storetest.Env) till {
	logger := slog.New(slog.DiscardHandler)
	kinds := adapters.All(ledgerdb.New(env.Store.DB, env.Vault), sandbox.Options{PublicURL: "http://pay.example"})
	return till{env: env, Checkout: &checkout.Checkout{
		Store: env.Store, Vault: env.Vault, Banks: sepa.EmbeddedBanks, Clock: still(env.Now), Real: clock.Real{}, Own: clock.Own{}, Logger: logger,
		Gateways:    gateway.NewPool(kinds, gateway.Options{Timeout: time.Minute, Logger: logger}),
		Environment: merchant.Sandbox, GatewayTimeout: time.Minute, LookupSchedule: []time.Duration{time.Hour},
	}}
}

// repeatTheDice has every random choice from here on made as after the last call.
func repeatTheDice(t *testing.T) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, 4711)
}

// pay pays a new session of a shop with the same dice as every time.
func (c till) pay(t *testing.T, shop storetest.Shop) payment.Debit {
	t.Helper()
	result, err := c.tryToPay(t, c.env.Session(t, shop))
	if err != nil || result.Status != payment.ResultCompleted {
		t.Fatalf("the payment is %q: %v", result.Status, err)
	}
	return result.Debit
}

func (c till) tryToPay(t *testing.T, found store.Found) (checkout.Result, error) {
	t.Helper()
	iban, err := sepa.ParseIBAN(storetest.IBAN)
	if err != nil {
		t.Fatal(err)
	}
	repeatTheDice(t)
	return c.Pay(t.Context(), checkout.Payment{
		Token: found.Session.Token, Source: payment.SourceAPI, Instrument: payment.Instrument{IBAN: iban, HolderName: "Anna Müller"},
	})
}

// refund gives a part of a payment back, the same every time.
func (c till) refund(t *testing.T, paid payment.Debit) string {
	t.Helper()
	amount := payment.Minor(100)
	refund, err := c.Refund(t.Context(), paid.Session.TenantID, paid.Transaction.ID, checkout.RefundRequest{AmountMinor: &amount}, store.RequestKey{})
	if err != nil || refund.Status != payment.TransactionApproved {
		t.Fatalf("the refund is %q: %v", refund.Status, err)
	}
	return refund.MerchantTransactionID
}

// TestACollidingReferenceIsRetried is not parallel, nor are its parts: the dice
// belong to the whole process.
func TestACollidingReferenceIsRetried(t *testing.T) { //nolint:paralleltest // see above
	for _, engine := range []struct {
		name string
		open func(testing.TB) *storetest.Env
	}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}} {
		t.Run(engine.name, func(t *testing.T) {
			env := engine.open(t)
			c, shop, other := newTill(env), env.Shop(t), env.Shop(t)
			first, elsewhere := c.pay(t, shop), c.pay(t, other)
			if first.Transaction.MerchantTransactionID != elsewhere.Transaction.MerchantTransactionID || first.Order.Number != elsewhere.Order.Number {
				t.Fatalf("the dice fell differently: %s and %s", first.Transaction.MerchantTransactionID, elsewhere.Transaction.MerchantTransactionID)
			}
			t.Run("a payment takes new references where its own are taken", func(t *testing.T) {
				second := c.pay(t, shop)
				wantOther(t, "TXN-", first.Transaction.MerchantTransactionID, second.Transaction.MerchantTransactionID)
				wantOther(t, "ORD-", first.Order.Number, second.Order.Number)
			})
			t.Run("a payment for which no reference is found is not made", func(t *testing.T) {
				for range 10 {
					found := env.Session(t, shop)
					result, err := c.tryToPay(t, found)
					if err == nil && result.Status == payment.ResultCompleted {
						continue
					}
					if s := env.Find(t, found.Session.Token).Session; !store.IsReferenceCollision(err) || s.LastTransactionID != nil {
						t.Errorf("gave %v", err)
					}
					return
				}
				t.Error("the dice always fell on another one")
			})
			t.Run("a refund takes a new reference where its own is taken", func(t *testing.T) {
				wantOther(t, "TXN-", c.refund(t, first), c.refund(t, first))
			})
		})
	}
}

func wantOther(t *testing.T, prefix, taken, got string) {
	t.Helper()
	if got == taken || !strings.HasPrefix(got, prefix) {
		t.Errorf("the reference is %s where %s was taken", got, taken)
	}
}
