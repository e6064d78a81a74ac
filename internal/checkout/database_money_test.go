package checkout_test

import (
	"context"
	"testing"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// TestNoMoneyMovesByWhatCouldNotBeRead: at a bank, whose files are known by the database alone, everybody who has something given
// back, taken back, moved or ended hears that it was not done.
func TestNoMoneyMovesByWhatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid, taken, found, setup := till.Paid(t, approved).Transaction, till.Paid(t, pending).Transaction, till.Session(t), till.Setup(t, till.Shop)
		refund := func(ctx context.Context) error {
			_, err := till.Refund(ctx, till.Shop.ID, paid.ID, checkout.RefundRequest{}, store.RequestKey{})
			return err
		}
		chargeBack := func(ctx context.Context) error {
			_, err := till.ChargeBack(ctx, till.Shop.ID, paid.ID, payment.Chargeback{}, store.RequestKey{})
			return err
		}
		end := func(ctx context.Context) error {
			_, err := till.Cancel(ctx, till.Shop.ID, found.Session.Token)
			return err
		}
		for _, c := range []struct {
			name, table string
			act         func(context.Context) error
		}{
			{"a refund", "transactions", refund},
			{"a refund that a bank may have", "bank_adopted", refund},
			{"a refund after a restore", "bank_resumptions", refund},
			{"a refund that nobody could be held to", "audit_entries", refund},
			{"a chargeback", "chargebacks", chargeBack},
			{"a chargeback that nobody could be told of", "events", chargeBack},
			{"what a chargeback is of", "transactions", func(ctx context.Context) error { return till.LinkChargebacks(ctx, setup, paid.ID) }},
			{"the chargeback of a payment", "chargebacks", func(ctx context.Context) error { return till.LinkChargebacks(ctx, setup, paid.ID) }},
			{"a lost refund", "transactions", func(ctx context.Context) error {
				_, err := till.ReopenRefunds(ctx, setup, paid.ID, []store.Adopted{{EndToEndID: payment.RefundReference(paid, 1_00, 0), AmountMinor: 1_00}})
				return err
			}},
			{"another day", "transactions", func(ctx context.Context) error { return till.Redate(ctx, setup, taken.ID, taken.DueDate.AddDays(1)) }},
			{"another day that nobody could be told of", "events", func(ctx context.Context) error { return till.Redate(ctx, setup, taken.ID, taken.DueDate.AddDays(1)) }},
			{"what was open at a backup", "transactions", till.AskAboutAllOpen},
			{"what a subscription waits for", "transactions", func(ctx context.Context) error { return till.AskAboutCollection(ctx, setup, taken.ID) }},
			{"an end", "orders", end},
			{"an end of whom nobody knows", "leads", end},
		} {
			without(t, till, c.table, func() {
				if err := c.act(t.Context()); err == nil || payment.KindOf(err) != 0 {
					t.Errorf("%s: %v", c.name, err)
				}
			})
		}
		if d := till.Debit(t, paid.ID).Transaction; len(till.Gateway.Refunded()) != 0 || d.Status != payment.TransactionApproved || d.RefundingMinor != 0 {
			t.Errorf("%d refunds were sent, the payment is %s with %s set aside", len(till.Gateway.Refunded()), d.Status, d.RefundingMinor)
		}
		if s := till.Env.Find(t, found.Session.Token).Session; s.Status != payment.SessionPending {
			t.Errorf("the session is %s", s.Status)
		}
	}, checkouttest.WithNotice(3))
}
