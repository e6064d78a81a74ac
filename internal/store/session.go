package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// ErrLeadBusy says that the lead has an active session already.
var ErrLeadBusy = payment.Conflicting("The lead already has an active session.")

const SessionColumns = `s.tenant_id, s.id, s.token, s.lead_id, s.status, s.price_minor, s.currency, s.billing_type,
	s.billing_frequency, s.trial_unit, s.trial_period, s.trial_minor, s.gateway_id, s.campaign_id, s.offer_id,
	s.hosted_page_id, s.webhook_profile_id, s.acceptance_mode, s.mandate_reference, s.customer_ip, s.max_attempts,
	s.attempts_used, s.open_transaction_id, s.last_transaction_id, s.holds_lead, s.expires_at, s.created_at, s.updated_at`

// SessionFields are the destinations for SessionColumns.
func SessionFields(s *payment.Session) []any {
	t := &s.Terms
	return []any{
		&s.TenantID, &s.ID, &s.Token, &s.LeadID, &s.Status, &t.PriceMinor, &t.Currency, &t.BillingType,
		&t.Frequency, &t.TrialUnit, &t.TrialPeriod, &t.TrialMinor, &s.GatewayID, &s.CampaignID, &s.OfferID,
		&s.HostedPageID, &s.WebhookProfileID, &s.AcceptanceMode, &s.MandateReference, &s.CustomerIP, &s.MaxAttempts,
		&s.AttemptsUsed, &s.OpenTransactionID, &s.LastTransactionID, &s.HoldsLead,
		db.Instant{To: &s.ExpiresAt},
		db.Instant{To: &s.CreatedAt},
		db.Instant{To: &s.UpdatedAt},
	}
}

// ErrNoLead is the answer for a lead that nobody has.
var ErrNoLead = &payment.Error{Kind: payment.NotFound, Detail: "Lead not found"}

const LeadColumns = `l.id, l.email, l.first_name, l.last_name, l.country, l.address, l.city, l.postal_code, l.phone`

func LeadFields(l *payment.Lead) []any {
	return []any{&l.ID, &l.Email, &l.FirstName, &l.LastName, &l.Country, &l.Address, &l.City, &l.PostalCode, &l.Phone}
}

// CreateSession writes the lead and its session. The lead is known by its
// address; one that holds another session refuses the unit (IsLeadBusy).
func (tx *Tx) CreateSession(s payment.Session, lead payment.Lead) {
	tx.Share(leadRow(s.TenantID, lead))
	tx.Continue(nil, insertLead+`VALUES (`+leadValues+`)`+orMergeLead, insertSession,
		append(tx.sessionArgs(s, lead), leadArgs(lead)...)...)
}

// CreateSessionFor is CreateSession for a key that was recalled: where the key has
// been revoked or the set-up changed since, nothing is written and Write gives
// ErrStale. That is decided before IsLeadBusy, which thus speaks for a valid key.
// The key is asked for in the statement that writes anyway: to ask apart would
// cost every create another one.
func (tx *Tx) CreateSessionFor(c Credential, s payment.Session, lead payment.Lead) {
	tx.Share(leadRow(s.TenantID, lead))
	args := append(tx.sessionArgs(s, lead), leadArgs(lead)...)
	tx.Continue(ErrStale, insertLead+`SELECT `+leadValues+`
			FROM tenants n JOIN api_keys k ON k.tenant_id = n.id
			WHERE n.id = $1 AND n.setup_version = $33 AND k.id = $34 AND k.revoked_at IS NULL`+orMergeLead, insertSession,
		append(args, c.SetupVersion, c.KeyID)...)
}

// leadRow names the row at which creates for one lead queue up.
func leadRow(tenantID uuid.UUID, lead payment.Lead) string {
	return "leads/" + tenantID.String() + "/" + lead.EmailKey()
}

// ReplaceSession is CreateSession for a lead that holds a session: one whose
// time has run out makes way first. It is a step of its own because nearly all
// creates do without it.
func (tx *Tx) ReplaceSession(s payment.Session, lead payment.Lead) {
	// The lead comes first, so that creates for one lead queue up at its row.
	tx.Then(insertLead+`VALUES ($1, $4, $5, $3, $6, $7, $8, COALESCE($9, ''), COALESCE($10, ''), COALESCE($11, ''),
			COALESCE($12, ''), $2, $2)`+mergeLead(9),
		append([]any{s.TenantID, db.Micros(tx.At), lead.EmailKey()}, leadArgs(lead)...)...)
	tx.Then(`
		UPDATE sessions SET holds_lead = FALSE, updated_at = $3,
			status = CASE WHEN status = 'PENDING' THEN 'EXPIRED' ELSE status END
		WHERE tenant_id = $1 AND lead_id = (SELECT id FROM leads WHERE tenant_id = $1 AND email_key = $2)
			AND holds_lead AND expires_at <= $3 AND NOT (status = 'PENDING' AND open_transaction_id IS NOT NULL)`,
		s.TenantID, lead.EmailKey(), db.Micros(tx.At))
	tx.Then(insertSession.Separately(), tx.sessionArgs(s, lead)...)
}

const (
	insertLead = `
		INSERT INTO leads (tenant_id, id, email, email_key, first_name, last_name, country, address, city, postal_code,
			phone, created_at, updated_at) `
	// leadValues share the tenant, the instant and the address with the session.
	leadValues = `$1, $24, $25, $23, $26, $27, $28, COALESCE($29, ''), COALESCE($30, ''), COALESCE($31, ''),
		COALESCE($32, ''), $22, $22`
)

var orMergeLead = mergeLead(29)

// mergeLead writes over what is known of a lead. Its optional fields are four
// parameters, the first of which has the given number; what they leave out stays.
func mergeLead(first int) string {
	update := `
		ON CONFLICT (tenant_id, email_key) DO UPDATE SET email = excluded.email, first_name = excluded.first_name,
			last_name = excluded.last_name, country = excluded.country, updated_at = excluded.updated_at`
	for i, name := range [...]string{"address", "city", "postal_code", "phone"} {
		update += fmt.Sprintf(", %[1]s = COALESCE($%[2]d, leads.%[1]s)", name, first+i)
	}
	return update
}

// leadArgs are the fields of a lead alone.
func leadArgs(lead payment.Lead) []any {
	return []any{
		lead.ID, lead.Email, lead.FirstName, lead.LastName, lead.Country, said(lead.Address, lead.Unsaid.Address),
		said(lead.City, lead.Unsaid.City), said(lead.PostalCode, lead.Unsaid.PostalCode), said(lead.Phone, lead.Unsaid.Phone),
	}
}

// said is NULL for a field that was left out.
func said(text string, unsaid bool) any {
	if unsaid {
		return nil
	}
	return text
}

// insertSession makes the session of the lead that was written.
var insertSession = db.Continuation{
	Found: `SELECT id FROM leads WHERE tenant_id = $1 AND email_key = $23`,
	SQL: `
		INSERT INTO sessions (tenant_id, id, token, lead_id, status, price_minor, currency, billing_type,
			billing_frequency, trial_unit, trial_period, trial_minor, gateway_id, campaign_id, offer_id,
			hosted_page_id, webhook_profile_id, acceptance_mode, mandate_reference, customer_ip, max_attempts,
			attempts_used, holds_lead, expires_at, created_at, updated_at)
		VALUES ($1, $2, $3, (SELECT id FROM written), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
			$18, $19, $20, 0, TRUE, $21, $22, $22)`,
}

// sessionArgs are the arguments of insertSession.
func (tx *Tx) sessionArgs(s payment.Session, lead payment.Lead) []any {
	t := s.Terms
	return append(make([]any, 0, 34),
		s.TenantID, s.ID, s.Token, s.Status, t.PriceMinor, t.Currency, t.BillingType,
		t.Frequency, t.TrialUnit, t.TrialPeriod, t.TrialMinor, s.GatewayID, s.CampaignID, s.OfferID,
		s.HostedPageID, s.WebhookProfileID, s.AcceptanceMode, s.MandateReference, s.CustomerIP, s.MaxAttempts,
		db.Micros(s.ExpiresAt), db.Micros(tx.At), lead.EmailKey())
}

// IsLeadBusy tells that a create failed because its lead holds a session.
func IsLeadBusy(err error) bool { return db.IsKey(err, "sessions_lead_id_key") }

// Refused turns the broken keys of a create into what the caller is told.
func Refused(err error) error {
	switch {
	case IsLeadBusy(err):
		return ErrLeadBusy
	case db.IsKey(err, "transactions_tenant_reference_id_key"):
		return payment.ErrReferenceInUse
	case db.IsKey(err, "transactions_session_id_key"):
		return payment.Conflicting("A payment for this session is being processed.")
	default:
		return err
	}
}

// IsReferenceCollision tells that a claim failed because a random reference of
// ours was taken already; a new one is to be made.
func IsReferenceCollision(err error) bool {
	return db.IsKey(err, "orders_order_number_key") || db.IsKey(err, "transactions_merchant_transaction_id_key")
}

// EndSession writes a session that was cancelled or whose time ran out, if it
// is still as it was read.
func (tx *Tx) EndSession(s payment.Session) {
	tx.Require(payment.Conflicting(payment.DetailConflict), `
		UPDATE sessions SET status = $3, holds_lead = FALSE, updated_at = $4
		WHERE tenant_id = $1 AND id = $2 AND status = 'PENDING' AND open_transaction_id IS NULL`,
		s.TenantID, s.ID, s.Status, db.Micros(tx.At))
}

// Repeat is the outcome of an earlier create with the same idempotency key.
type Repeat struct {
	sepa.Masked
	RequestHash string
	Token       string
}

// RememberCreate binds an idempotency key to the session that this unit makes.
func (tx *Tx) RememberCreate(tenantID uuid.UUID, key, requestHash string, sessionID uuid.UUID, until time.Time) {
	tx.Then(`DELETE FROM idempotency_keys WHERE tenant_id = $1 AND key = $2 AND expires_at <= $3`,
		tenantID, key, db.Micros(tx.At))
	tx.Then(`
		INSERT INTO idempotency_keys (tenant_id, key, request_hash, session_id, expires_at)
		VALUES ($1, $2, $3, $4, $5)`, tenantID, key, requestHash, sessionID, db.Micros(until))
}

// ForgetExpiredKeys removes idempotency keys whose time is over.
func (tx *Tx) ForgetExpiredKeys() {
	tx.Then(`DELETE FROM idempotency_keys WHERE expires_at <= $1`, db.Micros(tx.At))
}

// IsRepeat tells that a create failed because its idempotency key was used.
func IsRepeat(err error) bool { return db.IsKey(err, "idempotency_keys_key_key") }

// RepeatOf finds what was made under an idempotency key.
func (t Tenant) RepeatOf(ctx context.Context, key string, now time.Time) (repeat Repeat, found bool, err error) {
	result, err := t.Query(ctx, `
		SELECT k.request_hash, s.token FROM idempotency_keys k
		JOIN sessions s ON s.tenant_id = k.tenant_id AND s.id = k.session_id
		WHERE k.tenant_id = $1 AND k.key = $2 AND k.expires_at > $3`, key, db.Micros(now))
	repeat, err = db.One(result, err, func(r db.Rows) (Repeat, error) {
		var v Repeat
		return v, r.Scan(&v.RequestHash, &v.Token)
	})
	if errors.Is(err, db.ErrNoRow) {
		return Repeat{}, false, nil
	}
	return repeat, err == nil, err
}
