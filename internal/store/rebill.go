package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// DueSubscription is a subscription for which there is something to do, with all
// that a rebill needs.
type DueSubscription struct {
	Subscription payment.Subscription
	Lead         payment.Lead
	// First is the payment that started the subscription, with the account and the
	// mandate that rebills are made from: its own, or those that the payer gave since.
	First      payment.Transaction
	SealedIBAN string
	// TriedMinor is the amount of the latest try of the period, nil where there was none.
	TriedMinor *payment.Minor
	// ReturnedTries is the number of the latest try of the period whose money came back, 0 where there was none.
	ReturnedTries int
	// SetupVersion names the state of the tenant's set-up (Store.Setup).
	SetupVersion int64
	// PausedSince is since when the gateway has been away, zero when it is not.
	PausedSince time.Time
	// RecalledAt is when the gateways of a restored database had been asked, zero where it never was restored.
	RecalledAt time.Time
}

// subscriptionsDueQuery picks what is due before it reads what goes with it: a
// planner that is free to begin with the leads may think little of reading all of
// them, and of sorting all that is due for the sake of a few. For the same reason
// pauses are a list (NOT IN): nearly always there are none, and of a table that it has
// never counted PostgreSQL expects hundreds of rows, as a join one for everything due.
func subscriptionsDueQuery(except, lock string) string {
	return dueSubscriptionQuery(`due_at IS NOT NULL AND due_at <= $1 AND ` + unlessRestored + ` AND ` + unlessPaused + except + `
		ORDER BY due_at LIMIT $2` + lock)
}

const unlessPaused = `(tenant_id, gateway_id) NOT IN
			(SELECT q.tenant_id, q.gateway_id FROM rebill_pauses q WHERE q.paused_until IS NULL OR q.paused_until > $1)`

// subscriptionsAheadQuery picks what is to be prepared at one account. Only what is
// billed by then counts: a mandate lapses on its day and not before.
func subscriptionsAheadQuery(except, lock string) string {
	return dueSubscriptionQuery(`tenant_id = $3 AND gateway_id = $4 AND due_at IS NOT NULL AND due_at <= $5 AND next_billing_date <= $6
			AND ` + unlessRestored + ` AND ` + unlessPaused + except + `
		ORDER BY due_at LIMIT $2` + lock)
}

// except leaves subscriptions out, as a further argument. Whoever reads those that he cannot work on along with the others reads
// all that belongs to each of them, again for every few that he picks.
func (tx *Tx) except(ids []uuid.UUID, args ...any) (condition string, _ []any) {
	if len(ids) == 0 {
		return "", args
	}
	condition, list := tx.NotAmong("id", ids, len(args)+1)
	return ` AND ` + condition, append(args, list)
}

func dueSubscriptionQuery(where string) string {
	return `
	SELECT ` + Subscriptions.List("s") + `, ` + Leads.List("l") + `, s.iban_sealed, n.setup_version, f.iban_masked,
		f.iban_country, f.bic, f.bank_name, f.holder_name, f.email, f.mandate_at,
		CASE WHEN s.mandate_session_id IS NULL THEN f.amount_minor ELSE (SELECT x.amount_minor FROM sessions b
			JOIN transactions x ON x.tenant_id = b.tenant_id AND x.id = b.last_transaction_id
			WHERE b.tenant_id = s.tenant_id AND b.id = s.session_id) END, q.since,
		CASE WHEN s.period_tries > 0 THEN (SELECT x.amount_minor FROM transactions x
			WHERE x.tenant_id = s.tenant_id AND x.order_id = s.order_id AND x.subscription_id = s.id AND x.billing_period = s.period
			ORDER BY x.id DESC LIMIT 1) END,
		CASE WHEN s.period_tries > 0 THEN (SELECT COALESCE(MAX(x.attempt_number), 0) FROM transactions x
			WHERE x.tenant_id = s.tenant_id AND x.order_id = s.order_id AND x.subscription_id = s.id AND x.billing_period = s.period
				AND x.type = 'sdd_rebill' AND x.status = 'charged_back') ELSE 0 END,
		(SELECT recalled_at FROM deployment WHERE id = 1)
	FROM (SELECT ` + Subscriptions.List("") + `, iban_sealed, due_at FROM subscriptions s
		WHERE ` + where + `) AS s
	JOIN tenants n ON n.id = s.tenant_id
	LEFT JOIN rebill_pauses q ON q.tenant_id = s.tenant_id AND q.gateway_id = s.gateway_id
	JOIN leads l ON l.tenant_id = s.tenant_id AND l.id = s.lead_id
	JOIN sessions p ON p.tenant_id = s.tenant_id AND p.id = COALESCE(s.mandate_session_id, s.session_id)
	JOIN transactions f ON f.tenant_id = s.tenant_id AND f.id = p.last_transaction_id
	ORDER BY s.due_at`
}

// SubscriptionsDue gives subscriptions that are due by an instant, longest due
// first, for this unit alone: another one that asks at the same time gets the
// next ones. What is held back at its gateway is left out, and so are those that are named.
func (tx *Tx) SubscriptionsDue(now time.Time, limit int, except ...uuid.UUID) ([]DueSubscription, error) {
	condition, args := tx.except(except, db.Micros(now), limit)
	result, err := tx.Query(subscriptionsDueQuery(condition, tx.SkipLocked("s")), args...)
	return db.Collect(result, err, scanDueSubscription)
}

// SubscriptionsDue gives those that are due whether or not a unit is at work on them.
func (s *Store) SubscriptionsDue(ctx context.Context, now time.Time, limit int) ([]DueSubscription, error) {
	result, err := s.Query(ctx, subscriptionsDueQuery("", ""), db.Micros(now), limit)
	return db.Collect(result, err, scanDueSubscription)
}

// Ahead names a gateway account whose rebills are prepared before they are due, and
// the last billing date for which that is done now.
type Ahead struct {
	TenantID, GatewayID uuid.UUID
	Until               payment.Date
}

// SubscriptionsAhead gives subscriptions of an account that are to be prepared, as
// SubscriptionsDue gives those that are due.
func (tx *Tx) SubscriptionsAhead(a Ahead, now time.Time, limit int, except ...uuid.UUID) ([]DueSubscription, error) {
	condition, args := tx.except(except, db.Micros(now), limit, a.TenantID, a.GatewayID, db.Micros(a.Until.Start()), a.Until.String())
	result, err := tx.Query(subscriptionsAheadQuery(condition, tx.SkipLocked("s")), args...)
	return db.Collect(result, err, scanDueSubscription)
}

// NextBillingAfter is the first billing date at an account after a day, none when
// there is none.
func (t Tenant) NextBillingAfter(ctx context.Context, gatewayID uuid.UUID, day payment.Date) (next payment.Date, err error) {
	result, err := t.Query(ctx, `SELECT next_billing_date FROM subscriptions
		WHERE tenant_id = $1 AND gateway_id = $2 AND due_at IS NOT NULL AND due_at > $3 AND next_billing_date IS NOT NULL
		ORDER BY due_at LIMIT 1`, gatewayID, day.Start().UnixMicro())
	next, err = db.One(result, err, func(r db.Rows) (day payment.Date, err error) { return day, r.Scan(dateInto{&day}) })
	if errors.Is(err, db.ErrNoRow) {
		err = nil
	}
	return next, err
}

func scanDueSubscription(r db.Rows) (d DueSubscription, err error) {
	f := &d.First
	fields := append(Subscriptions.Fields(&d.Subscription), Leads.Fields(&d.Lead)...)
	return d, r.Scan(append(fields, &d.SealedIBAN, &d.SetupVersion, &f.MaskedIBAN, &f.IBANCountry,
		&f.BIC, &f.BankName, &f.HolderName, &f.Email, db.Instant{To: &f.MandateAt}, &f.AmountMinor, db.Instant{To: &d.PausedSince}, &d.TriedMinor, &d.ReturnedTries, db.Instant{To: &d.RecalledAt})...)
}

// DueSubscription reads one with all that a rebill needs, whether it is due or not.
func (t Tenant) DueSubscription(ctx context.Context, id uuid.UUID) (DueSubscription, error) {
	result, err := t.Query(ctx, dueSubscriptionQuery(`tenant_id = $1 AND id = $2`), id)
	return db.One(result, err, scanDueSubscription)
}

// ClaimRebill records a rebill before the gateway is called. The subscription
// must still be as it was read, and no other rebill of the period may stand.
func (tx *Tx) ClaimRebill(c payment.Change, sealedIBAN string) {
	tx.ChangeSubscription(*c.Before.Subscription, *c.Subscription)
	tx.Then(insertTransaction, tx.newTransactionValues(c.Transaction, sealedIBAN)...)
}

// RecognizeRebill makes a payment that was brought in the rebill that it is, and moves its
// subscription on. Whoever was faster with either has the unit end with ErrStale.
func (tx *Tx) RecognizeRebill(brought payment.Transaction, c payment.Change, sealedIBAN string) {
	tx.ChangeSubscription(*c.Before.Subscription, *c.Subscription)
	t := c.Transaction
	tx.Require(ErrStale, `
		UPDATE transactions SET order_id = $4, subscription_id = $5, lead_id = $6, billing_period = $7, type = $8, sequence_type = $9,
			attempt_number = $10, settle_due_at = $11, iban_sealed = $12, iban_masked = $13, iban_country = $14, bic = $15, bank_name = $16,
			holder_name = $17, email = $18, mandate_reference = $19, mandate_at = $20, updated_at = $21
		WHERE tenant_id = $1 AND id = $2 AND status = $3 AND subscription_id IS NULL`,
		brought.TenantID, brought.ID, string(brought.Status), t.OrderID, t.SubscriptionID, t.LeadID, t.Period, string(t.Type), string(t.SequenceType),
		t.Attempt.Number, db.Micros(t.SettleDueAt), sealedIBAN, t.MaskedIBAN, t.IBANCountry, t.BIC, t.BankName,
		t.HolderName, t.Email, t.MandateReference, db.Micros(t.MandateAt), db.Micros(tx.At))
}

// NextBilling is when the next subscription is due, zero for none.
func (s *Store) NextBilling(ctx context.Context) (time.Time, error) {
	result, err := s.Query(ctx, `SELECT MIN(due_at) FROM subscriptions WHERE due_at IS NOT NULL`)
	return db.One(result, err, func(r db.Rows) (at time.Time, err error) { return at, r.Scan(db.Instant{To: &at}) })
}
