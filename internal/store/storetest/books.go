package storetest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
)

// Books are our records and the sandbox gateway's, read side by side at a moment
// when nobody writes. Audit holds one against the other.
type Books struct {
	Sessions map[string]*BookedSession // by id
	// Transactions are the attempts at a purchase; rebills and refunds, which
	// belong to no session, stand apart.
	Transactions  map[string]*BookedTransaction
	Rebills       map[string]*BookedTransaction
	Refunds       map[string]*BookedTransaction
	Subscriptions map[string]*BookedSubscription
	Chargebacks   map[string]BookedChargeback // by the transaction's id
	Events        map[string]int              // how often each key was written
	ToldAt        map[string]time.Time        // when that was
	Ledger        []LedgerLine
	final         map[string]bool // what the gateway refused for good
	miscounts     []string        // days whose count is not that of their rows
	// Uncounted is of how many tenants and kinds older rows are still to be counted.
	Uncounted int

	// Rules are those by which the service that is audited was run.
	Rules BillingRules
}

// BookedSession is a session with what hangs on it.
type BookedSession struct {
	Tenant, ID, TokenKey, Lead, Mandate string
	Status                              payment.SessionStatus
	BillingType                         payment.BillingType
	Attempts, MaxAttempts               int
	Open, Last                          string // ids of transactions, "" for none
	HoldsLead                           bool
	ExpiresAt                           time.Time

	Transactions  []*BookedTransaction
	Orders        []BookedOrder
	Subscriptions []*BookedSubscription
}

// BookedTransaction is one attempt, rebill or refund.
type BookedTransaction struct {
	Tenant, ID, Session, Order, Subscription, Gateway string
	MerchantTransactionID, Reference, RefundOf        string
	Status                                            payment.TransactionStatus
	Type                                              payment.TransactionType
	AmountMinor                                       int64
	Currency                                          string
	Phase                                             payment.Phase
	SettleDueAt                                       time.Time // zero for none
	Decline                                           payment.DeclineCode
	GatewayCode                                       string // the bank's code for that
	RefundedMinor, RefundingMinor                     int64
	// Period and Try are a rebill's.
	Period, Try                       int
	Sequence                          payment.SequenceType
	CreatedAt, ProcessedAt, UpdatedAt time.Time
	// DueDate is when its payer was told that it is collected, "" for not at all.
	DueDate, GatewayReference string
}

// isWithdrawn tells a rebill that was announced and reached no bank.
func (x *BookedTransaction) isWithdrawn() bool {
	return x.DueDate != "" && x.Status == payment.TransactionDeclined && x.GatewayReference == ""
}

// BookedOrder is an order's state.
type BookedOrder struct {
	ID     string
	Status payment.OrderStatus
}

// LedgerLine is what the gateway remembers of a payment. It knows nothing of
// sessions, but the mandate is the session's own.
type LedgerLine struct {
	Tenant, Gateway, MerchantTransactionID, Mandate string
	Outcome                                         sandbox.Outcome
	State                                           sandbox.State
	Type                                            payment.TransactionType
	AmountMinor                                     int64
	Currency                                        string
}

// MayCollect tells that money was taken or may still be without our doing.
func (l LedgerLine) MayCollect() bool {
	return l.State == sandbox.StateApproved || l.State == sandbox.StatePending || l.State == sandbox.StateAwaiting
}

// ReadBooks reads the database at a URL.
func ReadBooks(t testing.TB, url string) *Books {
	t.Helper()
	db := (&Env{URL: url}).DB(t)
	defer db.Close()
	b := &Books{
		Sessions: map[string]*BookedSession{}, Transactions: map[string]*BookedTransaction{},
		Rebills: map[string]*BookedTransaction{}, Refunds: map[string]*BookedTransaction{},
		Subscriptions: map[string]*BookedSubscription{}, Chargebacks: map[string]BookedChargeback{},
		Events: map[string]int{}, ToldAt: map[string]time.Time{}, final: map[string]bool{}, Rules: BillingRules{Dunning: payment.DefaultDunning()},
	}
	b.readLedger(t, db)
	b.readSessions(t, db)
	b.readSubscriptions(t, db)
	b.readTransactions(t, db)
	b.readOrders(t, db)
	b.readEvents(t, db)
	b.readChargebacks(t, db)
	b.readMiscounts(t, db)
	each(t, db, `SELECT COUNT(*) FROM count_older`, func(r *sql.Rows) error { return r.Scan(&b.Uncounted) })
	return b
}

// readMiscounts holds what is counted of each day against the rows themselves.
func (b *Books) readMiscounts(t testing.TB, db *sql.DB) {
	t.Helper()
	each(t, db, `SELECT tenant_id, day, kind, reason, SUM(records), SUM(minor) FROM (
			SELECT tenant_id, day, gateway_id, currency, kind, reason, records, minor FROM count_days
			UNION ALL SELECT tenant_id, day, gateway_id, currency, kind, reason, records, minor FROM count_changes
			UNION ALL SELECT tenant_id, reported_at / 86400000000, gateway_id, currency, 'charged_back', reason_code, -1, -amount_minor FROM chargebacks
			UNION ALL SELECT tenant_id, processed_at / 86400000000, gateway_id, currency,
				CASE WHEN type = 'sdd_refund' THEN 'refunded' WHEN status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE status END,
				CASE WHEN status = 'declined' THEN decline_code ELSE '' END, -1, -amount_minor FROM transactions
			WHERE processed_at IS NOT NULL AND (type IN ('sdd_sale', 'sdd_rebill') OR type = 'sdd_refund' AND status = 'approved')) AS both_sides
		GROUP BY tenant_id, day, gateway_id, currency, kind, reason HAVING SUM(records) <> 0 OR SUM(minor) <> 0`, func(r *sql.Rows) error {
		var tenant, kind, reason string
		var day, records, minor int64
		err := r.Scan(&tenant, &day, &kind, &reason, &records, &minor)
		b.miscounts = append(b.miscounts, fmt.Sprintf("of %s, day %d, %s %s: %d records and %d too many are counted", tenant, day, kind, reason, records, minor))
		return err
	})
}

func (b *Books) readLedger(t testing.TB, db *sql.DB) {
	t.Helper()
	each(t, db, `SELECT tenant_id, account_id, merchant_transaction_id, mandate_reference, outcome, state, type, amount_minor,
		currency FROM sandbox_payments ORDER BY received_at`, func(r *sql.Rows) error {
		var l LedgerLine
		err := r.Scan(&l.Tenant, &l.Gateway, &l.MerchantTransactionID, &l.Mandate, &l.Outcome, &l.State, &l.Type,
			&l.AmountMinor, &l.Currency)
		b.Ledger = append(b.Ledger, l)
		b.final[l.Tenant+l.MerchantTransactionID] = l.Outcome == sandbox.DeclinedFinal
		return err
	})
}

func (b *Books) readSessions(t testing.TB, db *sql.DB) {
	t.Helper()
	each(t, db, `SELECT tenant_id, id, token, lead_id, mandate_reference, status, billing_type, attempts_used, max_attempts,
		open_transaction_id, last_transaction_id, holds_lead, expires_at FROM sessions`, func(r *sql.Rows) error {
		s := &BookedSession{}
		var open, last sql.NullString
		var expires int64
		err := r.Scan(&s.Tenant, &s.ID, &s.TokenKey, &s.Lead, &s.Mandate, &s.Status, &s.BillingType, &s.Attempts,
			&s.MaxAttempts, &open, &last, &s.HoldsLead, &expires)
		s.Open, s.Last, s.ExpiresAt = open.String, last.String, time.UnixMicro(expires)
		b.Sessions[s.ID] = s
		return err
	})
}

func (b *Books) readTransactions(t testing.TB, db *sql.DB) {
	t.Helper()
	each(t, db, `SELECT tenant_id, id, session_id, order_id, subscription_id, gateway_id, merchant_transaction_id,
		tenant_reference_id, status, type, amount_minor, currency, in_flight, settle_due_at, decline_code, gateway_code, refund_of,
		refunded_minor, refunding_minor, billing_period, attempt_number, sequence_type, created_at, processed_at, updated_at,
		COALESCE(due_date, ''), gateway_reference
		FROM transactions ORDER BY created_at, billing_period, attempt_number`, func(r *sql.Rows) error {
		x := &BookedTransaction{}
		var session, order, subscription, reference, phase, refundOf sql.NullString
		var due, period, created, processed, updated sql.NullInt64
		err := r.Scan(&x.Tenant, &x.ID, &session, &order, &subscription, &x.Gateway, &x.MerchantTransactionID,
			&reference, &x.Status, &x.Type, &x.AmountMinor, &x.Currency, &phase, &due, &x.Decline, &x.GatewayCode, &refundOf,
			&x.RefundedMinor, &x.RefundingMinor, &period, &x.Try, &x.Sequence, &created, &processed, &updated, &x.DueDate, &x.GatewayReference)
		x.Session, x.Order, x.Subscription = session.String, order.String, subscription.String
		x.Reference, x.Phase, x.RefundOf = reference.String, payment.Phase(phase.String), refundOf.String
		x.SettleDueAt, x.CreatedAt, x.ProcessedAt, x.UpdatedAt = instantOf(due), instantOf(created), instantOf(processed), instantOf(updated)
		x.Period = int(period.Int64)
		b.enter(x)
		return err
	})
}

// enter puts a transaction where it belongs.
func (b *Books) enter(x *BookedTransaction) {
	sub := b.Subscriptions[x.Subscription]
	switch x.Type {
	case payment.Refund:
		b.Refunds[x.ID] = x
	case payment.Rebill:
		b.Rebills[x.ID] = x
		if sub != nil {
			sub.Rebills = append(sub.Rebills, x)
		}
	default:
		b.Transactions[x.ID] = x
		if s := b.Sessions[x.Session]; s != nil {
			s.Transactions = append(s.Transactions, x)
		}
		if sub != nil {
			sub.First = x
		}
	}
}

// instantOf reads an instant as it is kept; NULL is none.
func instantOf(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}

func (b *Books) readOrders(t testing.TB, db *sql.DB) {
	t.Helper()
	each(t, db, `SELECT id, session_id, status FROM orders`, func(r *sql.Rows) error {
		var o BookedOrder
		var session string
		err := r.Scan(&o.ID, &session, &o.Status)
		if s := b.Sessions[session]; s != nil {
			s.Orders = append(s.Orders, o)
		}
		return err
	})
}

func (b *Books) readEvents(t testing.TB, db *sql.DB) {
	t.Helper()
	each(t, db, `SELECT event_key, created_at FROM events`, func(r *sql.Rows) error {
		var key string
		var at int64
		err := r.Scan(&key, &at)
		b.Events[key]++
		b.ToldAt[key] = time.UnixMicro(at).UTC()
		return err
	})
}

// OpenAttempts are the transactions whose outcome is outstanding.
func (b *Books) OpenAttempts() (ids []string) {
	for id, x := range b.Transactions {
		if x.Phase != payment.PhaseNone {
			ids = append(ids, id)
		}
	}
	return ids
}

// each reads every row of a query.
func each(t testing.TB, db *sql.DB, query string, read func(*sql.Rows) error) {
	t.Helper()
	result, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer result.Close()
	for result.Next() {
		if err := read(result); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if err := result.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
