package listing

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// History is all that is on record about a session, a payment or a subscription.
type History struct {
	sepa.Masked
	// Session is nil for what was not bought through us.
	Session      *SessionRecord
	Subscription *payment.Subscription
	// Payments are attempts, rebills and refunds, oldest first; at most mostPayments, the newest.
	Payments    []payment.Debit
	Chargebacks []payment.Chargeback
	Agreements  []Agreement
	Events      []EventTold
	Deeds       []store.AuditEntry
	BankLines   []store.BankLine
	Mails       []store.Mail
}

// Subject is whose history is read: one of them is set.
type Subject struct{ SessionID, TransactionID, SubscriptionID uuid.UUID }

// EventTold is an event with what it says and how it was delivered.
type EventTold struct {
	sepa.Masked
	EventRecord
	Payload  string
	Attempts []store.Attempt
}

// Agreement is that a payer agreed to a mandate, without what tells where they were.
type Agreement struct {
	TransactionID uuid.UUID
	Mode          payment.AcceptanceMode
	Language      string
	TextVersion   string
	AcceptedAt    time.Time
}

// mostPayments bounds how far back a history goes: forty years of months.
const mostPayments = 500

// ReadHistory reads what is on record, each kind by an index of its own.
func ReadHistory(ctx context.Context, t store.Tenant, of Subject) (h History, err error) {
	read := historyReader{ctx: ctx, t: t}
	read.purchase(&h, of)
	var payments, about []any
	references := map[string]bool{}
	for _, p := range h.Payments {
		payments, about = append(payments, p.Transaction.ID), append(about, p.Transaction.ID.String())
		references[p.Transaction.MandateReference] = true
	}
	h.Chargebacks = readEach(&read, `SELECT `+store.Chargebacks.List("")+` FROM chargebacks c WHERE c.tenant_id = $1 AND c.transaction_id IN `, payments, store.ScanChargeback)
	for _, c := range h.Chargebacks {
		about = append(about, c.ID.String())
	}
	if h.Session != nil && of.TransactionID == uuid.Nil {
		about = append(about, h.Session.ID.String())
	}
	if h.Subscription != nil && of.TransactionID == uuid.Nil {
		about = append(about, h.Subscription.ID.String())
	}
	h.Agreements = readEach(&read, `SELECT a.transaction_id, a.acceptance_mode, a.language, a.text_version, a.accepted_at FROM mandate_acceptances a
		WHERE a.tenant_id = $1 AND a.transaction_id IN `, payments, scanAgreement)
	h.BankLines = readEach(&read, `SELECT `+store.BankLines.List("l")+` FROM bank_lines l WHERE l.tenant_id = $1 AND l.transaction_id IN `, payments, store.ScanBankLine)
	h.Mails = readEach(&read, mailSearch.query+` AND m.transaction_id IN `, payments, store.ScanMail)
	h.Events = readEach(&read, `SELECT e.id, e.tenant_id, e.kind, e.webhook_profile_id, e.delivery_status, e.attempt_count, e.created_at, e.next_attempt_at, `+eventAbout+`, e.payload
		FROM events e WHERE e.tenant_id = $1 AND `+eventAbout+` IN `, about, scanEventTold)
	read.attempts(h.Events)
	for reference := range references {
		about = append(about, reference)
	}
	for _, e := range h.Events {
		about = append(about, e.ID.String())
	}
	h.Deeds = readEach(&read, `SELECT `+store.AuditEntries.List("")+` FROM audit_entries WHERE tenant_id = $1 AND object_id IN `, about, store.ScanAuditEntry)
	return h, read.err
}

// historyReader reads one part after the other, and nothing more once one has failed.
type historyReader struct {
	ctx context.Context
	t   store.Tenant
	err error
}

// readEach reads the rows of some ids.
func readEach[T any](r *historyReader, query string, ids []any, scan func(db.Rows) (T, error)) (all []T) {
	for batch := range db.InBatches(ids) {
		if r.err != nil {
			return nil
		}
		var found []T
		result, err := r.t.Query(r.ctx, query+db.Placeholders(2, 1, len(batch)), batch...)
		found, r.err = db.Collect(result, err, scan)
		all = append(all, found...)
	}
	return all
}

// purchase reads what the subject is, and what was bought with it.
func (r *historyReader) purchase(h *History, of Subject) {
	switch {
	case of.TransactionID != uuid.Nil:
		h.Payments = r.payments(` AND t.id = $2`, of.TransactionID)
		h.Payments = append(h.Payments, r.payments(` AND t.refund_of = $2`, of.TransactionID)...)
		if len(h.Payments) > 0 && h.Payments[0].Transaction.SessionID != nil {
			h.Session = r.session(*h.Payments[0].Transaction.SessionID)
		}
	case of.SessionID != uuid.Nil:
		if h.Session = r.session(of.SessionID); h.Session != nil && h.Session.Order != nil {
			h.Payments = r.payments(` AND t.order_id = $2`, h.Session.Order.ID)
		}
	case of.SubscriptionID != uuid.Nil && r.err == nil:
		var found payment.Subscription
		if found, r.err = r.t.Subscription(r.ctx, of.SubscriptionID); r.err == nil {
			h.Subscription, h.Session = &found, r.session(found.SessionID)
			h.Payments = r.payments(` AND t.order_id = $2`, found.OrderID)
		}
	}
	slices.SortFunc(h.Payments, func(a, b payment.Debit) int { return compareIDs(a.Transaction.ID, b.Transaction.ID) })
}

func (r *historyReader) session(id uuid.UUID) *SessionRecord {
	if r.err != nil {
		return nil
	}
	var found SessionRecord
	if found, r.err = FindSession(r.ctx, r.t, id); r.err != nil {
		return nil
	}
	return &found
}

func (r *historyReader) payments(where string, id uuid.UUID) (found []payment.Debit) {
	if r.err != nil {
		return nil
	}
	result, err := r.t.Query(r.ctx, transactionSearch.query+where+` ORDER BY t.id DESC LIMIT `+strconv.Itoa(mostPayments), id)
	found, r.err = db.Collect(result, err, store.ScanDebit)
	return found
}

// attempts fills in how events were delivered.
func (r *historyReader) attempts(events []EventTold) {
	places, ids := map[uuid.UUID]int{}, make([]any, len(events))
	for i, e := range events {
		places[e.ID], ids[i] = i, e.ID
	}
	for _, a := range readEach(r, attemptsOf, ids, scanAttempt) {
		told := &events[places[a.EventID]]
		told.Attempts = append(told.Attempts, a)
	}
	for i := range events {
		slices.SortStableFunc(events[i].Attempts, func(a, b store.Attempt) int { return a.At.Compare(b.At) })
	}
}

func scanAgreement(r db.Rows) (a Agreement, err error) {
	return a, r.Scan(&a.TransactionID, &a.Mode, &a.Language, &a.TextVersion, db.Instant{To: &a.AcceptedAt})
}

func scanEventTold(r db.Rows) (e EventTold, err error) {
	return e, r.Scan(&e.ID, &e.TenantID, &e.Kind, &e.ProfileID, &e.Status, &e.Tries, db.Instant{To: &e.CreatedAt}, db.Instant{To: &e.NextAttemptAt}, &e.About, &e.Payload)
}
