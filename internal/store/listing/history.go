package listing

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// History is all that is on record about something.
type History struct {
	sepa.Masked
	// Lead and Import are there where they are what it is about.
	Lead   *LeadRecord
	Import *store.Import
	// Sessions are none for what was not bought through us; of a lead the newest.
	Sessions      []SessionRecord
	Subscriptions []payment.Subscription
	// Payments are attempts, rebills and refunds, oldest first; at most mostPayments, the newest.
	Payments    []payment.Debit
	Chargebacks []payment.Chargeback
	Agreements  []Agreement
	// Events and Deeds are the newest, as many as mostEvents and mostDeeds: a program may do something to one thing without end.
	Events    []EventTold
	Deeds     []store.AuditEntry
	BankLines []store.BankLine
	Mails     []store.Mail
}

// Subject is whose history is read: one of them is set.
type Subject struct {
	SessionID, TransactionID, SubscriptionID, ChargebackID, LeadID, EventID, ImportID uuid.UUID
	MandateReference                                                                  string
}

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

// How far back a history goes: forty years of months, and as many purchases as a person
// makes, with some events and deeds for each. What is beyond is in the lists.
const (
	mostPayments = 500
	mostSessions = 100
	mostEvents   = 2000
	mostDeeds    = 1000
	// mostTries are those of all events together, from which on no further ones are read.
	mostTries = 2000
)

// What a history is read by, each along an index of its own; a list of values comes
// behind it. Of payments and sessions that belong to something the ids alone are read,
// from the index that finds them, and the newest are picked here: an order by them would
// tempt a database to walk through all there are.
const (
	somePayments     = `SELECT x.id FROM transactions x WHERE x.tenant_id = $1 AND `
	paymentsOfOrders = somePayments + `x.order_id IN `
	paymentsUnder    = somePayments + `x.mandate_reference <> '' AND x.mandate_reference IN `
	refundsOf        = somePayments + `x.refund_of IN `
	strayPayments    = somePayments + `x.lead_id IS NULL AND x.email <> '' AND lower(x.email) IN `
	sessionsOfLeads  = `SELECT s.id FROM sessions s WHERE s.tenant_id = $1 AND s.lead_id IN `
	importsByID      = store.ReadImports + ` AND i.id IN `
	agreementsOf     = `SELECT a.transaction_id, a.acceptance_mode, a.language, a.text_version, a.accepted_at FROM mandate_acceptances a
		WHERE a.tenant_id = $1 AND a.transaction_id IN `
)

var (
	eventsTold            = `SELECT ` + eventColumns + `, e.payload FROM events e WHERE e.tenant_id = $1 AND `
	eventsByID            = eventsTold + `e.id IN `
	eventsAbout           = `SELECT e.id FROM events e WHERE e.tenant_id = $1 AND ` + eventAbout + ` IN `
	paymentsByID          = transactionSearch.query + ` AND t.id IN `
	sessionsByID          = sessionSearch.query + ` AND s.id IN `
	leadsByID             = leadSearch.query + ` AND l.id IN `
	subscriptionsByID     = subscriptionSearch.query + ` AND u.id IN `
	subscriptionsOfOrders = subscriptionSearch.query + ` AND u.order_id IN `
	chargebacksByID       = chargebackSearch.query + ` AND c.id IN `
	chargebacksOf         = chargebackSearch.query + ` AND c.transaction_id IN `
	strayChargebacks      = `SELECT c.id FROM chargebacks c WHERE c.tenant_id = $1 AND c.transaction_id IS NULL AND c.email <> '' AND lower(c.email) IN `
	mailsOf               = mailSearch.query + ` AND m.transaction_id IN `
	bankLinesOf           = `SELECT l.id FROM bank_lines l WHERE l.tenant_id = $1 AND l.transaction_id IN `
	bankLinesByID         = `SELECT ` + store.BankLines.List("l") + ` FROM bank_lines l WHERE l.tenant_id = $1 AND l.id IN `
	// The tenant as a condition that no index serves: SQLite would rather read all that was ever done there.
	deedsTo   = `SELECT id FROM audit_entries WHERE NOT tenant_id <> $1 AND object_id IN `
	deedsByID = `SELECT ` + store.AuditEntries.List("") + ` FROM audit_entries WHERE NOT tenant_id <> $1 AND id IN `
)

// ReadHistory reads what is on record, each kind by an index of its own.
func ReadHistory(ctx context.Context, t store.Tenant, of Subject) (h History, err error) {
	read := historyReader{ctx: ctx, t: t}
	read.subject(&h, of)
	var payments []any
	for _, p := range h.Payments {
		payments = append(payments, p.Transaction.ID)
	}
	h.Chargebacks = append(h.Chargebacks, readEach(&read, chargebacksOf, payments, store.ScanChargeback)...)
	h.Agreements = readEach(&read, agreementsOf, payments, scanAgreement)
	h.BankLines = readEach(&read, bankLinesByID, newest(readEach(&read, bankLinesOf, payments, scanID), mostPayments), store.ScanBankLine)
	h.Mails = readEach(&read, mailsOf, payments, store.ScanMail)
	about := h.about(of)
	events := newest(readEach(&read, eventsAbout, about, scanID), mostEvents)
	h.Events = append(h.Events, readEach(&read, eventsByID, events, scanEventTold)...)
	read.attempts(h.Events)
	deeds := newest(readEach(&read, deedsTo, h.doneTo(about, of), scanID), mostDeeds)
	h.Deeds = readEach(&read, deedsByID, deeds, store.ScanAuditEntry)
	return h, read.err
}

// about are the ids of whatever events of the history tell of. Those of a payment's
// session and subscription belong to these.
func (h *History) about(of Subject) (ids []any) {
	for _, p := range h.Payments {
		ids = append(ids, p.Transaction.ID.String())
	}
	for _, c := range h.Chargebacks {
		ids = append(ids, c.ID.String())
	}
	if of.TransactionID != uuid.Nil || of.ChargebackID != uuid.Nil {
		return ids
	}
	for _, s := range h.Sessions {
		ids = append(ids, s.ID.String())
	}
	for _, u := range h.Subscriptions {
		ids = append(ids, u.ID.String())
	}
	return ids
}

// doneTo are the names of whatever somebody may have done something to.
func (h *History) doneTo(about []any, of Subject) (names []any) {
	references := map[string]bool{of.MandateReference: true}
	for _, p := range h.Payments {
		references[p.Transaction.MandateReference] = true
	}
	delete(references, "")
	names = slices.Clone(about)
	for reference := range references {
		names = append(names, reference)
	}
	for _, e := range h.Events {
		names = append(names, e.ID.String())
	}
	for _, m := range h.Mails {
		names = append(names, m.ID.String())
	}
	for _, l := range h.BankLines {
		names = append(names, l.ID.String())
	}
	for _, id := range []uuid.UUID{of.LeadID, of.ImportID} {
		if id != uuid.Nil {
			names = append(names, id.String())
		}
	}
	return names
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

// subject reads what the history is about, and what was bought with it.
func (r *historyReader) subject(h *History, of Subject) {
	switch {
	case of.ChargebackID != uuid.Nil:
		r.ofChargeback(h, of.ChargebackID)
	case of.TransactionID != uuid.Nil:
		r.ofPayment(h, of.TransactionID)
	case of.SessionID != uuid.Nil:
		h.Sessions = readEach(r, sessionsByID, []any{of.SessionID}, scanSessionRecord)
		h.Payments = r.payments(readEach(r, paymentsOfOrders, ordersIn(h.Sessions), scanID))
	case of.SubscriptionID != uuid.Nil:
		h.Subscriptions = readEach(r, subscriptionsByID, []any{of.SubscriptionID}, store.ScanSubscription)
		for _, u := range h.Subscriptions {
			h.Sessions = readEach(r, sessionsByID, []any{u.SessionID}, scanSessionRecord)
			h.Payments = r.payments(readEach(r, paymentsOfOrders, []any{u.OrderID}, scanID))
		}
	case of.LeadID != uuid.Nil:
		r.ofLead(h, of.LeadID)
	case of.MandateReference != "":
		h.Payments = r.payments(readEach(r, paymentsUnder, []any{of.MandateReference}, scanID))
		h.Sessions = r.sessionsOf(h.Payments)
		h.Subscriptions = readEach(r, subscriptionsOfOrders, ordersIn(h.Sessions), store.ScanSubscription)
	case of.EventID != uuid.Nil:
		h.Events = readEach(r, eventsByID, []any{of.EventID}, scanEventTold)
	case of.ImportID != uuid.Nil:
		for _, i := range readEach(r, importsByID, []any{of.ImportID}, store.ScanImport) {
			h.Import = &i
		}
	}
}

// ofPayment reads a payment with its refunds, and its session.
func (r *historyReader) ofPayment(h *History, id uuid.UUID) {
	h.Payments = r.payments(append(readEach(r, refundsOf, []any{id}, scanID), id))
	h.Sessions = r.sessionsOf(h.Payments)
}

// ofChargeback reads a chargeback and its payment, as far as that is known.
func (r *historyReader) ofChargeback(h *History, id uuid.UUID) {
	h.Chargebacks = readEach(r, chargebacksByID, []any{id}, store.ScanChargeback)
	if len(h.Chargebacks) > 0 && h.Chargebacks[0].TransactionID != nil {
		r.ofPayment(h, *h.Chargebacks[0].TransactionID)
		h.Chargebacks = nil // the payment brings it
	}
}

// ofLead reads who somebody is, what they bought, and what files have brought in under
// their address without knowing whose it is.
func (r *historyReader) ofLead(h *History, id uuid.UUID) {
	for _, l := range readEach(r, leadsByID, []any{id}, scanLeadRecord) {
		h.Lead = &l
	}
	if h.Lead == nil {
		return
	}
	sessions := readEach(r, sessionsOfLeads, []any{id}, scanID)
	h.Sessions = readEach(r, sessionsByID, newest(sessions, mostSessions), scanSessionRecord)
	orders := ordersIn(h.Sessions)
	h.Subscriptions = readEach(r, subscriptionsOfOrders, orders, store.ScanSubscription)
	ids := readEach(r, paymentsOfOrders, orders, scanID)
	if h.Lead.Email != "" {
		addresses := distinct(h.Lead.EmailKey(), lowerASCII(h.Lead.Email))
		ids = append(ids, readEach(r, strayPayments, addresses, scanID)...)
		strays := newest(readEach(r, strayChargebacks, addresses, scanID), mostPayments)
		h.Chargebacks = readEach(r, chargebacksByID, strays, store.ScanChargeback)
	}
	h.Payments = r.payments(ids)
}

// payments reads the newest of some, oldest first.
func (r *historyReader) payments(ids []uuid.UUID) []payment.Debit {
	found := readEach(r, paymentsByID, newest(ids, mostPayments), store.ScanDebit)
	slices.SortFunc(found, func(a, b payment.Debit) int { return compareIDs(a.Transaction.ID, b.Transaction.ID) })
	return found
}

// sessionsOf reads the sessions in which payments were made.
func (r *historyReader) sessionsOf(payments []payment.Debit) []SessionRecord {
	var ids []uuid.UUID
	for _, p := range payments {
		if id := p.Transaction.SessionID; id != nil && !slices.Contains(ids, *id) {
			ids = append(ids, *id)
		}
	}
	return readEach(r, sessionsByID, newest(ids, mostSessions), scanSessionRecord)
}

// ordersIn are the purchases of sessions.
func ordersIn(sessions []SessionRecord) (ids []any) {
	for _, s := range sessions {
		if s.Order != nil {
			ids = append(ids, s.Order.ID)
		}
	}
	return ids
}

// newest are the last of some ids, each of which begins with its time.
func newest(ids []uuid.UUID, most int) []any {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return compareIDs(b, a) })
	args := make([]any, min(len(ids), most))
	for i := range args {
		args[i] = ids[i]
	}
	return args
}

// attempts fills in how events were delivered, of the newest first.
func (r *historyReader) attempts(events []EventTold) {
	places, ids := map[uuid.UUID]int{}, make([]uuid.UUID, len(events))
	for i, e := range events {
		places[e.ID], ids[i] = i, e.ID
	}
	tries := 0
	for batch := range db.InBatches(newest(ids, len(ids))) {
		if tries >= mostTries {
			break
		}
		found := readEach(r, attemptsOf(mostTriesEach), batch, scanAttempt)
		for _, a := range found {
			told := &events[places[a.EventID]]
			told.Attempts = append(told.Attempts, a)
		}
		tries += len(found)
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
