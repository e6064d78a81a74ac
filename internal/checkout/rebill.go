package checkout

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// rebillSendWindow is how long after its claim a rebill may still be sent. No
// payer waits for one, so that there is time to send a batch of them.
const rebillSendWindow = time.Minute

// RebillSilence is how long nobody else may ask about a rebill that is claimed
// now, and until when it may be sent.
func (c *Checkout) RebillSilence() (silence time.Duration, sendBefore clock.Deadline) {
	return c.silenceAfter(rebillSendWindow), clock.Within(c.Own, rebillSendWindow)
}

// SettleRebill settles a rebill by the answer to its submission.
func (c *Checkout) SettleRebill(ctx context.Context, setup *merchant.Setup, claimed payment.Debit, o payment.Outcome) error {
	_, err := c.settle(ctx, setup, claimed, o)
	return err
}

// RebillUnknown leaves a rebill open of which its sender does not know what
// became, and has the gateway asked soon.
func (c *Checkout) RebillUnknown(ctx context.Context, client *gateway.Client, t payment.Transaction) {
	_ = c.askLater(ctx, client, t)
}

// AskAboutRebills asks at once about every rebill of which the sandbox did not say
// what became of it, whatever the schedule of questions says: when the sandbox's
// clock is moved, the time in which it would have been asked has passed.
func (c *Checkout) AskAboutRebills(ctx context.Context) error {
	open, err := c.Store.OpenRebills(ctx)
	if err != nil {
		return err
	}
	for _, one := range open {
		err := c.takeOver(ctx, one)
		if overtaken(err) {
			// Somebody else is asking. What comes of that is waited for by asking as well: whoever hears it
			// first writes it down.
			err = c.takeOver(ctx, one)
		}
		if err != nil && !overtaken(err) {
			return err
		}
	}
	return nil
}

// AskAboutRebill asks what became of a rebill that may have been sent before the
// database was restored; one that the gateway does not know is lost.
func (c *Checkout) AskAboutRebill(ctx context.Context, setup *merchant.Setup, d payment.Debit) (payment.Outcome, error) {
	return c.statusOf(ctx, setup, d, c.now())
}

// AskAboutCollection asks about a payment that a subscription waits for, before the day on which it would be asked: its
// gateway may have said more before the database was restored. Without an answer it is an error.
func (c *Checkout) AskAboutCollection(ctx context.Context, setup *merchant.Setup, id uuid.UUID) error {
	d, err := c.debit(ctx, setup.Tenant.ID, id)
	if err != nil || d.Transaction.IsDecided() {
		return err
	}
	if d.Transaction.InFlight() {
		if err := c.postpone(ctx, &d.Transaction); err != nil {
			return err
		}
	}
	outcome, err := c.statusOf(ctx, setup, d, c.now())
	switch {
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, errNoAnswer):
		return nil // nobody can say more
	case err != nil:
		return err
	}
	_, err = c.settle(ctx, setup, d, outcome)
	return err
}

// RecognizeRebill takes a payment that a processor has reported for the rebill that was to be
// sent: it was sent before the database was restored.
func (c *Checkout) RecognizeRebill(ctx context.Context, setup *merchant.Setup, rebill payment.Change, brought payment.Transaction, sealedIBAN string) error {
	chargeback := payment.Chargeback{Source: payment.ChargebackImported}
	recorded, err := c.Store.Tenant(brought.TenantID).ChargebackByMerchantID(ctx, brought.MerchantTransactionID)
	if err != nil {
		return err
	}
	if recorded != nil {
		chargeback = *recorded
	}
	now := rebill.Transaction.CreatedAt
	known, err := rebill.Recognize(brought, chargeback, c.policy(setup, rebill.Subscription), now)
	if err != nil {
		return err
	}
	known.Events = nil // of the payment the merchant was told when it was reported
	events, err := webhook.Rows(ctx, c.Store, setup, known)
	if err != nil {
		return err
	}
	c.Logger.InfoContext(ctx, "a payment that was reported is a rebill that was lost", "transaction_id", brought.ID,
		"subscription_id", known.Subscription.ID, "merchant_transaction_id", brought.MerchantTransactionID)
	return c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.RecognizeRebill(brought, known, sealedIBAN)
		tx.AddEvents(brought.TenantID, events)
		return nil
	})
}

// AskAboutAllOpen asks at once about every payment whose outcome is open: whoever
// sent them did so before the database was restored.
func (c *Checkout) AskAboutAllOpen(ctx context.Context) error {
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	open, err := c.Store.LookupsDue(ctx, now.AddDate(1, 0, 0), takeOverBatch)
	if err != nil {
		return err
	}
	for _, one := range open {
		if err := c.lookUp(ctx, one); err != nil && !overtaken(err) {
			return err
		}
	}
	return nil
}
