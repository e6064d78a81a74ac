package listing

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// The lists in which operators look for something. What is zero in a search
// admits all; without a tenant, the lists of all tenants are put together.

// Common is what every search may ask for.
type Common struct {
	TenantID uuid.UUID
	// Text is what somebody has typed into the search field: any reference, id, address,
	// name or amount, or the last four digits of an account (find.go).
	Text string
	// CreatedFrom is the first instant, CreatedBefore the first one beyond.
	CreatedFrom, CreatedBefore time.Time
}

// What a lead has is found by way of the lead: address, sessions, orders.
const (
	leadOf   = `(SELECT p.id FROM leads p WHERE p.tenant_id = $1 AND p.email_key = $%d)`
	orderOf  = `(SELECT b.id FROM orders b WHERE b.tenant_id = $1 AND b.order_number = $%d)`
	ordersOf = `(SELECT b.id FROM sessions v JOIN orders b ON b.tenant_id = v.tenant_id AND b.session_id = v.id
		WHERE v.tenant_id = $1 AND v.lead_id = ` + leadOf + `)`
)

// SessionSearch says which sessions are looked for.
type SessionSearch struct {
	sepa.Masked
	Common
	// Status is the one that readers see at the instant Now.
	Status      payment.SessionStatus
	Now         time.Time
	EmailKey    string
	LeadID      uuid.UUID
	OrderNumber string
	CampaignID  uuid.UUID
	GatewayID   uuid.UUID
}

// SessionRecord is a session as an operator sees it. Its token is kept apart, for
// merchants alone (store.OpenToken).
type SessionRecord struct {
	payment.Session
	Kept  store.KeptToken
	Lead  payment.Lead
	Order *payment.Order // nil before the first attempt to pay
}

var sessionSearch = searched[SessionRecord]{
	table: "sessions", name: "s", scan: scanSearchedSession, id: func(r *SessionRecord) uuid.UUID { return r.ID },
	query: `SELECT ` + store.Sessions.List("s") + `, ` + store.Leads.List("l") + `, ` + store.Orders.List("o") + `, ` + store.KeptTokenColumns + ` FROM sessions s
		JOIN leads l ON l.tenant_id = s.tenant_id AND l.id = s.lead_id
		LEFT JOIN orders o ON o.tenant_id = s.tenant_id AND o.session_id = s.id
		WHERE s.tenant_id = $1`,
}

func scanSessionRecord(r db.Rows) (s SessionRecord, err error) {
	var order store.OrderIfAny
	err = r.Scan(slices.Concat(store.Sessions.Fields(&s.Session), store.Leads.Fields(&s.Lead), order.Fields(), s.Kept.Fields())...)
	s.Lead.ID, s.Order = s.LeadID, order.Found()
	return s, err
}

// scanSearchedSession lets go of what no list of operators shows: a thousand sessions may have forty megabytes of it.
func scanSearchedSession(r db.Rows) (s SessionRecord, err error) {
	s, err = scanSessionRecord(r)
	s.Options.Metadata = ""
	return s, err
}

func (f SessionSearch) conditions() conditions {
	passing := slices.Concat(when("s.campaign_id = $%d", f.CampaignID), when("s.gateway_id = $%d", f.GatewayID),
		period("s.created_at", f.CreatedFrom, f.CreatedBefore))
	if f.Status != "" {
		passing = append(passing, condition{text: `(CASE WHEN s.status = 'PENDING' AND s.open_transaction_id IS NULL
			AND s.expires_at <= $%d THEN 'EXPIRED' ELSE s.status END) = $%d`, args: []any{db.Micros(f.Now), string(f.Status)}})
	}
	return conditions{slices.Concat(when("s.lead_id = $%d", f.LeadID), when("s.lead_id = "+leadOf, f.EmailKey),
		when(`s.id = (SELECT b.session_id FROM orders b WHERE b.tenant_id = $1 AND b.order_number = $%d)`, f.OrderNumber)), passing}
}

// SearchSessions lists sessions.
func SearchSessions(ctx context.Context, s *store.Store, f SessionSearch, at Paging) (Part[SessionRecord], error) {
	return sessionSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}

// FindSession reads one session with its lead and its order.
func FindSession(ctx context.Context, t store.Tenant, id uuid.UUID) (SessionRecord, error) {
	result, err := t.Query(ctx, sessionSearch.query+` AND s.id = $2`, id)
	found, err := db.One(result, err, scanSessionRecord)
	if errors.Is(err, db.ErrNoRow) {
		err = payment.ErrSessionNotFound
	}
	return found, err
}

// TransactionSearch says which transactions are looked for.
type TransactionSearch struct {
	sepa.Masked
	Common
	Status payment.TransactionStatus
	// Type is a standardized one.
	Type                  string
	GatewayID             uuid.UUID
	MerchantTransactionID string
	GatewayReference      string
	TenantReferenceID     string
	OrderNumber           string
	SessionID             uuid.UUID
	SubscriptionID        uuid.UUID
	// EmailKey is the address of the lead, not of the payer that a file names.
	EmailKey string
	// CountedAs is what the overview counts them as; ByDay has the period ask for the day
	// on which they are counted, that of the gateway's answer.
	CountedAs DayKind
	ByDay     bool
	Currency  string
	// DeclineCode is why they were declined, Unsaid for those without a reason.
	DeclineCode string
	// IsUnknown asks for those of which no gateway has said what became of them.
	IsUnknown bool
}

// Unsaid is the reason of what has none.
const Unsaid = "none"

// reason is a condition on why something was refused.
func reason(column, code string) []condition {
	if code == Unsaid {
		return []condition{{text: column + " = ''"}}
	}
	return when(column+" = $%d", code)
}

// transactionsOfReference are those that have a reference of their own, or from their
// session. SQLite begins with what stands before a CROSS JOIN, and elsewhere with all of the tenant.
const transactionsOfReference = `(SELECT x.id FROM transactions x
	WHERE x.tenant_id = $1 AND x.tenant_reference_id = $%[1]d AND NOT x.reference_inherited
	UNION ALL SELECT x.id FROM sessions v CROSS JOIN orders b CROSS JOIN transactions x
	WHERE v.tenant_id = $1 AND v.tenant_reference_id = $%[1]d AND b.tenant_id = v.tenant_id AND b.session_id = v.id
		AND x.tenant_id = b.tenant_id AND x.order_id = b.id AND x.reference_inherited)`

var transactionSearch = searched[payment.Debit]{
	table: "transactions", name: "t", query: store.DebitQuery, scan: store.ScanDebit,
	id: func(c *payment.Debit) uuid.UUID { return c.Transaction.ID },
}

func (f TransactionSearch) conditions() conditions {
	day := "t.created_at"
	if f.ByDay {
		day = "t.processed_at"
	}
	return conditions{
		indexed: slices.Concat(onlyIf(f.IsUnknown, "t.id IN ("+unknownPayments+" LIMIT 100000)"), when("t.merchant_transaction_id = $%d", f.MerchantTransactionID),
			when(foundIn("t", "transactions", "y.gateway_reference = $%d AND y.gateway_reference <> ''"), f.GatewayReference),
			when("t.id IN "+transactionsOfReference, f.TenantReferenceID), when("t.order_id = "+orderOf, f.OrderNumber),
			when("t.order_id = (SELECT b.id FROM orders b WHERE b.tenant_id = $1 AND b.session_id = $%d)", f.SessionID),
			when("t.order_id = (SELECT b.order_id FROM subscriptions b WHERE b.tenant_id = $1 AND b.id = $%d)", f.SubscriptionID),
			when(of("t", "transactions", "order_id", ordersOf), f.EmailKey)),
		passing: slices.Concat(when("t.status = $%d", string(f.Status)), when(standardizedType+" = $%d", f.Type),
			when("t.gateway_id = $%d", f.GatewayID), when("t.currency = $%d", f.Currency), reason("t.decline_code", f.DeclineCode),
			onlyIf(f.CountedAs != "", "t.processed_at IS NOT NULL"), when(store.DayKind+" = $%d", string(f.CountedAs)),
			period(day, f.CreatedFrom, f.CreatedBefore)),
	}
}

// SearchTransactions lists transactions, also those that no gateway has answered
// yet, each with its order.
func SearchTransactions(ctx context.Context, s *store.Store, f TransactionSearch, at Paging) (Part[payment.Debit], error) {
	return transactionSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}

// ChargebackSearch says which chargebacks are looked for.
type ChargebackSearch struct {
	Common
	Source                payment.ChargebackSource
	ReasonCode            string
	GatewayID             uuid.UUID
	MerchantTransactionID string
	TransactionID         uuid.UUID
	// ByDay has the period ask for the day of the report, Currency for what it is in.
	ByDay    bool
	Currency string
}

var chargebackSearch = searched[payment.Chargeback]{
	table: "chargebacks", name: "c", scan: store.ScanChargeback, id: func(c *payment.Chargeback) uuid.UUID { return c.ID },
	query: `SELECT ` + store.Chargebacks.List("") + ` FROM chargebacks c WHERE c.tenant_id = $1`,
}

func (f ChargebackSearch) conditions() conditions {
	day := "c.created_at"
	if f.ByDay {
		day = "c.reported_at"
	}
	return conditions{
		indexed: slices.Concat(when("c.merchant_transaction_id = $%d", f.MerchantTransactionID), when(foundIn("c", "chargebacks", "y.transaction_id = $%d"), f.TransactionID)),
		passing: slices.Concat(when("c.source = $%d", string(f.Source)), reason("c.reason_code", f.ReasonCode),
			when("c.gateway_id = $%d", f.GatewayID), when("c.currency = $%d", f.Currency), period(day, f.CreatedFrom, f.CreatedBefore)),
	}
}

// SearchChargebacks lists chargebacks.
func SearchChargebacks(ctx context.Context, s *store.Store, f ChargebackSearch, at Paging) (Part[payment.Chargeback], error) {
	return chargebackSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}

// SubscriptionSearch says which subscriptions are looked for.
type SubscriptionSearch struct {
	sepa.Masked
	Common
	Status      payment.SubscriptionStatus
	GatewayID   uuid.UUID
	OrderNumber string
	EmailKey    string
	// DueBy asks for those that are to be billed by an instant.
	DueBy time.Time
}

var subscriptionSearch = searched[payment.Subscription]{
	table: "subscriptions", name: "u", scan: store.ScanSubscription, id: func(s *payment.Subscription) uuid.UUID { return s.ID },
	query: `SELECT ` + store.Subscriptions.List("") + ` FROM subscriptions u WHERE u.tenant_id = $1`,
}

func (f SubscriptionSearch) conditions() conditions {
	var few, many []condition
	if f.Status.IsBrief() { // they are few, and may be anywhere
		few = when("u.id IN (SELECT x.id FROM subscriptions x WHERE x.tenant_id = $1 AND x.status = $%d)", string(f.Status))
	} else {
		many = when("u.status = $%d", string(f.Status))
	}
	if !f.DueBy.IsZero() {
		few = append(few, condition{text: "u.id IN (SELECT x.id FROM subscriptions x WHERE x.due_at IS NOT NULL AND x.due_at <= $%d AND x.tenant_id = $1)",
			args: []any{db.Micros(f.DueBy)}})
	}
	return conditions{
		indexed: slices.Concat(few, when("u.order_id = "+orderOf, f.OrderNumber), when(of("u", "subscriptions", "order_id", ordersOf), f.EmailKey)),
		passing: slices.Concat(many, when("u.gateway_id = $%d", f.GatewayID),
			period("u.created_at", f.CreatedFrom, f.CreatedBefore)),
	}
}

// SearchSubscriptions lists subscriptions.
func SearchSubscriptions(ctx context.Context, s *store.Store, f SubscriptionSearch, at Paging) (Part[payment.Subscription], error) {
	return subscriptionSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}

// LeadSearch says which leads are looked for.
type LeadSearch struct {
	sepa.Masked
	Common
	EmailKey string
}

// LeadRecord is a lead as an operator sees it.
type LeadRecord struct {
	payment.Lead
	TenantID             uuid.UUID
	CreatedAt, UpdatedAt time.Time
}

var leadSearch = searched[LeadRecord]{
	table: "leads", name: "l", scan: scanLeadRecord, id: func(l *LeadRecord) uuid.UUID { return l.ID },
	query: `SELECT ` + store.Leads.List("l") + `, l.tenant_id, l.created_at, l.updated_at FROM leads l WHERE l.tenant_id = $1`,
}

func scanLeadRecord(r db.Rows) (l LeadRecord, err error) {
	return l, r.Scan(append(store.Leads.Fields(&l.Lead), &l.TenantID, db.Instant{To: &l.CreatedAt}, db.Instant{To: &l.UpdatedAt})...)
}

func (f LeadSearch) conditions() conditions {
	return conditions{when("l.email_key = $%d", f.EmailKey), period("l.created_at", f.CreatedFrom, f.CreatedBefore)}
}

// SearchLeads lists leads.
func SearchLeads(ctx context.Context, s *store.Store, f LeadSearch, at Paging) (Part[LeadRecord], error) {
	return leadSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}

// FindLead reads one lead.
func FindLead(ctx context.Context, t store.Tenant, id uuid.UUID) (LeadRecord, error) {
	result, err := t.Query(ctx, leadSearch.query+` AND l.id = $2`, id)
	found, err := db.One(result, err, scanLeadRecord)
	if errors.Is(err, db.ErrNoRow) {
		err = store.ErrNoLead
	}
	return found, err
}
