package checkout

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

var (
	errUnprovenRefund = payment.Conflicting("The database was restored, and nobody has made sure yet what the bank was sent since the backup. Refund once its account goes on.")
	errMoreAtTheBank  = payment.Conflicting("The bank has a refund of this payment from before the database was restored, of more than is left. Nothing is given back before that is settled.")
)

// ReopenRefunds opens refunds of a payment that its bank was sent before the database was restored: what is in a file that was
// taken in is not left. They have their names, by which they find their places. It tells how many it has opened, with an error too.
func (c *Checkout) ReopenRefunds(ctx context.Context, setup *merchant.Setup, transactionID uuid.UUID, lost []store.Adopted) (opened int, err error) {
	err = retry(func() error {
		paid, err := c.Store.Tenant(setup.Tenant.ID).Debit(ctx, transactionID)
		if err != nil {
			return err
		}
		_, count, err := c.reopenThese(ctx, setup, paid, lost)
		opened += count
		return err
	})
	return opened, err
}

// reopenRefunds looks for them first.
func (c *Checkout) reopenRefunds(ctx context.Context, setup *merchant.Setup, paid payment.Debit) (payment.Debit, error) {
	lost, err := c.Store.Tenant(setup.Tenant.ID).AdoptedRefunds(ctx, paid.Transaction)
	if err != nil {
		return paid, err
	}
	// All the refunds of a day can be among them, which are of few amounts.
	names := map[payment.Minor][]string{}
	isOther := func(one store.Adopted) bool {
		if names[one.AmountMinor] == nil {
			names[one.AmountMinor] = payment.AllRefunds(paid.Transaction, one.AmountMinor)
		}
		return !slices.Contains(names[one.AmountMinor], one.EndToEndID)
	}
	paid, _, err = c.reopenThese(ctx, setup, paid, slices.DeleteFunc(lost, isOther))
	return paid, err
}

// reopenThese gives the payment as it is then, and how many it has opened. Nobody has asked for these refunds here, as for those
// that a processor reports.
func (c *Checkout) reopenThese(ctx context.Context, setup *merchant.Setup, paid payment.Debit, lost []store.Adopted) (_ payment.Debit, opened int, err error) {
	tenant := c.Store.Tenant(setup.Tenant.ID)
	for _, one := range lost {
		_, isOpen, err := tenant.Named(ctx, one.EndToEndID)
		if err != nil {
			return paid, opened, err
		}
		if isOpen {
			continue // somebody else was faster
		}
		if one.AmountMinor > paid.Transaction.RefundableMinor() {
			return paid, opened, errMoreAtTheBank
		}
		if err := c.reopenRefund(ctx, setup, paid, one); err != nil {
			return paid, opened, err
		}
		opened++
		if paid, err = tenant.Debit(ctx, paid.Transaction.ID); err != nil {
			return paid, opened, err
		}
	}
	return paid, opened, nil
}

func (c *Checkout) reopenRefund(ctx context.Context, setup *merchant.Setup, paid payment.Debit, lost store.Adopted) error {
	client, _, err := c.Account(setup, paid.Transaction.GatewayID)
	if err != nil {
		return err
	}
	now, sendBefore := c.now(), clock.Within(c.Own, c.sendWindow())
	opened, err := paid.BeginRefund(&lost.AmountMinor, now)
	if err != nil {
		return err
	}
	opened.Refund.MerchantTransactionID, opened.Refund.Source, opened.Refund.Attempt.Silence = lost.EndToEndID, payment.SourceWebhook, c.silence()
	err = c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.ClaimRefund(opened)
		return nil
	})
	if err != nil {
		return err
	}
	c.Logger.InfoContext(ctx, "a refund that the bank has is one that was lost", "transaction_id", opened.Refund.ID,
		"refund_of", opened.Refund.RefundOf, "merchant_transaction_id", opened.Refund.MerchantTransactionID)
	outcome, err := client.Refund(ctx, refundRequest(setup, opened, sendBefore))
	if err == nil {
		_, err = c.settle(ctx, setup, opened.Debit, outcome)
	}
	return err
}
