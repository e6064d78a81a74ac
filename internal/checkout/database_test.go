package checkout_test

import (
	"context"
	"strings"
	"testing"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// without takes a table away for as long as something is done, so that the database fails
// whoever needs it.
func without(t *testing.T, till *checkouttest.Till, table string, act func()) {
	t.Helper()
	till.Env.Exec(t, `ALTER TABLE `+table+` RENAME TO hidden`)
	defer till.Env.Exec(t, `ALTER TABLE hidden RENAME TO `+table)
	act()
}

// TestADatabaseThatFailsIsNoAnswer: nobody is told that something is done, or that there
// is nothing to do, because it could not be read or written.
func TestADatabaseThatFailsIsNoAnswer(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		// What is told in full reads more, which may fail as well.
		till.Env.WebhookProfile(t, till.Shop.ID, func(p *merchant.WebhookProfile) { *p = till.Shop.Profile; p.FullPayload = true })
		rebill := rebilling(t, till)
		open, setup := till.Unknown(t), till.Setup(t, till.Shop)
		for _, c := range []struct {
			name, table string
			act         func(context.Context) error
		}{
			{"open rebills", "transactions", till.AskAboutRebills},
			{"what an earlier process left open", "transactions", func(ctx context.Context) error {
				_, err := till.LeftOpen(ctx, till.World.Now(), till.World.Now())
				return err
			}},
			{"what is told of a rebill", "sessions", func(ctx context.Context) error {
				return till.SettleRebill(ctx, setup, rebill, approved)
			}},
			{"what is due next", "sessions", func(ctx context.Context) error {
				_, _, err := till.NextDue(ctx, till.Time.Now())
				return err
			}},
			{"a notification", "transactions", func(ctx context.Context) error {
				till.Gateway.Report(noticeOf(open, approved))
				_, err := till.Notify(ctx, till.Shop.Gateway.ID, gateway.Notification{})
				return err
			}},
			{"a notification's effect", "events", func(ctx context.Context) error {
				till.Gateway.Report(noticeOf(open, approved))
				_, err := till.Notify(ctx, till.Shop.Gateway.ID, gateway.Notification{})
				return err
			}},
			{"reported chargebacks", "chargebacks", func(ctx context.Context) error {
				_, err := till.TakeChargebacks(ctx, setup, checkout.ChargebackReport{
					GatewayID: till.Shop.Gateway.ID, Chargebacks: []checkout.ReportedChargeback{report(open.Transaction)},
				})
				return err
			}},
			{"reported outcomes", "transactions", func(ctx context.Context) error {
				_, err := till.SettleReported(ctx, setup, []checkout.Report{{TransactionID: open.Transaction.ID, Outcome: approved}})
				return err
			}},
		} {
			without(t, till, c.table, func() {
				if err := c.act(t.Context()); err == nil {
					t.Errorf("%s: no word of it", c.name)
				}
			})
		}
	})
}

// TestAChargebackThatNobodyCouldBeToldOfIsNotTaken: what its merchant has attached to the purchase cannot be read.
func TestAChargebackThatNobodyCouldBeToldOfIsNotTaken(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		till.Env.WebhookProfile(t, till.Shop.ID, func(p *merchant.WebhookProfile) { *p = till.Shop.Profile; p.FullPayload = true })
		paid, setup := till.Paid(t, approved).Transaction, till.Setup(t, till.Shop)
		till.Env.Exec(t, `ALTER TABLE sessions RENAME COLUMN options TO hidden`)
		_, err := till.TakeChargebacks(t.Context(), setup, checkout.ChargebackReport{
			GatewayID: till.Shop.Gateway.ID, Chargebacks: []checkout.ReportedChargeback{report(paid)},
		})
		if err == nil || till.Env.Count(t, "chargebacks") != 0 {
			t.Errorf("%d chargebacks were taken: %v", till.Env.Count(t, "chargebacks"), err)
		}
	})
}

// TestAnEndThatNobodyCouldBeToldOfIsNotMade: what is to be told in full holds what nobody can read any more.
func TestAnEndThatNobodyCouldBeToldOfIsNotMade(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		till.Env.WebhookProfile(t, till.Shop.ID, func(p *merchant.WebhookProfile) { *p = till.Shop.Profile; p.FullPayload = true })
		session := till.Session(t).Session
		till.Env.Exec(t, `UPDATE sessions SET options = '{"metadata":"{"}' WHERE id = $1`, session.ID.String())
		if _, err := till.Cancel(t.Context(), till.Shop.ID, session.Token); err == nil || payment.KindOf(err) != 0 {
			t.Errorf("no word of it: %v", err)
		}
		if s := till.Env.Find(t, session.Token).Session; s.Status != payment.SessionPending {
			t.Errorf("the session is %s", s.Status)
		}
	})
}

// TestASessionThatCouldNotBeReadIsNotMissing: its merchant would take it for one that never was.
func TestASessionThatCouldNotBeReadIsNotMissing(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		session := till.Session(t).Session
		without(t, till, "sessions", func() {
			for _, name := range []string{session.Token, session.ID.String()} {
				if _, err := till.Cancel(t.Context(), till.Shop.ID, name); err == nil || payment.KindOf(err) == payment.NotFound {
					t.Errorf("by %s: %v", name[:7], err)
				}
			}
		})
		till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.Name = "read anew" })
		without(t, till, "setup_records", func() {
			if shown, err := till.Retrieve(t.Context(), session.Token); err == nil || payment.KindOf(err) != 0 {
				t.Errorf("without what it was sold by it shows %+v: %v", shown, err)
			}
		})
	})
}

// TestAPaymentThatCouldNotBeLookedForAgain may have come in together with its chargeback: whoever reported that
// reports it again.
func TestAPaymentThatCouldNotBeLookedForAgain(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		_, err := till.TakeChargebacks(t.Context(), till.Setup(t, till.Shop), checkout.ChargebackReport{
			GatewayID:   till.Shop.Gateway.ID,
			Chargebacks: []checkout.ReportedChargeback{report(payment.Transaction{MerchantTransactionID: "TXN-ELSEWHERE", AmountMinor: 100, Currency: "EUR"})},
			Along:       func(tx *store.Tx) { tx.Then(`ALTER TABLE transactions RENAME TO hidden`) },
		})
		till.Env.Exec(t, `ALTER TABLE hidden RENAME TO transactions`)
		if err == nil || till.Env.Count(t, "chargebacks") != 1 {
			t.Errorf("no word of it, and %d chargebacks", till.Env.Count(t, "chargebacks"))
		}
	})
}

// TestAnAnswerThatCouldNotBeWrittenIsNotToldAsWritten: the payer hears that the outcome is
// not known, and the gateway is asked later.
func TestAnAnswerThatCouldNotBeWrittenIsNotToldAsWritten(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		till.Gateway.Answer(approved)
		till.Gateway.During(func(context.Context) { till.Env.Exec(t, `ALTER TABLE events RENAME TO hidden`) })
		if _, err := till.Pay(t.Context(), till.Payment(found)); err == nil {
			t.Error("it is told as paid")
		}
		till.Gateway.During(nil)
		till.Env.Exec(t, `ALTER TABLE hidden RENAME TO events`)
		if s := till.Env.Find(t, found.Session.Token).Session; !s.InFlight() {
			t.Fatalf("the session is %s", s.Status)
		}
		till.World.Pass(silence)
		if _, err := till.RunLookups(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := till.Env.Find(t, found.Session.Token).Session; s.Status != payment.SessionCompleted {
			t.Errorf("asked later, the session is %s", s.Status)
		}
	})
}

// TestAnAnswerToARefundThatCouldNotBeWrittenIsNotToldAsWritten, and the money stays set aside until the gateway is asked.
func TestAnAnswerToARefundThatCouldNotBeWrittenIsNotToldAsWritten(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved).Transaction
		till.Gateway.During(func(context.Context) { till.Env.Exec(t, `ALTER TABLE events RENAME TO hidden`) })
		_, err := till.Refund(t.Context(), till.Shop.ID, paid.ID, checkout.RefundRequest{}, store.RequestKey{})
		till.Env.Exec(t, `ALTER TABLE hidden RENAME TO events`)
		if d := till.Debit(t, paid.ID).Transaction; err == nil || d.RefundedMinor != 0 || d.RefundingMinor != paid.AmountMinor {
			t.Errorf("%s are given back and %s set aside: %v", d.RefundedMinor, d.RefundingMinor, err)
		}
	})
}

// TestAnUnknownOutcomeThatCouldNotBeWrittenDownIsToldOf: the payer hears that the outcome is not known, the operator that
// nobody wrote it down, and the claim's own date has the gateway asked all the same.
func TestAnUnknownOutcomeThatCouldNotBeWrittenDownIsToldOf(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		till.Gateway.Silence()
		till.Gateway.During(func(context.Context) { till.Env.Exec(t, `ALTER TABLE transactions RENAME TO hidden`) })
		_, err := till.Pay(t.Context(), till.Payment(found))
		till.Env.Exec(t, `ALTER TABLE hidden RENAME TO transactions`)
		if payment.KindOf(err) != payment.OutcomeUnknown {
			t.Errorf("the payer hears %v", err)
		}
		if !strings.Contains(till.Log(), "an unknown outcome could not be scheduled") {
			t.Errorf("the operator hears %q", till.Log())
		}
		till.Gateway.Answer(approved)
		till.World.Pass(silence)
		if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
			t.Errorf("asked about %d: %v", n, err)
		}
	})
}

// TestNobodyIsAskedBeforeItIsWrittenDown: a question whose date could not be written would be
// asked over and over, by every process.
func TestNobodyIsAskedBeforeItIsWrittenDown(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	open := till.Unknown(t)
	till.Gateway.Answer(approved)
	till.World.Pass(silence)
	till.Env.Exec(t, `CREATE TRIGGER full BEFORE UPDATE ON transactions BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
	_, _ = till.RunLookups(t.Context()) // what fails is set aside
	if asked := till.Gateway.Asked(); len(asked) != 0 {
		t.Errorf("it was asked %d times", len(asked))
	}
	if d := till.Debit(t, open.Transaction.ID); !d.Transaction.InFlight() {
		t.Errorf("the payment is %s", d.Transaction.Status)
	}
}
