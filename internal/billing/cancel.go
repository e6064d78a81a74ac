package billing

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// previewed is how many billing dates are shown ahead.
const previewed = 24

// cancelTries bounds how often a cancellation is tried again because billing
// went on meanwhile.
const cancelTries = 8

// Cancel ends a subscription at once: nothing is billed afterwards. A rebill that
// is at the gateway already is still settled by its answer.
func (b *Billing) Cancel(ctx context.Context, tenantID, id uuid.UUID, by payment.CancelReason) (cancelled payment.Subscription, err error) {
	for range cancelTries {
		now := b.Checkout.Clock.Now()
		found, err := b.Checkout.Store.Tenant(tenantID).Subscription(ctx, id)
		if err != nil {
			return found, err
		}
		if cancelled, err = payment.CancelSubscription(found, by, now); err != nil {
			return found, err
		}
		err = b.Checkout.Store.Write(ctx, now, func(tx *store.Tx) error {
			tx.ChangeSubscription(found, cancelled)
			return nil
		})
		if !errors.Is(err, store.ErrStale) {
			return cancelled, err
		}
	}
	return cancelled, payment.Conflicting("The subscription is being billed; try again.")
}

// Preview gives a subscription and the dates on which it will be billed next.
func (b *Billing) Preview(ctx context.Context, tenantID, id uuid.UUID) (payment.Subscription, []payment.Date, error) {
	found, err := b.Checkout.Store.Tenant(tenantID).Subscription(ctx, id)
	return found, found.Upcoming(previewed), err
}
