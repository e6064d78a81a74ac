package checkout

import (
	"context"
	"time"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
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
		if err := c.takeOver(ctx, one); err != nil && !overtaken(err) {
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

// AskAboutAllOpen asks at once about every payment whose outcome is open: whoever
// sent them did so before the database was restored.
func (c *Checkout) AskAboutAllOpen(ctx context.Context) error {
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	open, err := c.Store.LookupsBefore(ctx, now.AddDate(1, 0, 0), takeOverBatch)
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
