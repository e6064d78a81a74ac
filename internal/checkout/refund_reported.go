package checkout

import (
	"context"
	"slices"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// recognizeRefund looks at what a payment's processor has reported as given back, or its bank was sent, and
// nobody has asked for here: it was asked for before the database was restored. All of
// it is booked on the payment. One that is alike is the refund that is asked for now; the
// debit has it then, and it must not be made again.
func (c *Checkout) recognizeRefund(ctx context.Context, setup *merchant.Setup, paid payment.Debit, amount *payment.Minor, key store.RequestKey) (payment.Debit, error) {
	now, wanted := c.now(), paid.Transaction.RefundableMinor()
	if amount != nil {
		wanted = *amount
	}
	paid, err := c.reopenRefunds(ctx, setup, paid)
	if err != nil {
		return paid, err
	}
	reported, err := c.Store.Tenant(setup.Tenant.ID).ReportedRefunds(ctx, paid.Transaction)
	if err != nil {
		return paid, err
	}
	for i := range reported {
		if !reported[i].GivesBack(paid.Transaction) {
			continue
		}
		if paid, reported[i], err = c.bookReported(ctx, setup, paid, reported[i], now); err != nil {
			return paid, err
		}
	}
	alike := slices.IndexFunc(reported, func(t payment.Transaction) bool { return t.RefundOf != nil && t.AmountMinor == wanted })
	if alike < 0 {
		return paid, nil
	}
	paid.Refund = &reported[alike]
	return paid, c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.Remember(key, paid.Refund.ID)
		tx.AskForReported(*paid.Refund)
		tx.Audit(refundDeed(*paid.Refund))
		return nil
	})
}

// bookReported books a refund that was brought in on its payment, and gives both as they
// are then. Of the refund the merchant was told when it was reported.
func (c *Checkout) bookReported(ctx context.Context, setup *merchant.Setup, paid payment.Debit, brought payment.Transaction, now time.Time) (
	payment.Debit, payment.Transaction, error,
) {
	change, refund, err := paid.RecognizeRefund(brought, now)
	if err != nil {
		return paid, brought, err
	}
	events, err := webhook.Rows(ctx, c.Store, setup, change)
	if err != nil {
		return paid, brought, err
	}
	c.Logger.InfoContext(ctx, "a refund that was reported is one that was lost", "transaction_id", refund.ID,
		"refund_of", refund.RefundOf, "merchant_transaction_id", refund.MerchantTransactionID)
	return change.Debit, refund, c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.Apply(change, events)
		tx.RecognizeRefund(refund)
		return nil
	})
}
