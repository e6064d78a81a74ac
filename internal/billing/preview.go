package billing

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// previewed is how many billing dates are shown ahead.
const previewed = 24

// Preview gives a subscription and the dates on which it will be billed next.
func (b *Billing) Preview(ctx context.Context, tenantID, id uuid.UUID) (payment.Subscription, []payment.Date, error) {
	found, err := b.Checkout.Store.Tenant(tenantID).Subscription(ctx, id)
	return found, found.Upcoming(previewed), err
}
