package checkout_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestWhatIsInterruptedSaysSo ends the caller's context at every step of each use
// case in turn. Whoever is told of success finds the effect; whoever is told of a
// failure finds that nothing was sent, or that it is being asked about.
func TestWhatIsInterruptedSaysSo(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		statusOf := statusIn(till)
		// What is told reads more, which may fail as well.
		till.Env.WebhookProfile(t, till.Shop.ID, func(p *merchant.WebhookProfile) { *p = till.Shop.Profile; p.FullPayload = true })
		t.Run("pay", func(t *testing.T) {
			found, sent := till.Session(t), len(till.Gateway.Submitted())
			till.Gateway.Answer(approved)
			through := false
			checkouttest.Interrupt(t, func(ctx context.Context) error {
				_, err := till.Pay(ctx, till.Payment(found))
				through = err == nil
				return err
			}, func(err error) bool {
				if len(till.Gateway.Submitted()) != sent {
					t.Errorf("a payment was sent and reported as failed: %v", err)
				}
				return till.Env.Find(t, found.Session.Token).Session.InFlight()
			})
			if s := till.Env.Find(t, found.Session.Token).Session; through != (s.Status == payment.SessionCompleted) {
				t.Errorf("through: %t, the session is %s", through, s.Status)
			}
		})
		t.Run("verify", func(t *testing.T) {
			awaiting := till.Paid(t, storetest.Verification)
			till.Gateway.Answer(approved)
			through := false
			checkouttest.Interrupt(t, func(ctx context.Context) error {
				_, err := till.Verify(ctx, awaiting.Session.Token, "")
				through = err == nil
				return err
			}, func(error) bool { return till.Env.Find(t, awaiting.Session.Token).Session.InFlight() })
			if through != (statusOf(t, awaiting.Debit) == payment.TransactionApproved) {
				t.Errorf("through: %t, the payment is %s", through, statusOf(t, awaiting.Debit))
			}
		})
		t.Run("cancel", func(t *testing.T) {
			found := till.Session(t)
			ended := func() bool { return till.Env.Find(t, found.Session.Token).Session.Status == payment.SessionExpired }
			checkouttest.Interrupt(t, func(ctx context.Context) error {
				_, err := till.Cancel(ctx, till.Shop.ID, found.Session.Token)
				return err
			},
				func(error) bool { return ended() })
			if !ended() {
				t.Error("a session that was said to be cancelled is not")
			}
			if n := till.Env.Count(t, "audit_entries WHERE action = 'session.cancel' AND object_id = '"+found.Session.ID.String()+
				"' AND tenant_id = '"+till.Shop.ID.String()+"'"); n != 1 {
				t.Errorf("%d entries in the audit trail", n)
			}
		})
		interruptReports(t, till)
		interruptSweeps(t, till)
	})
}

func statusIn(till *checkouttest.Till) func(*testing.T, payment.Debit) payment.TransactionStatus {
	return func(t *testing.T, d payment.Debit) payment.TransactionStatus {
		t.Helper()
		return till.Debit(t, d.Transaction.ID).Transaction.Status
	}
}

// interruptReports is about what others tell us.
func interruptReports(t *testing.T, till *checkouttest.Till) {
	t.Helper()
	never, statusOf := func(error) bool { return false }, statusIn(till)
	t.Run("charge back", func(t *testing.T) {
		paid := till.Paid(t, approved)
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			_, err := till.ChargeBack(ctx, till.Shop.ID, paid.Transaction.ID, payment.Chargeback{}, store.RequestKey{})
			return err
		}, func(error) bool { return statusOf(t, paid.Debit) == payment.TransactionChargedBack })
		if got := statusOf(t, paid.Debit); got != payment.TransactionChargedBack {
			t.Errorf("the payment is %s", got)
		}
	})
	t.Run("reported chargebacks", func(t *testing.T) {
		paid, setup := till.Paid(t, approved), till.Setup(t, till.Shop)
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			_, err := till.TakeChargebacks(ctx, setup, checkout.ChargebackReport{
				GatewayID: till.Shop.Gateway.ID, Chargebacks: []checkout.ReportedChargeback{report(paid.Transaction)},
			})
			return err
		}, never)
		if got := statusOf(t, paid.Debit); got != payment.TransactionChargedBack {
			t.Errorf("the payment is %s", got)
		}
	})
	t.Run("a refund in a processor's file", func(t *testing.T) {
		paid, setup := till.Paid(t, approved), till.Setup(t, till.Shop)
		apply := func(ctx context.Context, id uuid.UUID) error {
			return till.ApplyReported(ctx, setup, id, payment.ReportsRefund, payment.Transaction{}, payment.ChargebackImported)
		}
		checkouttest.Interrupt(t, func(ctx context.Context) error { return apply(ctx, paid.Transaction.ID) }, never)
		if got := statusOf(t, paid.Debit); got != payment.TransactionRefunded {
			t.Errorf("the payment is %s", got)
		}
		if err := apply(t.Context(), till.Unknown(t).Transaction.ID); payment.KindOf(err) != payment.Conflict {
			t.Errorf("one that is under way is given back: %v", err)
		}
	})
	t.Run("refunds that a bank has", func(t *testing.T) {
		paid, setup := till.Paid(t, approved).Transaction, till.Setup(t, till.Shop)
		lost := make([]store.Adopted, 2)
		for i := range lost {
			lost[i] = store.Adopted{EndToEndID: payment.RefundReference(paid, 1_00, i), AmountMinor: 1_00}
		}
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			_, err := till.ReopenRefunds(ctx, setup, paid.ID, lost)
			return err
		}, never)
		if n := till.Env.Count(t, "transactions WHERE refund_of = '"+paid.ID.String()+"'"); n != len(lost) {
			t.Errorf("%d of them are known", n)
		}
	})
	t.Run("a processor's file", func(t *testing.T) {
		paid, setup := till.Paid(t, pending), till.Setup(t, till.Shop)
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			return till.ApplyReported(ctx, setup, paid.Transaction.ID, payment.ReportsOutcome, payment.Transaction{Status: payment.TransactionApproved}, payment.ChargebackImported)
		}, never)
		if got := statusOf(t, paid.Debit); got != payment.TransactionApproved {
			t.Errorf("the payment is %s", got)
		}
	})
}

// interruptSweeps is about what happens in the background.
func interruptSweeps(t *testing.T, till *checkouttest.Till) {
	t.Helper()
	never := func(error) bool { return false }
	t.Run("a notification", func(t *testing.T) {
		open := till.Unknown(t)
		till.Gateway.Report(noticeOf(open, approved))
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			_, err := till.Notify(ctx, till.Shop.Gateway.ID, gateway.Notification{})
			return err
		}, never)
		if d := till.Debit(t, open.Transaction.ID); d.Transaction.Status != payment.TransactionApproved {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
	})
	t.Run("lookups", func(t *testing.T) {
		open := till.Unknown(t)
		till.Gateway.Answer(approved)
		till.World.Pass(silence)
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			_, err := till.RunLookups(ctx)
			return err
		}, func(error) bool {
			till.World.Pass(24 * time.Hour) // what was put off is due again
			return false
		})
		if _, err := till.RunLookups(t.Context()); err != nil {
			t.Fatal(err)
		}
		till.World.Pass(24 * time.Hour)
		if _, err := till.RunLookups(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := till.Debit(t, open.Transaction.ID); d.Transaction.Status != payment.TransactionApproved {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
	})
	t.Run("what is due", func(t *testing.T) {
		found := till.Session(t, storetest.ExpiresIn(time.Minute))
		settles := till.Time.Now().Add(time.Minute)
		paid := till.Paid(t, payment.Outcome{Verdict: payment.VerdictPending, SettlesAt: settles})
		till.Time.Set(settles)
		till.Gateway.Answer(approved)
		checkouttest.Interrupt(t, func(ctx context.Context) error {
			_, err := till.RunDue(ctx, till.Time.Now())
			return err
		}, never)
		if s := till.Env.Find(t, found.Session.Token).Session; s.Status != payment.SessionExpired {
			t.Errorf("the session is %s", s.Status)
		}
		if d := till.Debit(t, paid.Transaction.ID); d.Transaction.Status != payment.TransactionApproved {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
	})
}
