package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// Subscriptions are the rows of subscriptions, but for the sealed account and for
// when they are due, which is derived.
var Subscriptions = db.Table[payment.Subscription]{Name: "subscriptions", Columns: []db.Column[payment.Subscription]{
	db.Field("tenant_id", func(s *payment.Subscription) *uuid.UUID { return &s.TenantID }),
	db.Field("id", func(s *payment.Subscription) *uuid.UUID { return &s.ID }),
	db.Field("session_id", func(s *payment.Subscription) *uuid.UUID { return &s.SessionID }),
	db.Field("order_id", func(s *payment.Subscription) *uuid.UUID { return &s.OrderID }),
	db.Field("lead_id", func(s *payment.Subscription) *uuid.UUID { return &s.LeadID }),
	db.Optional("offer_id", func(s *payment.Subscription) **uuid.UUID { return &s.OfferID }),
	db.Optional("campaign_id", func(s *payment.Subscription) **uuid.UUID { return &s.CampaignID }),
	db.Optional("webhook_profile_id", func(s *payment.Subscription) **uuid.UUID { return &s.WebhookProfileID }),
	db.Field("gateway_id", func(s *payment.Subscription) *uuid.UUID { return &s.GatewayID }),
	db.Field("status", func(s *payment.Subscription) *payment.SubscriptionStatus { return &s.Status }).Changing(),
	db.Field("amount_minor", func(s *payment.Subscription) *payment.Minor { return &s.AmountMinor }).Changing(),
	db.Field("currency", func(s *payment.Subscription) *string { return &s.Currency }),
	db.Field("billing_frequency", func(s *payment.Subscription) *payment.BillingFrequency { return &s.Frequency }),
	db.Field("mandate_reference", func(s *payment.Subscription) *string { return &s.MandateReference }).Changing(),
	db.Optional("mandate_session_id", func(s *payment.Subscription) **uuid.UUID { return &s.MandateSessionID }).Changing(),
	db.Time("started_at", func(s *payment.Subscription) *time.Time { return &s.StartedAt }),
	day("next_billing_date", func(s *payment.Subscription) *payment.Date { return &s.NextBillingDate }).Changing(),
	day("trial_end_date", func(s *payment.Subscription) *payment.Date { return &s.TrialEndDate }),
	day("billing_anchor_date", func(s *payment.Subscription) *payment.Date { return &s.AnchorDate }),
	db.Time("last_billed_at", func(s *payment.Subscription) *time.Time { return &s.LastBilledAt }).Changing(),
	db.Time("cancelled_at", func(s *payment.Subscription) *time.Time { return &s.CancelledAt }).Changing(),
	db.Field("successful_count", func(s *payment.Subscription) *int { return &s.SuccessfulCount }).Changing(),
	db.Field("failed_count", func(s *payment.Subscription) *int { return &s.FailedCount }).Changing(),
	db.Field("revenue_minor", func(s *payment.Subscription) *payment.Minor { return &s.RevenueMinor }),
	db.Time("created_at", func(s *payment.Subscription) *time.Time { return &s.CreatedAt }),
	db.Time("updated_at", func(s *payment.Subscription) *time.Time { return &s.UpdatedAt }).Changing(),
	db.Field("period", func(s *payment.Subscription) *int { return &s.Period }).Changing(),
	db.Field("period_tries", func(s *payment.Subscription) *int { return &s.Tries }).Changing(),
	db.Optional("open_transaction_id", func(s *payment.Subscription) **uuid.UUID { return &s.OpenTransactionID }).Changing(),
	db.Field("sequence_type", func(s *payment.Subscription) *payment.SequenceType { return &s.SequenceType }).Changing(),
	db.Time("mandate_used_at", func(s *payment.Subscription) *time.Time { return &s.MandateUsedAt }).Changing(),
	db.Field("cancel_reason", func(s *payment.Subscription) *payment.CancelReason { return &s.CancelReason }).Changing(),
	db.Field("cancel_code", func(s *payment.Subscription) *string { return &s.CancelCode }).Changing(),
	db.Field("owed_periods", func(s *payment.Subscription) *payment.Periods { return &s.Owed }).Changing(),
	db.Time("paused_at", func(s *payment.Subscription) *time.Time { return &s.PausedAt }).Changing(),
	day("ends_on", func(s *payment.Subscription) *payment.Date { return &s.EndsOn }).Changing(),
	db.Field("ends_by", func(s *payment.Subscription) *payment.CancelReason { return &s.EndsBy }).Changing(),
	day("rhythm_date", func(s *payment.Subscription) *payment.Date { return &s.RhythmDate }).Changing(),
	db.Field("rhythm_period", func(s *payment.Subscription) *int { return &s.RhythmPeriod }).Changing(),
	db.Time("steered_at", func(s *payment.Subscription) *time.Time { return &s.SteeredAt }).Changing(),
}}

// day is a column that holds a date; none is NULL.
func day(name string, at func(*payment.Subscription) *payment.Date) db.Column[payment.Subscription] {
	return db.Custom(name,
		func(s *payment.Subscription) any { return dateInto{at(s)} },
		func(s *payment.Subscription) any { return date(*at(s)) })
}

// insertSubscription starts a subscription with the account that the settling
// transaction was paid from.
func (tx *Tx) insertSubscription(s payment.Subscription, transactionID uuid.UUID) {
	s.CreatedAt, s.UpdatedAt = tx.At, tx.At
	tx.Then(insertSubscription, append(Subscriptions.Values(&s), db.Micros(s.DueAt()), transactionID)...)
}

var insertSubscription = `INSERT INTO subscriptions (` + Subscriptions.List("") + `, due_at, iban_sealed)
	SELECT ` + Subscriptions.Places(1) + `, ` + db.Place(len(Subscriptions.Columns)+1) + `, iban_sealed
	FROM transactions WHERE tenant_id = ` + Subscriptions.Place("tenant_id", 1) + `
		AND id = ` + db.Place(len(Subscriptions.Columns)+2)

// ChangeSubscription writes what happened to a subscription, if billing has not
// gone on and nobody has changed it by hand since it was read; otherwise Write gives ErrStale. Money that moved and
// nothing else is booked whatever billing does meanwhile.
func (tx *Tx) ChangeSubscription(before, after payment.Subscription) {
	booked := before
	booked.RevenueMinor, booked.UpdatedAt = after.RevenueMinor, after.UpdatedAt
	if after == booked {
		tx.Then(`UPDATE subscriptions SET revenue_minor = revenue_minor + $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2`,
			after.TenantID, after.ID, after.RevenueMinor-before.RevenueMinor, db.Micros(tx.At))
		return
	}
	gained := after.RevenueMinor - before.RevenueMinor
	after.UpdatedAt = tx.At
	tx.Require(ErrStale, changeSubscription, Subscriptions.Changes(&after, after.TenantID, after.ID,
		gained, db.Micros(after.DueAt()), before.Status, before.Period, before.Tries, uuid.Nil, orNil(before.OpenTransactionID),
		before.FailedCount, before.Owed, max(0, before.SteeredAt.UnixMicro()))...)
	if after.MandateReference != before.MandateReference {
		tx.Then(`
			UPDATE subscriptions SET iban_sealed = (SELECT t.iban_sealed FROM sessions s
				JOIN transactions t ON t.tenant_id = s.tenant_id AND t.id = s.last_transaction_id
				WHERE s.tenant_id = subscriptions.tenant_id AND s.id = subscriptions.mandate_session_id)
			WHERE tenant_id = $1 AND id = $2`, after.TenantID, after.ID)
	}
}

var changeSubscription = `UPDATE subscriptions SET revenue_minor = revenue_minor + $3, due_at = $4, ` + Subscriptions.Set(13) + `
	WHERE tenant_id = $1 AND id = $2 AND status = $5 AND period = $6 AND period_tries = $7
		AND COALESCE(open_transaction_id, $8) = $9 AND failed_count = $10 AND owed_periods = $11 AND COALESCE(steered_at, 0) = $12`

// orNil is an id, or the nil id for none.
func orNil(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}

// date is how a day is kept; none is NULL.
func date(d payment.Date) any {
	if d.IsZero() {
		return nil
	}
	return d.String()
}

// dateInto scans a day; NULL is no date.
type dateInto struct{ to *payment.Date }

func (d dateInto) Scan(value any) (err error) {
	var text sql.NullString
	if err := text.Scan(value); err != nil || !text.Valid {
		*d.to = payment.Date{}
		return err
	}
	*d.to, err = payment.ParseDate(text.String)
	return err
}

// ErrNoSubscription is the answer for a subscription that nobody has.
var ErrNoSubscription = &payment.Error{Kind: payment.NotFound, Detail: "Subscription not found"}

// Subscription reads one subscription.
func (t Tenant) Subscription(ctx context.Context, id uuid.UUID) (payment.Subscription, error) {
	result, err := t.Query(ctx, `SELECT `+Subscriptions.List("")+` FROM subscriptions WHERE tenant_id = $1 AND id = $2`, id)
	found, err := db.One(result, err, ScanSubscription)
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoSubscription
	}
	return found, err
}

// subscriptionOf reads the subscription that a transaction belongs to, if any.
func (t Tenant) subscriptionOf(ctx context.Context, of payment.Transaction) (*payment.Subscription, error) {
	if of.SubscriptionID == nil {
		return nil, nil
	}
	found, err := t.Subscription(ctx, *of.SubscriptionID)
	return &found, err
}

func ScanSubscription(r db.Rows) (s payment.Subscription, err error) {
	return s, r.Scan(Subscriptions.Fields(&s)...)
}
