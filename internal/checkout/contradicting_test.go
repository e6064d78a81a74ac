package checkout_test

import (
	"testing"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// TestWhatContradictsItsOwnOrderIsNotMoved: a row was changed by hand, and from there no table of states leads on. Whoever brings
// news of such a payment hears that they were not taken in, and nothing is written.
func TestWhatContradictsItsOwnOrderIsNotMoved(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		open, setup := till.Unknown(t), till.Setup(t, till.Shop)
		till.Env.Exec(t, `UPDATE orders SET status = $1`, string(payment.OrderFailed))
		notify := func(notice gateway.Notice) error {
			till.Gateway.Report(notice)
			_, err := till.Notify(t.Context(), till.Shop.Gateway.ID, gateway.Notification{})
			return err
		}
		till.Gateway.Answer(approved)
		for _, c := range []struct {
			name string
			act  func() error
		}{
			{"a notification", func() error { return notify(noticeOf(open, approved)) }},
			{"the notification of a chargeback", func() error { return notify(chargedBack(noticeOf(open, approved))) }},
			{"an outcome in a file", func() error {
				_, err := till.SettleReported(t.Context(), setup, []checkout.Report{{TransactionID: open.Transaction.ID, Outcome: approved}})
				return err
			}},
			{"the answer to a question", func() error { return till.AskAboutCollection(t.Context(), setup, open.Transaction.ID) }},
			{"a chargeback that was there before", func() error {
				till.Env.InsertChargebacks(t, []payment.Chargeback{{
					ID: payment.NewID(), TenantID: till.Shop.ID, GatewayID: till.Shop.Gateway.ID, MerchantTransactionID: open.Transaction.MerchantTransactionID,
					AmountMinor: open.Transaction.AmountMinor, Currency: "EUR", ReportedAt: till.Time.Now(), Source: payment.ChargebackNotified,
					CreatedAt: till.Time.Now(), UpdatedAt: till.Time.Now(),
				}})
				return till.LinkChargebacks(t.Context(), setup, open.Transaction.ID)
			}},
		} {
			if err := c.act(); err == nil || payment.KindOf(err) != 0 {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if d := till.Debit(t, open.Transaction.ID); !d.Transaction.InFlight() || till.Env.Count(t, "chargebacks WHERE transaction_id IS NOT NULL") != 0 {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
	})
}

// TestACollectionOfWhichNoMoreIsKnown: who asks about it hears so where its gateway is silent, and where the question cannot be
// written down, and puts none then.
func TestACollectionOfWhichNoMoreIsKnown(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	open, setup := till.Unknown(t), till.Setup(t, till.Shop)
	ask := func() error { return till.AskAboutCollection(t.Context(), setup, open.Transaction.ID) }
	if err := ask(); err == nil || len(till.Gateway.Asked()) != 1 {
		t.Errorf("silence, after %d questions: %v", len(till.Gateway.Asked()), err)
	}
	till.Gateway.Answer(approved)
	till.Env.Exec(t, `CREATE TRIGGER full BEFORE UPDATE ON transactions BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
	if err := ask(); err == nil || len(till.Gateway.Asked()) != 1 {
		t.Errorf("a full disk, after %d questions: %v", len(till.Gateway.Asked()), err)
	}
}
