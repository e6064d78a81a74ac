package store

import (
	"context"
	"database/sql"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

const subscriptionColumns = `tenant_id, id, session_id, order_id, lead_id, offer_id, campaign_id, webhook_profile_id,
	gateway_id, status, amount_minor, currency, billing_frequency, mandate_reference, started_at, next_billing_date,
	trial_end_date, billing_anchor_date, last_billed_at, cancelled_at, successful_count, failed_count, revenue_minor,
	created_at, updated_at`

// insertSubscription starts a subscription with the account that the settling
// transaction was paid from.
func (tx *Tx) insertSubscription(s payment.Subscription, transactionID uuid.UUID) {
	tx.then(`
		INSERT INTO subscriptions (`+subscriptionColumns+`, iban_sealed)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
			$24, $24, iban_sealed
		FROM transactions WHERE tenant_id = $1 AND id = $25`,
		s.TenantID, s.ID, s.SessionID, s.OrderID, s.LeadID, s.OfferID, s.CampaignID, s.WebhookProfileID,
		s.GatewayID, s.Status, s.AmountMinor, s.Currency, s.Frequency, s.MandateReference, micros(s.StartedAt),
		date(s.NextBillingDate), date(s.TrialEndDate), date(s.AnchorDate), micros(s.LastBilledAt), micros(s.CancelledAt),
		s.SuccessfulCount, s.FailedCount, s.RevenueMinor, micros(tx.At), transactionID)
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

func (t Tenant) subscription(ctx context.Context, id uuid.UUID) (*payment.Subscription, error) {
	result, err := t.query(ctx, `SELECT `+subscriptionColumns+` FROM subscriptions WHERE tenant_id = $1 AND id = $2`, id)
	sub, err := one(result, err, scanSubscription)
	return &sub, err
}

func scanSubscription(r rows) (payment.Subscription, error) {
	var s payment.Subscription
	return s, r.Scan(&s.TenantID, &s.ID, &s.SessionID, &s.OrderID, &s.LeadID, &s.OfferID, &s.CampaignID,
		&s.WebhookProfileID, &s.GatewayID, &s.Status, &s.AmountMinor, &s.Currency, &s.Frequency, &s.MandateReference,
		instant{&s.StartedAt}, dateInto{&s.NextBillingDate}, dateInto{&s.TrialEndDate}, dateInto{&s.AnchorDate},
		instant{&s.LastBilledAt}, instant{&s.CancelledAt}, &s.SuccessfulCount, &s.FailedCount, &s.RevenueMinor,
		instant{&s.CreatedAt}, instant{&s.UpdatedAt})
}
