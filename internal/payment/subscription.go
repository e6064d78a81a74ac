package payment

import (
	"time"

	"github.com/google/uuid"
)

// SubscriptionStatus is whether a subscription is billed (contract 3.3).
type SubscriptionStatus string

const (
	SubscriptionActive    SubscriptionStatus = "ACTIVE"
	SubscriptionPastDue   SubscriptionStatus = "PAST_DUE"
	SubscriptionCancelled SubscriptionStatus = "CANCELLED"
)

// SubscriptionStatuses lists every status.
var SubscriptionStatuses = []SubscriptionStatus{SubscriptionActive, SubscriptionPastDue, SubscriptionCancelled}

// Subscription is a recurring purchase and its billing record (contract 2.13).
type Subscription struct {
	ID               uuid.UUID
	TenantID         uuid.UUID
	SessionID        uuid.UUID
	OrderID          uuid.UUID
	LeadID           uuid.UUID
	OfferID          *uuid.UUID
	CampaignID       *uuid.UUID
	WebhookProfileID *uuid.UUID
	GatewayID        uuid.UUID

	Status           SubscriptionStatus
	AmountMinor      Minor
	Currency         string
	Frequency        BillingFrequency
	MandateReference string

	StartedAt       time.Time
	NextBillingDate Date
	TrialEndDate    Date
	AnchorDate      Date
	LastBilledAt    time.Time
	CancelledAt     time.Time

	SuccessfulCount int
	FailedCount     int
	RevenueMinor    Minor

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Subscribe starts the subscription of a recurring purchase on its first
// accepted payment. The anchor is the day of the first regular collection: the
// purchase day, or the end of the trial.
func Subscribe(s Session, first Transaction, now time.Time) Subscription {
	sub := Subscription{
		ID: NewID(), TenantID: s.TenantID, SessionID: s.ID, OrderID: *first.OrderID, LeadID: s.LeadID,
		OfferID: s.OfferID, CampaignID: s.CampaignID, WebhookProfileID: s.WebhookProfileID, GatewayID: s.GatewayID,
		Status: SubscriptionActive, AmountMinor: s.Terms.PriceMinor, Currency: s.Terms.Currency,
		Frequency: s.Terms.Frequency, MandateReference: s.MandateReference,
		StartedAt: now, AnchorDate: DateOf(now), CreatedAt: now, UpdatedAt: now,
	}
	if first.Status == TransactionApproved {
		sub.RevenueMinor = first.AmountMinor
	}
	firstPeriod := 1
	if s.Terms.BillingType == TrialRecurring {
		sub.TrialEndDate = s.Terms.TrialEnd(DateOf(now))
		sub.AnchorDate, firstPeriod = sub.TrialEndDate, 0
	}
	sub.NextBillingDate = sub.Frequency.PeriodStart(sub.AnchorDate, firstPeriod)
	return sub
}
