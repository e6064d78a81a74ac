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

// IsBrief tells a status that lasts for days and not for years: few have it at a time.
func (s SubscriptionStatus) IsBrief() bool { return s == SubscriptionPastDue }

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
	// MandateSessionID is the session in which the payer gave the present mandate, nil
	// for the one that it began with.
	MandateSessionID *uuid.UUID

	StartedAt       time.Time
	NextBillingDate Date
	TrialEndDate    Date
	AnchorDate      Date
	LastBilledAt    time.Time
	CancelledAt     time.Time

	// CancelReason is why it has ended, with the bank's code where there is one.
	CancelReason CancelReason
	CancelCode   string

	// PausedAt is since when nothing is billed, zero while it is.
	PausedAt time.Time
	// EndsOn is the day on which it ends instead of being billed, by EndsBy's word;
	// none and "" while it goes on.
	EndsOn Date
	EndsBy CancelReason
	// RhythmDate is when period RhythmPeriod begins, after somebody has moved it; none
	// while the anchor's rhythm holds.
	RhythmDate   Date
	RhythmPeriod int
	// SteeredAt is when somebody last changed it by hand.
	SteeredAt time.Time

	SuccessfulCount int
	FailedCount     int
	RevenueMinor    Minor

	// Period is the one to be billed next, or being billed, counted from the
	// anchor; Tries is how often it was tried.
	Period int
	Tries  int
	// Owed are earlier periods whose money came back while another was being
	// collected; each has its turn once billing is free for it. Behind them stands the
	// period at which billing goes on then, where that one waited before a try was refused.
	Owed Periods
	// OpenTransactionID is the collection whose outcome billing waits for: a
	// rebill under way, or a payment that its gateway has not settled. It stays
	// on a subscription that is cancelled meanwhile.
	OpenTransactionID *uuid.UUID
	// SequenceType is what the next collection is in the mandate's life.
	SequenceType SequenceType
	// MandateUsedAt is when the mandate was last presented, or signed before that.
	MandateUsedAt time.Time

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
		Period: 1, SequenceType: SequenceRecurring, MandateUsedAt: now,
	}
	if first.Status == TransactionApproved {
		sub.RevenueMinor = first.AmountMinor
		if first.AmountMinor > 0 {
			sub.LastBilledAt = now
		}
	} else {
		sub.OpenTransactionID = &first.ID
	}
	if first.AmountMinor == 0 {
		sub.SequenceType = SequenceFirst
	}
	if s.Terms.BillingType == TrialRecurring {
		sub.TrialEndDate = s.Terms.TrialEnd(DateOf(now))
		sub.AnchorDate, sub.Period = sub.TrialEndDate, 0
	}
	sub.NextBillingDate = sub.PeriodStart(sub.Period)
	return sub
}

// IsOver tells that it is cancelled.
func (s Subscription) IsOver() bool { return s.Status == SubscriptionCancelled }

// PeriodStart is the day on which a period is billed, none without a frequency.
func (s Subscription) PeriodStart(period int) Date {
	if !s.RhythmDate.IsZero() && period >= s.RhythmPeriod {
		return s.Frequency.PeriodStart(s.RhythmDate, period-s.RhythmPeriod)
	}
	return s.Frequency.PeriodStart(s.AnchorDate, period)
}

// Anchor is the day that the present rhythm counts from.
func (s Subscription) Anchor() Date {
	if !s.RhythmDate.IsZero() {
		return s.RhythmDate
	}
	return s.AnchorDate
}

// periodOf is the period that a transaction collects. The first payment has the
// one before those that are billed by themselves.
func (s Subscription) periodOf(t Transaction) int {
	switch {
	case t.Period != nil:
		return *t.Period
	case s.TrialEndDate.IsZero():
		return 0
	default:
		return -1
	}
}

// DueAt is when there is something to do: a period to be billed, an end to be made,
// or a mandate that lapses unused. It is zero while nothing is expected.
func (s Subscription) DueAt() time.Time {
	if s.Status == SubscriptionCancelled || s.OpenTransactionID != nil {
		return time.Time{}
	}
	due := s.LapseDate()
	for _, day := range []Date{s.NextBillingDate, s.EndsOn} {
		if !day.IsZero() && day.Start().Before(due.Start()) {
			due = day
		}
	}
	return due.Start()
}

// IsBilled tells that what the subscription owes is collected: it has not ended and
// is not paused.
func (s Subscription) IsBilled() bool {
	return s.Status != SubscriptionCancelled && s.PausedAt.IsZero()
}

// isBilling tells that a rebill of its period is under way. A first payment that its gateway has not settled
// is none: billing waits for it, and the period after it is still to come.
func (s Subscription) isBilling() bool { return s.OpenTransactionID != nil && s.Tries > 0 }

// Upcoming are the next days on which the subscription is billed, as long as
// every try succeeds.
func (s Subscription) Upcoming(count int) []Date {
	dates := make([]Date, 0, count)
	if s.NextBillingDate.IsZero() || s.EndsBy != "" {
		return dates
	}
	period := s.Period
	if !s.isBilling() || s.NextBillingDate != s.PeriodStart(period) {
		dates = append(dates, s.NextBillingDate)
	}
	for period++; len(dates) < count; period++ {
		if day := s.PeriodStart(period); s.NextBillingDate.Start().Before(day.Start()) {
			dates = append(dates, day)
		}
	}
	return dates
}

// mandateMonths is after how many months without use a mandate lapses (SEPA
// Core Direct Debit rulebook).
const mandateMonths = 36

// LapseDate is the first day on which the mandate must not be used any more.
func (s Subscription) LapseDate() Date {
	return DateOf(s.MandateUsedAt).AddMonths(mandateMonths).AddDays(1)
}

// CancelSubscription ends a subscription: nothing is billed afterwards. The
// outcome of a rebill that is under way is still recorded.
func CancelSubscription(s Subscription, by CancelReason, now time.Time) (Subscription, error) {
	if s.Status == SubscriptionCancelled {
		return s, Conflicting("The subscription is cancelled already.")
	}
	return s, s.end(Cancelled, by, "", now)
}

// Lapse ends a subscription whose mandate was not used for too long, and says
// whether it did.
func (s *Subscription) Lapse(now time.Time) (bool, error) {
	if now.Before(s.LapseDate().Start()) {
		return false, nil
	}
	return true, s.end(MandateLapsed, CancelledByLapse, "", now)
}

// end cancels a subscription that is not cancelled yet.
func (s *Subscription) end(trigger Trigger, why CancelReason, code string, now time.Time) error {
	status, err := follow(SubscriptionRules, s.Status, trigger)
	if err != nil {
		return err
	}
	s.Status, s.CancelledAt, s.NextBillingDate, s.UpdatedAt = status, now, Date{}, now
	s.CancelReason, s.CancelCode = why, code
	s.PausedAt, s.EndsOn, s.EndsBy = time.Time{}, Date{}, ""
	return nil
}
