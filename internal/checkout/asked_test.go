package checkout_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// rebilling is a rebill of which nobody knows what became.
func rebilling(t *testing.T, till *checkouttest.Till) payment.Debit {
	t.Helper()
	sub := till.Subscribed(t)
	till.Time.Set(sub.NextBillingDate.Start())
	due, err := till.Store.Tenant(sub.TenantID).DueSubscription(t.Context(), sub.ID)
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := payment.BeginRebill(due.Subscription, due.First, payment.DateOf(till.Time.Now()), till.Time.Now())
	if err != nil {
		t.Fatal(err)
	}
	claimed.Transaction.Attempt.Silence = silence
	till.Env.Write(t, func(tx *store.Tx) error {
		tx.ClaimRebill(claimed, due.SealedIBAN)
		return nil
	})
	client, _, err := till.Account(till.Setup(t, till.Shop), claimed.Transaction.GatewayID)
	if err != nil {
		t.Fatal(err)
	}
	till.RebillUnknown(t.Context(), client, claimed.Transaction)
	return till.Debit(t, claimed.Transaction.ID)
}

// TestWhatIsOpenIsAskedAboutAtOnce: when the sandbox's clock is moved, and after a restore. What cannot be settled is
// said, and is not held for done.
func TestWhatIsOpenIsAskedAboutAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open   func(*testing.T, *checkouttest.Till) payment.Debit
		ask    func(*checkouttest.Till, context.Context) error
		change func(*checkouttest.Gateway)
	}{
		"rebills inside the process": {
			rebilling, func(till *checkouttest.Till, ctx context.Context) error { return till.AskAboutRebills(ctx) }, checkouttest.WithSandboxRules,
		},
		"all payments": {
			func(t *testing.T, till *checkouttest.Till) payment.Debit { t.Helper(); return till.Unknown(t) },
			func(till *checkouttest.Till, ctx context.Context) error { return till.AskAboutAllOpen(ctx) }, func(*checkouttest.Gateway) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
				open := []payment.Debit{c.open(t, till), c.open(t, till)}
				till.Gateway.Answer(approved)
				without(t, till, "events", func() {
					if err := c.ask(till, t.Context()); err == nil {
						t.Error("nothing could be written, and no error")
					}
				})
				till.World.Pass(time.Hour)
				if err := c.ask(till, t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, one := range open {
					if d := till.Debit(t, one.Transaction.ID); d.Transaction.Status != payment.TransactionApproved {
						t.Errorf("a payment is %s", d.Transaction.Status)
					}
				}
			}, c.change)
		})
	}
}

// TestAGatewayThatCannotBeCalledIsAsSilentAsOneThatIsDown: its adapter is not known to this process, say.
func TestAGatewayThatCannotBeCalledIsAsSilentAsOneThatIsDown(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		open := till.Unknown(t)
		till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.Adapter = "of another version" })
		till.World.Pass(silence)
		if n, err := till.RunLookups(t.Context()); n != 1 || err != nil || till.Aside.Len(till.World.Now()) != 0 {
			t.Errorf("asked about %d, %d set aside: %v", n, till.Aside.Len(till.World.Now()), err)
		}
		if d := till.Debit(t, open.Transaction.ID); !d.Transaction.InFlight() || !strings.Contains(till.Log(), "cannot be asked about its payments") {
			t.Errorf("the payment is %s, and nobody is told", d.Transaction.Status)
		}
	})
}

// TestNobodyIsCalledBeforeTheScheduleIsThrough: a server that was down for a day asks first.
func TestNobodyIsCalledBeforeTheScheduleIsThrough(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	till.Unknown(t)
	till.Time.Pass(25 * time.Hour)
	for lookup, called := range []bool{false, true} {
		till.World.Pass(time.Hour)
		if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
			t.Fatalf("asked about %d: %v", n, err)
		}
		if got := strings.Contains(till.Log(), "needs a person"); got != called {
			t.Errorf("after question %d somebody is called: %t", lookup+1, got)
		}
	}
}

// TestWhatWasSetAsideIsForgottenOnceItIsDone also holds that it is left alone until then.
func TestWhatWasSetAsideIsForgottenOnceItIsDone(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		till.Session(t, storetest.ExpiresIn(time.Minute))
		till.Time.Pass(time.Minute)
		expire := func(done, failed int) {
			t.Helper()
			if n, err := till.RunDue(t.Context(), till.Time.Now()); n != done || err != nil || till.Aside.Len(till.World.Now()) != failed {
				t.Errorf("%d were done, %d set aside: %v", n, till.Aside.Len(till.World.Now()), err)
			}
		}
		without(t, till, "leads", func() { expire(0, 1) })
		expire(0, 1)
		till.World.Pass(time.Minute)
		if n := till.Aside.Len(till.World.Now()); n != 0 {
			t.Errorf("%d are set aside whose time is over", n)
		}
		expire(1, 0)
		if n := till.Aside.Total(); n != 1 {
			t.Errorf("it was set aside %d times", n)
		}
	})
}

func TestWhatFallsDueNext(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		now := till.Time.Now()
		next := func(want time.Time) {
			t.Helper()
			if at, found, err := till.NextDue(t.Context(), now); err != nil || found == want.IsZero() || !at.Equal(want) {
				t.Errorf("the next is at %s, want %s: %v", at, want, err)
			}
		}
		next(time.Time{})
		paid := till.Paid(t, payment.Outcome{Verdict: payment.VerdictPending, SettlesAt: now.Add(time.Hour)})
		next(now.Add(time.Hour))
		till.Gateway.Announce(paid.Transaction, now.Add(2*time.Hour))
		next(now.Add(time.Hour))
		till.Gateway.Announce(paid.Transaction, now.Add(time.Minute))
		next(now.Add(time.Minute))
	}, checkouttest.WithSandboxRules)
}

func TestMoneyMovesOnlyInProductionThroughARealGateway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		environment merchant.Environment
		testMode    bool
		change      func(*checkouttest.Gateway)
		want        bool
	}{
		{"all of it", merchant.Production, false, func(*checkouttest.Gateway) {}, true},
		{"a sandbox", merchant.Sandbox, false, func(*checkouttest.Gateway) {}, false},
		{"an account for tests", merchant.Production, true, func(*checkouttest.Gateway) {}, false},
		{"a gateway inside the process", merchant.Production, false, checkouttest.WithSandboxRules, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			till := checkouttest.Open(t, storetest.SQLite(t), c.change)
			till.Environment = c.environment
			till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.TestMode = c.testMode })
			if got := till.Paid(t, approved).Livemode; got != c.want {
				t.Errorf("it is said that money moves: %t", got)
			}
		})
	}
}

// TestACollectionIsMovedToAnotherDay tells of it, and once.
func TestACollectionIsMovedToAnotherDay(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup, paid := till.Setup(t, till.Shop), till.Paid(t, payment.Outcome{Verdict: payment.VerdictPending})
		to := paid.Transaction.DueDate.AddDays(4)
		for range 2 {
			if err := till.Redate(t.Context(), setup, paid.Transaction.ID, to); err != nil {
				t.Fatal(err)
			}
		}
		told := till.Events(t)[payment.EventCollectionAnnounced]
		if d := till.Debit(t, paid.Transaction.ID).Transaction; d.DueDate != to || told != 2 {
			t.Errorf("it is collected on %s, want %s; told %d times", d.DueDate, to, told)
		}
	}, checkouttest.WithNotice(3))
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, pending)
		if err := till.Redate(t.Context(), till.Setup(t, till.Shop), paid.Transaction.ID, payment.DateOf(till.Time.Now())); err == nil {
			t.Error("a gateway that plans nothing moves a collection")
		}
	})
}

// TestAPaymentThatComesWithItsChargebackIsFound: whoever brought it in has looked for a chargeback that was not there yet.
func TestAPaymentThatComesWithItsChargebackIsFound(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup := till.Setup(t, till.Shop)
		var found [2]payment.Transaction
		var reports []checkout.ReportedChargeback
		for i, name := range []string{"TXN-1", "TXN-2"} {
			found[i] = payment.BringIn(payment.Transaction{
				TenantID: till.Shop.ID, GatewayID: till.Shop.Gateway.ID, MerchantTransactionID: name, AmountMinor: 5_00, Currency: "EUR",
			}, approved, payment.SourceImport, till.Time.Now()).Transaction
			found[i].GatewayReference = "GW-" + name
			reports = append(reports, report(found[i]))
		}
		_, err := till.TakeChargebacks(t.Context(), setup, checkout.ChargebackReport{
			GatewayID: till.Shop.Gateway.ID, Chargebacks: reports,
			Along: func(tx *store.Tx) {
				for _, one := range found {
					tx.AddTransaction(one, nil)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range found {
			if d := till.Debit(t, one.ID); !d.Transaction.IsChargedBack() {
				t.Errorf("%s is %s", one.MerchantTransactionID, d.Transaction.Status)
			}
		}
	})
}
