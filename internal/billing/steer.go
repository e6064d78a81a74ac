package billing

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// steerTries bounds how often a change by hand is tried again because billing or
// somebody else was faster.
const steerTries = 8

// If lets a change by hand go on, or says why not: whoever makes it may go by what a subscription was.
type If func(payment.Subscription) error

// steer changes a subscription by hand, on what it is at that moment: the change is
// worked out again where it was overtaken.
func (b *Billing) steer(ctx context.Context, tenantID, id uuid.UUID, action string, change func(payment.Subscription, time.Time) (payment.Subscription, error), conditions ...If) (steered payment.Subscription, err error) {
	for range steerTries {
		now := b.Checkout.Clock.Now()
		found, err := b.Checkout.Store.Tenant(tenantID).Subscription(ctx, id)
		for _, holds := range conditions {
			err = cmp.Or(err, holds(found))
		}
		if err != nil {
			return found, err
		}
		if steered, err = change(found, now); err != nil {
			return found, err
		}
		deed := store.Deed{
			Action: action, ObjectType: "subscription", ObjectID: id.String(), TenantID: tenantID, Before: shown(found), After: shown(steered),
		}
		if err = b.write(ctx, found, steered, now, deed); !errors.Is(err, store.ErrStale) {
			return steered, err
		}
	}
	return steered, payment.Conflicting("The subscription is being billed; try again.")
}

// write writes what has become of a subscription and tells of it, with what the audit
// trail keeps, or gives store.ErrStale.
func (b *Billing) write(ctx context.Context, before, after payment.Subscription, now time.Time, deeds ...store.Deed) error {
	setup, err := b.Checkout.SetupOf(ctx, after.TenantID)
	if err != nil {
		return err
	}
	events, err := webhook.Rows(ctx, b.Checkout.Store, setup, payment.SubscriptionChange(before, after))
	if err != nil {
		return err
	}
	return b.Checkout.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.ChangeSubscription(before, after)
		tx.AddEvents(after.TenantID, events)
		tx.Audit(deeds...)
		return nil
	})
}

// shown is what the audit trail keeps of a subscription: what a person can change.
func shown(s payment.Subscription) map[string]any {
	return map[string]any{
		"status": s.Status, "amount": s.AmountMinor.String(), "next_billing_date": s.NextBillingDate.String(), "ends_on": s.EndsOn.String(),
		"paused": !s.PausedAt.IsZero(),
	}
}

// Cancel ends a subscription at once: nothing is billed afterwards. A rebill that
// is at the gateway already is still settled by its answer.
func (b *Billing) Cancel(ctx context.Context, tenantID, id uuid.UUID, by payment.CancelReason) (payment.Subscription, error) {
	return b.steer(ctx, tenantID, id, "subscription.cancel", func(s payment.Subscription, now time.Time) (payment.Subscription, error) {
		return payment.CancelSubscription(s, by, now)
	})
}

// CancelAtPeriodEnd has a subscription end when it would be billed next.
func (b *Billing) CancelAtPeriodEnd(ctx context.Context, tenantID, id uuid.UUID, by payment.CancelReason) (payment.Subscription, error) {
	return b.steer(ctx, tenantID, id, "subscription.cancel", func(s payment.Subscription, now time.Time) (payment.Subscription, error) {
		return payment.CancelAtPeriodEnd(s, by, now)
	})
}

// PauseSubscription has nothing billed until ResumeSubscription.
func (b *Billing) PauseSubscription(ctx context.Context, tenantID, id uuid.UUID) (payment.Subscription, error) {
	return b.steer(ctx, tenantID, id, "subscription.pause", payment.PauseSubscription)
}

// ResumeSubscription has a paused subscription go on, or one that was to end with
// its period.
func (b *Billing) ResumeSubscription(ctx context.Context, tenantID, id uuid.UUID, conditions ...If) (payment.Subscription, error) {
	return b.steer(ctx, tenantID, id, "subscription.resume", payment.ResumeSubscription, conditions...)
}

// ChangeTerms gives a subscription another price or another rhythm.
func (b *Billing) ChangeTerms(ctx context.Context, tenantID, id uuid.UUID, to payment.NewTerms) (payment.Subscription, error) {
	return b.steer(ctx, tenantID, id, "subscription.change", func(s payment.Subscription, now time.Time) (payment.Subscription, error) {
		return payment.ChangeTerms(s, to, now)
	})
}
