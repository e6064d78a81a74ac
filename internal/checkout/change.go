package checkout

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/notice"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// changeTries bounds how often a change is worked out anew because somebody
// else changed the payment meanwhile.
const changeTries = 8

// retry works something out again for as long as others are faster.
func retry(work func() error) (err error) {
	for range changeTries {
		if err = work(); !errors.Is(err, store.ErrStale) {
			return err
		}
	}
	return err
}

// policy is what holds for a subscription: its campaign's word, else that of the
// deployment, else the usual.
func (c *Checkout) policy(setup *merchant.Setup, sub *payment.Subscription) payment.Policy {
	p := payment.Policy{Dunning: c.Dunning, KeepsClaimed: c.KeepSubscriptions}
	if sub != nil && sub.CampaignID != nil {
		campaign := setup.Campaigns[*sub.CampaignID]
		if campaign.Dunning != nil {
			p.Dunning = campaign.Dunning
		}
		if campaign.KeepsClaimed != nil {
			p.KeepsClaimed = *campaign.KeepsClaimed
		}
	}
	if p.Dunning == nil {
		p.Dunning = payment.DefaultDunning()
	}
	return p
}

// settle writes a gateway's answer with all that follows from it. It begins with
// what the caller knows and looks again where that has changed. Where somebody
// else has brought the answer meanwhile, the change is empty and shows what they
// have made of it.
func (c *Checkout) settle(ctx context.Context, setup *merchant.Setup, known payment.Debit, o payment.Outcome) (settled payment.Change, err error) {
	asked := known
	err = retry(func() error {
		now := c.now()
		if settled, err = known.Settle(c.planned(setup, known, o, now), c.policy(setup, known.Subscription), now); err != nil {
			return err
		}
		if err = c.apply(ctx, setup, settled, now); !errors.Is(err, store.ErrStale) {
			return err
		}
		if known, err = c.debit(ctx, setup.Tenant.ID, asked.Asked().ID); err != nil {
			return err
		}
		if !known.Waits(asked) {
			settled = payment.Change{Debit: known, Before: known}
			c.tellContradiction(ctx, known, o)
			return nil
		}
		return store.ErrStale
	})
	return settled, err
}

// tellContradiction tells a person of an answer that came when something else was
// recorded: whoever has collected a payment that counts as refused here may do so twice, and
// whoever does not know what it had taken in may be the wrong one.
func (c *Checkout) tellContradiction(ctx context.Context, known payment.Debit, o payment.Outcome) {
	if _, err := known.Hear(o); err != nil {
		c.Logger.ErrorContext(ctx, "a gateway's answer contradicts our records and needs a person",
			"gateway_id", known.Asked().GatewayID, "merchant_transaction_id", known.Asked().MerchantTransactionID, "verdict", o.Verdict)
	}
}

// debit reads what a gateway is asked about.
func (c *Checkout) debit(ctx context.Context, tenantID, transactionID uuid.UUID) (payment.Debit, error) {
	d, err := c.Store.Tenant(tenantID).Debit(ctx, transactionID)
	if err != nil {
		return d, err
	}
	return c.withPayment(ctx, d)
}

// withPayment turns a refund into the payment that it gives back, which it is
// settled with.
func (c *Checkout) withPayment(ctx context.Context, d payment.Debit) (payment.Debit, error) {
	if d.Transaction.RefundOf == nil {
		return d, nil
	}
	paid, err := c.Store.Tenant(d.Transaction.TenantID).Debit(ctx, *d.Transaction.RefundOf)
	paid.Refund = &d.Transaction
	return paid, err
}

// apply writes a change, or nothing and gives store.ErrStale.
func (c *Checkout) apply(ctx context.Context, setup *merchant.Setup, change payment.Change, now time.Time) error {
	events, err := webhook.Rows(ctx, c.Store, setup, change)
	if err != nil {
		return err
	}
	mail, onlyIfChanged := notice.Mail(setup.Tenant, change)
	err = c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.Apply(change, events)
		if mail != nil {
			tx.AddMail(*mail, change.Transaction, onlyIfChanged)
		}
		return nil
	})
	if err == nil {
		c.alert(ctx, change, now)
	}
	return err
}

// alert calls a person where a bank blames us: until then nothing more is billed
// through the gateway account.
func (c *Checkout) alert(ctx context.Context, change payment.Change, now time.Time) {
	if pause := change.Pause(now); pause != nil {
		c.Logger.ErrorContext(ctx, "a bank blames the creditor: the rebills of a gateway account are paused until somebody resumes them",
			"tenant_id", pause.TenantID, "gateway_id", pause.GatewayID, "reason_code", pause.Code, "transaction_id", change.Transaction.ID)
	}
}
