package checkout

import (
	"context"
	"errors"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// rebillSendWindow is how long after its claim a rebill may still be sent. No
// payer waits for one, so that there is time to send a batch of them.
const rebillSendWindow = time.Minute

// RebillSilenceEnds is when somebody else may ask about a rebill that is claimed
// now, and until when it may be sent.
func (c *Checkout) RebillSilenceEnds() (askAt, sendBefore time.Time) {
	sendBefore = c.Real.Now().Add(rebillSendWindow)
	return sendBefore.Add(c.GatewayTimeout), sendBefore
}

// SettleRebill writes a gateway's answer to a rebill with all that follows from
// it. It begins with what the caller knows and looks again where that has
// changed; what somebody else has settled meanwhile stays as they settled it.
func (c *Checkout) SettleRebill(ctx context.Context, setup *merchant.Setup, known payment.Collection, o payment.Outcome) error {
	asked := known.Transaction
	return retry(func() error {
		now := c.now()
		settled, err := payment.SettleRebill(known, o, c.dunning(setup, known.Subscription), now)
		if err != nil {
			return err
		}
		err = c.apply(ctx, setup, known, nil, settled, now)
		if !errors.Is(err, store.ErrStale) {
			return err
		}
		present, err := c.Store.Tenant(setup.Tenant.ID).Collection(ctx, asked.ID)
		if err != nil {
			return err
		}
		if t := present.Transaction; t.Status != payment.TransactionPending || t.Attempt.Phase != asked.Attempt.Phase {
			return nil
		}
		known = present
		return store.ErrStale
	})
}

// dunning is what a subscription's campaign says, else the deployment, else the
// usual.
func (c *Checkout) dunning(setup *merchant.Setup, sub *payment.Subscription) payment.Dunning {
	if sub.CampaignID != nil {
		if days := setup.Campaigns[*sub.CampaignID].Dunning; days != nil {
			return days
		}
	}
	if c.Dunning != nil {
		return c.Dunning
	}
	return payment.DefaultDunning()
}

// RebillUnknown leaves a rebill open of which its sender does not know what
// became, and has the gateway asked soon.
func (c *Checkout) RebillUnknown(ctx context.Context, client *gateway.Client, t payment.Transaction) {
	_ = c.askLater(ctx, client, payment.Purchase{Transaction: t})
}

// lookUpRebill asks about a rebill whose answer is outstanding.
func (c *Checkout) lookUpRebill(ctx context.Context, due store.Due) error {
	known, err := c.Store.Tenant(due.TenantID).Collection(ctx, due.ID)
	if err != nil || known.Transaction.Attempt.Phase == payment.PhaseNone {
		return err
	}
	postponed := payment.Purchase{Transaction: known.Transaction}
	if err := c.postpone(ctx, &postponed); err != nil {
		return err
	}
	known.Transaction = postponed.Transaction
	outcome, setup, err := c.answerAbout(ctx, known.Transaction, c.now())
	if err != nil || outcome == nil {
		return err
	}
	return c.SettleRebill(ctx, setup, known, *outcome)
}

// settlePendingRebill asks about a rebill that the gateway took in as pending.
// An answer that cannot be had is asked for again a day later.
func (c *Checkout) settlePendingRebill(ctx context.Context, due store.Due, now time.Time) error {
	known, err := c.Store.Tenant(due.TenantID).Collection(ctx, due.ID)
	if err != nil {
		return err
	}
	if at := known.Transaction.SettleDueAt; at.IsZero() || at.After(now) {
		return nil // somebody else has asked meanwhile
	}
	outcome, setup, err := c.answerAbout(ctx, known.Transaction, now)
	if err != nil {
		return err
	}
	if outcome == nil {
		outcome = &payment.Outcome{Verdict: payment.VerdictPending}
	}
	return c.SettleRebill(ctx, setup, known, *outcome)
}

// takeRebillOutcome settles a rebill by what its gateway reports unasked, and
// says whether it did.
func (c *Checkout) takeRebillOutcome(ctx context.Context, setup *merchant.Setup, known payment.Collection, o payment.Outcome) (bool, error) {
	if known.Transaction.Attempt.Phase == payment.PhaseNone && o.Verdict == payment.VerdictPending {
		return false, nil
	}
	err := c.SettleRebill(ctx, setup, known, o)
	return err == nil, err
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
