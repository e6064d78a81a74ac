package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

const SubscriptionColumns = `tenant_id, id, session_id, order_id, lead_id, offer_id, campaign_id, webhook_profile_id,
	gateway_id, status, amount_minor, currency, billing_frequency, mandate_reference, started_at, next_billing_date,
	trial_end_date, billing_anchor_date, last_billed_at, cancelled_at, successful_count, failed_count, revenue_minor,
	created_at, updated_at, period, period_tries, open_transaction_id, sequence_type, mandate_used_at,
	cancel_reason, cancel_code, owed_periods`

// aliased puts the short name of a table before each of its columns.
func aliased(table, columns string) string {
	return table + "." + strings.Join(columnNames(columns), ", "+table+".")
}

// insertSubscription starts a subscription with the account that the settling
// transaction was paid from.
func (tx *Tx) insertSubscription(s payment.Subscription, transactionID uuid.UUID) {
	tx.Then(`
		INSERT INTO subscriptions (`+SubscriptionColumns+`, due_at, iban_sealed)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
			$24, $24, $26, $27, $28, $29, $30, $32, $33, $34, $31, iban_sealed
		FROM transactions WHERE tenant_id = $1 AND id = $25`,
		s.TenantID, s.ID, s.SessionID, s.OrderID, s.LeadID, s.OfferID, s.CampaignID, s.WebhookProfileID,
		s.GatewayID, s.Status, s.AmountMinor, s.Currency, s.Frequency, s.MandateReference, db.Micros(s.StartedAt),
		date(s.NextBillingDate), date(s.TrialEndDate), date(s.AnchorDate), db.Micros(s.LastBilledAt), db.Micros(s.CancelledAt),
		s.SuccessfulCount, s.FailedCount, s.RevenueMinor, db.Micros(tx.At), transactionID,
		s.Period, s.Tries, s.OpenTransactionID, s.SequenceType, db.Micros(s.MandateUsedAt), db.Micros(s.DueAt()),
		string(s.CancelReason), s.CancelCode, string(s.Owed))
}

// ChangeSubscription writes what happened to a subscription, if billing has not
// gone on since it was read; otherwise Write gives ErrStale. Money that moved and
// nothing else is booked whatever billing does meanwhile.
func (tx *Tx) ChangeSubscription(before, after payment.Subscription) {
	booked := before
	booked.RevenueMinor, booked.UpdatedAt = after.RevenueMinor, after.UpdatedAt
	if after == booked {
		tx.Then(`UPDATE subscriptions SET revenue_minor = revenue_minor + $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2`,
			after.TenantID, after.ID, after.RevenueMinor-before.RevenueMinor, db.Micros(tx.At))
		return
	}
	tx.Require(ErrStale, `
		UPDATE subscriptions SET status = $3, next_billing_date = $4, cancelled_at = $5, last_billed_at = $6,
			successful_count = $7, failed_count = $8, revenue_minor = revenue_minor + $9, updated_at = $10,
			period = $11, period_tries = $12, open_transaction_id = $13, sequence_type = $14, mandate_used_at = $15, due_at = $16,
			cancel_reason = $22, cancel_code = $23, owed_periods = $24
		WHERE tenant_id = $1 AND id = $2 AND status = $17 AND period = $18 AND period_tries = $19
			AND COALESCE(open_transaction_id, $20) = $21`,
		after.TenantID, after.ID, after.Status, date(after.NextBillingDate), db.Micros(after.CancelledAt), db.Micros(after.LastBilledAt),
		after.SuccessfulCount, after.FailedCount, after.RevenueMinor-before.RevenueMinor, db.Micros(tx.At),
		after.Period, after.Tries, after.OpenTransactionID, after.SequenceType, db.Micros(after.MandateUsedAt), db.Micros(after.DueAt()),
		before.Status, before.Period, before.Tries, uuid.Nil, orNil(before.OpenTransactionID),
		string(after.CancelReason), after.CancelCode, string(after.Owed))
}

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
	result, err := t.Query(ctx, `SELECT `+SubscriptionColumns+` FROM subscriptions WHERE tenant_id = $1 AND id = $2`, id)
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
	return s, r.Scan(subscriptionFields(&s)...)
}

func subscriptionFields(s *payment.Subscription) []any {
	return []any{
		&s.TenantID, &s.ID, &s.SessionID, &s.OrderID, &s.LeadID, &s.OfferID, &s.CampaignID,
		&s.WebhookProfileID, &s.GatewayID, &s.Status, &s.AmountMinor, &s.Currency, &s.Frequency, &s.MandateReference,
		db.Instant{To: &s.StartedAt},
		dateInto{&s.NextBillingDate},
		dateInto{&s.TrialEndDate},
		dateInto{&s.AnchorDate},
		db.Instant{To: &s.LastBilledAt},
		db.Instant{To: &s.CancelledAt},
		&s.SuccessfulCount, &s.FailedCount, &s.RevenueMinor,
		db.Instant{To: &s.CreatedAt},
		db.Instant{To: &s.UpdatedAt},
		&s.Period, &s.Tries, &s.OpenTransactionID, &s.SequenceType,
		db.Instant{To: &s.MandateUsedAt},
		&s.CancelReason, &s.CancelCode, &s.Owed,
	}
}
