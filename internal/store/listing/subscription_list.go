package listing

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// SubscriptionFilter says which subscriptions are listed; what is empty or zero
// admits all.
type SubscriptionFilter struct {
	Statuses  []payment.SubscriptionStatus
	GatewayID *uuid.UUID
	// NextBillingFrom and NextBillingTo are both included.
	NextBillingFrom, NextBillingTo payment.Date
}

var subscriptionListing = listing[payment.Subscription]{
	table: "subscriptions", instant: "created_at", spare: &sync.Pool{},
	columns: `id, status, amount_minor, currency, billing_frequency, started_at, next_billing_date, last_billed_at,
		cancelled_at, trial_end_date, COALESCE(rhythm_date, billing_anchor_date), successful_count, failed_count, revenue_minor, order_id,
		lead_id, offer_id, gateway_id, created_at, updated_at`,
	scan: func(row *listedRow, s *payment.Subscription) {
		s.ID, s.Status = row.id(), payment.SubscriptionStatus(row.text())
		s.AmountMinor, s.Currency, s.Frequency = row.minor(), row.text(), payment.BillingFrequency(row.text())
		s.StartedAt, s.NextBillingDate = row.instant(), row.date()
		s.LastBilledAt, s.CancelledAt = row.instant(), row.instant()
		s.TrialEndDate, s.AnchorDate = row.date(), row.date()
		s.SuccessfulCount, s.FailedCount, s.RevenueMinor = int(row.number()), int(row.number()), row.minor()
		s.OrderID, s.LeadID, s.OfferID, s.GatewayID = row.id(), row.id(), row.idIfAny(), row.id()
		s.CreatedAt, s.UpdatedAt = row.instant(), row.instant()
	},
}

// filters always name the status, with which both indexes begin.
func (f SubscriptionFilter) filters() []filter {
	filters := []filter{
		equal("gateway_id", given(f.GatewayID)),
		equal("status", orAll(f.Statuses, payment.SubscriptionStatuses)),
	}
	if !f.NextBillingFrom.IsZero() {
		filters = append(filters, filter{"next_billing_date >= $%d", []any{f.NextBillingFrom.String()}})
	}
	if !f.NextBillingTo.IsZero() {
		filters = append(filters, filter{"next_billing_date <= $%d", []any{f.NextBillingTo.String()}})
	}
	return filters
}

// Subscriptions lists subscriptions by the instant of their creation.
func Subscriptions(ctx context.Context, t store.Tenant, w Window, f SubscriptionFilter) (Listed[payment.Subscription], error) {
	return subscriptionListing.read(ctx, t, w, f.filters())
}
