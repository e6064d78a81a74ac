package store

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// ErrLeadBusy says that the lead has an active session already.
var ErrLeadBusy = payment.Conflicting("The lead already has an active session.")

// Sessions are the rows of sessions, but for what is kept of their tokens.
var Sessions = db.Table[payment.Session]{Name: "sessions", Columns: []db.Column[payment.Session]{
	db.Field("tenant_id", func(s *payment.Session) *uuid.UUID { return &s.TenantID }),
	db.Field("id", func(s *payment.Session) *uuid.UUID { return &s.ID }),
	db.Field("lead_id", func(s *payment.Session) *uuid.UUID { return &s.LeadID }),
	db.Field("status", func(s *payment.Session) *payment.SessionStatus { return &s.Status }),
	db.Field("price_minor", func(s *payment.Session) *payment.Minor { return &s.Terms.PriceMinor }),
	db.Field("currency", func(s *payment.Session) *string { return &s.Terms.Currency }),
	db.Field("billing_type", func(s *payment.Session) *payment.BillingType { return &s.Terms.BillingType }),
	db.Field("billing_frequency", func(s *payment.Session) *payment.BillingFrequency { return &s.Terms.Frequency }),
	db.Field("trial_unit", func(s *payment.Session) *payment.TrialUnit { return &s.Terms.TrialUnit }),
	db.Field("trial_period", func(s *payment.Session) *int { return &s.Terms.TrialPeriod }),
	db.Optional("trial_minor", func(s *payment.Session) **payment.Minor { return &s.Terms.TrialMinor }),
	db.Field("gateway_id", func(s *payment.Session) *uuid.UUID { return &s.GatewayID }),
	db.Optional("campaign_id", func(s *payment.Session) **uuid.UUID { return &s.CampaignID }),
	db.Optional("offer_id", func(s *payment.Session) **uuid.UUID { return &s.OfferID }),
	db.Optional("hosted_page_id", func(s *payment.Session) **uuid.UUID { return &s.HostedPageID }),
	db.Optional("webhook_profile_id", func(s *payment.Session) **uuid.UUID { return &s.WebhookProfileID }),
	db.Optional("renews_subscription_id", func(s *payment.Session) **uuid.UUID { return &s.RenewsID }),
	db.Optional("tenant_reference_id", func(s *payment.Session) **string { return &s.TenantReferenceID }),
	db.Custom("options",
		func(s *payment.Session) any { return optionsInto{&s.Options} },
		func(s *payment.Session) any { return optionsText(s.Options) }),
	db.Field("acceptance_mode", func(s *payment.Session) *payment.AcceptanceMode { return &s.AcceptanceMode }),
	db.Field("mandate_reference", func(s *payment.Session) *string { return &s.MandateReference }),
	db.Field("customer_ip", func(s *payment.Session) *string { return &s.CustomerIP }),
	db.Field("max_attempts", func(s *payment.Session) *int { return &s.MaxAttempts }),
	db.Field("attempts_used", func(s *payment.Session) *int { return &s.AttemptsUsed }),
	db.Optional("open_transaction_id", func(s *payment.Session) **uuid.UUID { return &s.OpenTransactionID }),
	db.Optional("last_transaction_id", func(s *payment.Session) **uuid.UUID { return &s.LastTransactionID }),
	db.Field("holds_lead", func(s *payment.Session) *bool { return &s.HoldsLead }),
	db.Time("expires_at", func(s *payment.Session) *time.Time { return &s.ExpiresAt }),
	db.Time("created_at", func(s *payment.Session) *time.Time { return &s.CreatedAt }),
	db.Time("updated_at", func(s *payment.Session) *time.Time { return &s.UpdatedAt }),
}}

// ErrNoLead is the answer for a lead that nobody has.
var ErrNoLead = &payment.Error{Kind: payment.NotFound, Detail: "Lead not found"}

// Leads are what is known of persons.
var Leads = db.Table[payment.Lead]{Name: "leads", Columns: []db.Column[payment.Lead]{
	db.Field("id", func(l *payment.Lead) *uuid.UUID { return &l.ID }),
	db.Field("email", func(l *payment.Lead) *string { return &l.Email }),
	db.Field("first_name", func(l *payment.Lead) *string { return &l.FirstName }),
	db.Field("last_name", func(l *payment.Lead) *string { return &l.LastName }),
	db.Field("country", func(l *payment.Lead) *string { return &l.Country }),
	unlessUnsaid("address", func(l *payment.Lead) (*string, bool) { return &l.Address, l.Unsaid.Address }),
	unlessUnsaid("city", func(l *payment.Lead) (*string, bool) { return &l.City, l.Unsaid.City }),
	unlessUnsaid("postal_code", func(l *payment.Lead) (*string, bool) { return &l.PostalCode, l.Unsaid.PostalCode }),
	unlessUnsaid("phone", func(l *payment.Lead) (*string, bool) { return &l.Phone, l.Unsaid.Phone }),
}}

// unlessUnsaid is a field that a create may leave out: then it is NULL, which is
// not written.
func unlessUnsaid(name string, at func(*payment.Lead) (to *string, unsaid bool)) db.Column[payment.Lead] {
	return db.Custom(name,
		func(l *payment.Lead) any { to, _ := at(l); return to },
		func(l *payment.Lead) any {
			if to, unsaid := at(l); !unsaid {
				return *to
			}
			return nil
		}).As("COALESCE(?, '')")
}

// CreateSession writes the lead and its session. The lead is known by its
// address; one that holds another session refuses the unit (IsLeadBusy).
func (tx *Tx) CreateSession(s NewSession, lead payment.Lead) {
	tx.Share("leads", rowName(s.TenantID, lead.EmailKey()))
	tx.Continue(nil, createLead.text(lead), insertSession, tx.createArgs(s, lead)...)
}

// CreateSessionFor is CreateSession for a key that was recalled: where the key has
// been revoked or the set-up changed since, nothing is written and Write gives
// ErrStale. That is decided before IsLeadBusy, which thus speaks for a valid key.
// The key is asked for in the statement that writes anyway: to ask apart would
// cost every create another one.
func (tx *Tx) CreateSessionFor(c Credential, s NewSession, lead payment.Lead) {
	tx.Share("leads", rowName(s.TenantID, lead.EmailKey()))
	tx.Continue(ErrStale, createLeadFor.text(lead), insertSession, append(tx.createArgs(s, lead), c.SetupVersion, c.KeyID)...)
}

// rowName names a tenant's row at which units queue up.
func rowName(tenantID uuid.UUID, key string) string { return tenantID.String() + "/" + key }

// shareSession lets a payment's unit commit together with those of others. Its rows all
// hang on its session, whose row it takes first.
func (tx *Tx) shareSession(s payment.Session) {
	tx.Share("sessions", rowName(s.TenantID, s.ID.String()))
}

// ReplaceSession is CreateSession for a lead that holds a session: one whose
// time has run out makes way first. It is a step of its own because nearly all
// creates do without it.
func (tx *Tx) ReplaceSession(s NewSession, lead payment.Lead) {
	// The lead comes first, so that creates for one lead queue up at its row.
	tx.Then(replaceLead.text(lead), append([]any{s.TenantID, db.Micros(tx.At), lead.EmailKey()}, Leads.Values(&lead)...)...)
	tx.Then(`
		UPDATE sessions SET holds_lead = FALSE, updated_at = $3,
			status = CASE WHEN status = 'PENDING' THEN 'EXPIRED' ELSE status END
		WHERE tenant_id = $1 AND lead_id = (SELECT id FROM leads WHERE tenant_id = $1 AND email_key = $2)
			AND holds_lead AND expires_at <= $3 AND NOT (status = 'PENDING' AND open_transaction_id IS NOT NULL)`,
		s.TenantID, lead.EmailKey(), db.Micros(tx.At))
	tx.Then(insertSession.Separately(), append(tx.newSessionValues(s), lead.EmailKey())...)
}

// The parameters of a create are those of newSession, what is kept of the token, the
// key of the lead's address, the lead's own, and what is asked of the API key.
var (
	// newSession is a session without its lead, whose id only the database knows.
	newSession = Sessions.Without("lead_id")
	tokenPlace = len(newSession.Columns) + 1
	keyPlace   = tokenPlace + 2
	leadPlace  = keyPlace + 1
	restPlace  = leadPlace + len(Leads.Columns)

	sharedTenant, sharedInstant = newSession.Place("tenant_id", 1), newSession.Place("created_at", 1)

	createLead    = writeLead(sharedTenant, sharedInstant, db.Place(keyPlace), leadPlace, "VALUES (", ")")
	createLeadFor = writeLead(sharedTenant, sharedInstant, db.Place(keyPlace), leadPlace, "SELECT ", `
		FROM tenants n JOIN api_keys k ON k.tenant_id = n.id
		WHERE n.id = `+sharedTenant+` AND n.setup_version = `+db.Place(restPlace)+`
			AND k.id = `+db.Place(restPlace+1)+` AND k.revoked_at IS NULL`)
	replaceLead = writeLead("$1", "$2", "$3", 4, "VALUES (", ")")

	// insertSession makes the session of the lead that was written.
	insertSession = db.Continuation{
		Knows: `id, tenant_id, email_key`,
		Found: `SELECT id, tenant_id, email_key FROM leads WHERE tenant_id = ` + sharedTenant + ` AND email_key = ` + db.Place(keyPlace),
		SQL: `INSERT INTO sessions (lead_id, ` + newSession.List("") + `, token, token_sealed)
			VALUES ((SELECT id FROM written WHERE tenant_id = ` + sharedTenant + ` AND email_key = ` + db.Place(keyPlace) + `), ` + newSession.Places(1) + `, ` + db.Place(tokenPlace) + `, ` + db.Place(tokenPlace+1) + `)`,
	}
)

// leadTexts are statements that write a lead, over what is known of it where the
// address is known: what a create left out stays.
type leadTexts struct{ all, none, some string }

// writeLead are the texts that take a lead's own fields as parameters from a number on.
func writeLead(tenant, instant, key string, first int, before, after string) leadTexts {
	text := `INSERT INTO leads (tenant_id, email_key, created_at, updated_at, ` + Leads.List("") + `) ` +
		before + strings.Join([]string{tenant, key, instant, instant, Leads.Places(first)}, ", ") + after + `
		ON CONFLICT (tenant_id, email_key) DO UPDATE SET email = excluded.email, first_name = excluded.first_name,
			last_name = excluded.last_name, country = excluded.country, updated_at = excluded.updated_at`
	texts := leadTexts{text, text, text}
	for _, name := range [...]string{"address", "city", "postal_code", "phone"} {
		texts.all += ", " + name + " = excluded." + name
		texts.some += ", " + name + " = COALESCE(" + Leads.Place(name, first) + ", leads." + name + ")"
	}
	return texts
}

// text is the one for what a create said. Those that say all or nothing, as nearly every
// merchant's do, ask for no parameter beside the new row, and can be written in sets.
func (t leadTexts) text(lead payment.Lead) string {
	unsaid := lead.Unsaid
	switch {
	case !unsaid.Address && !unsaid.City && !unsaid.PostalCode && !unsaid.Phone:
		return t.all
	case unsaid.Address && unsaid.City && unsaid.PostalCode && unsaid.Phone:
		return t.none
	default:
		return t.some
	}
}

// MoveLead writes down where a payer says to live, unless a merchant has told
// another address in full since the known one was read. It goes before a session's
// claim: creates take the lead's row first as well, and so neither waits for the
// other in a circle.
func (tx *Tx) MoveLead(tenantID uuid.UUID, known, told payment.Lead) {
	tx.Apart()
	tx.Then(`
		UPDATE leads SET address = $3, city = $4, updated_at = $5
		WHERE tenant_id = $1 AND id = $2 AND (address = '' OR city = '' OR address = $6 AND city = $7)`,
		tenantID, told.ID, told.Address, told.City, db.Micros(tx.At), known.Address, known.City)
}

// HoldLead lets a unit that writes what was read of a lead go on only while the person is not erased, and has whoever
// erases it meanwhile wait: otherwise it would be there again, as somebody new.
func (tx *Tx) HoldLead(tenantID, id uuid.UUID) {
	tx.Apart()
	tx.Require(ErrStale, `UPDATE leads SET updated_at = updated_at WHERE tenant_id = $1 AND id = $2 AND erased_at IS NULL`, tenantID, id)
}

// createArgs are the arguments of a create but for those of the API key.
func (tx *Tx) createArgs(s NewSession, lead payment.Lead) []any {
	return append(append(tx.newSessionValues(s), lead.EmailKey()), Leads.Values(&lead)...)
}

func (tx *Tx) newSessionValues(s NewSession) []any {
	s.CreatedAt, s.UpdatedAt = tx.At, tx.At
	return append(newSession.Values(&s.Session), s.keptToken, s.sealedToken)
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
