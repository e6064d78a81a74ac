package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// ErrNoTransaction is the answer for a transaction that nobody has.
var ErrNoTransaction = &payment.Error{Kind: payment.NotFound, Detail: "Transaction not found"}

var DebitQuery = `SELECT ` + transactions.List("t") + `, ` + Orders.List("o") + `, l.country, s.webhook_profile_id
	FROM transactions t
	LEFT JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
	LEFT JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
	LEFT JOIN leads l ON l.tenant_id = t.tenant_id AND l.id = t.lead_id
	WHERE t.tenant_id = $1`

// Debit reads a transaction with all that an answer about it changes.
func (t Tenant) Debit(ctx context.Context, transactionID uuid.UUID) (payment.Debit, error) {
	d, err := t.debit(ctx, ` AND t.id = $2`, transactionID)
	return t.withSession(ctx, d, err)
}

// DebitOf reads an attempt at paying a session that the caller has just read.
func (t Tenant) DebitOf(ctx context.Context, s payment.Session, transactionID uuid.UUID) (payment.Debit, error) {
	d, err := t.debit(ctx, ` AND t.id = $2`, transactionID)
	d.Session = &s
	return d, err
}

// DebitByMerchantID finds one by the reference that we gave it.
func (t Tenant) DebitByMerchantID(ctx context.Context, merchantTransactionID string) (payment.Debit, error) {
	d, err := t.debit(ctx, ` AND t.merchant_transaction_id = $2`, merchantTransactionID)
	return t.withSession(ctx, d, err)
}

// Named finds a transaction by the reference that we gave it, and says whether there is one.
func (t Tenant) Named(ctx context.Context, merchantTransactionID string) (named payment.Transaction, found bool, err error) {
	d, err := t.debit(ctx, ` AND t.merchant_transaction_id = $2`, merchantTransactionID)
	if errors.Is(err, ErrNoTransaction) {
		return named, false, nil
	}
	return d.Transaction, err == nil, err
}

// DebitByGatewayReference finds one by the id that its gateway gave it. It finds
// none where two have the same.
func (t Tenant) DebitByGatewayReference(ctx context.Context, gatewayID uuid.UUID, reference string) (payment.Debit, error) {
	d, err := t.debit(ctx, ` AND t.gateway_reference = $2 AND t.gateway_id = $3`+onlyReference, reference, gatewayID)
	return t.withSession(ctx, d, err)
}

// onlyReference leaves out payments whose gateway gave another one the same id.
const onlyReference = ` AND t.gateway_reference <> ''
	AND NOT EXISTS (SELECT 1 FROM transactions x WHERE x.tenant_id = t.tenant_id
		AND x.gateway_reference = t.gateway_reference AND x.gateway_reference <> ''
		AND x.gateway_id = t.gateway_id AND x.id <> t.id)`

func (t Tenant) debit(ctx context.Context, where string, args ...any) (payment.Debit, error) {
	result, err := t.Query(ctx, DebitQuery+where, args...)
	d, err := db.One(result, err, ScanDebit)
	if errors.Is(err, db.ErrNoRow) {
		return payment.Debit{}, ErrNoTransaction
	}
	if err == nil {
		d.Subscription, err = t.subscriptionOf(ctx, d.Transaction)
	}
	return d, err
}

// withSession adds the session that an attempt belongs to.
func (t Tenant) withSession(ctx context.Context, d payment.Debit, err error) (payment.Debit, error) {
	if err != nil || d.Transaction.SessionID == nil {
		return d, err
	}
	s, err := t.Session(ctx, *d.Transaction.SessionID)
	d.Session = &s
	return d, err
}

func ScanDebit(r db.Rows) (d payment.Debit, err error) {
	var row transactionRow
	var order OrderIfAny
	var country sql.NullString
	if err := r.Scan(slices.Concat(transactions.Fields(&row), order.Fields(), []any{&country, &d.WebhookProfileID})...); err != nil {
		return d, err
	}
	d.Transaction, d.Order, d.LeadCountry = row.transaction(), order.Found(), country.String
	return d, nil
}

// Apply writes a change of a debit, with its events. Every row must still be as
// it was read; otherwise nothing is written and Write gives ErrStale. A change
// without a transaction adds a chargeback alone, or what the bank takes for one.
func (tx *Tx) Apply(c payment.Change, events []EventRow) {
	tenantID := c.Transaction.TenantID
	if touchesSessionAlone(c) {
		tx.shareSession(*c.Session)
	}
	switch {
	case c.Before.Transaction.ID != uuid.Nil:
		tx.changeSession(c)
		tx.updateTransaction(c.Before.Transaction, c.Transaction)
		tx.changeRest(c)
	case c.Chargeback != nil:
		tenantID = c.Chargeback.TenantID
		tx.requireUnrecorded(c)
	}
	if pause := c.Pause(tx.At); pause != nil {
		tx.PauseRebills(*pause)
	}
	if c.Refund != nil {
		tx.updateTransaction(*c.Before.Refund, *c.Refund)
	}
	if c.Chargeback != nil {
		tx.putChargeback(*c.Chargeback)
	}
	if c.Fee != nil {
		tx.raiseFee(*c.Fee)
	}
	tx.AddEvents(tenantID, events)
}

// touchesSessionAlone tells the answer to an attempt at paying a session: all rows that it
// changes hang on that, and no other unit waits for one of them while it holds another.
func touchesSessionAlone(c payment.Change) bool {
	return c.Session != nil && *c.Session != *c.Before.Session && c.Refund == nil && c.Chargeback == nil && c.Before.Subscription == nil &&
		c.PausesRebills == ""
}

// changeSession writes what an attempt's answer made of its session. It comes
// first, as in a claim, so that the two wait for each other in one order.
func (tx *Tx) changeSession(c payment.Change) {
	if c.Session == nil || *c.Session == *c.Before.Session {
		return
	}
	before, s := c.Before.Session, c.Session
	tx.Require(ErrStale, `
		UPDATE sessions SET status = $5, attempts_used = $6, open_transaction_id = NULL, holds_lead = holds_lead AND $7,
			updated_at = $8
		WHERE tenant_id = $1 AND id = $2 AND last_transaction_id = $3 AND COALESCE(open_transaction_id, $9) = $4`,
		s.TenantID, s.ID, c.Transaction.ID, orNil(before.OpenTransactionID), s.Status, s.AttemptsUsed, s.HoldsLead,
		db.Micros(tx.At), uuid.Nil)
}

// changeRest writes what hangs on a transaction, where it has changed.
func (tx *Tx) changeRest(c payment.Change) {
	tenantID, before := c.Transaction.TenantID, c.Before
	if c.Order != nil && c.Order.Status != before.Order.Status {
		tx.Require(ErrStale, `
			UPDATE orders SET status = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND status = $5`,
			tenantID, c.Order.ID, string(c.Order.Status), db.Micros(tx.At), string(before.Order.Status))
	}
	switch {
	case c.Subscription == nil:
	case before.Subscription == nil:
		tx.insertSubscription(*c.Subscription, c.Transaction.ID)
	case *c.Subscription != *before.Subscription:
		tx.ChangeSubscription(*before.Subscription, *c.Subscription)
	}
}

// AddEvents writes events of a unit that rests on something else.
func (tx *Tx) AddEvents(tenantID uuid.UUID, events []EventRow) {
	tx.insertEvents(tenantID, events)
}

// AddTransaction writes a transaction that was not made by paying a session: a
// refund, or one that a report brought in. One with the same merchant reference
// must not exist, else Write gives ErrStale.
func (tx *Tx) AddTransaction(t payment.Transaction, events []EventRow) {
	tx.Require(ErrStale, insertTransaction+` ON CONFLICT (tenant_id, merchant_transaction_id) DO NOTHING`,
		tx.newTransactionValues(t, "")...)
	tx.AddEvents(t.TenantID, events)
}

// ClaimRefund sets the amount aside and records the refund before the gateway is
// called. Of two that together would give back too much, one gets ErrStale.
func (tx *Tx) ClaimRefund(c payment.Change) {
	tx.updateTransaction(c.Before.Transaction, c.Transaction)
	tx.AddTransaction(*c.Refund, nil)
}

// ReportedRefunds are refunds that a processor has reported, that went through or are on their way, and that nobody has
// asked for here: those of a payment, and others that give it back by their names.
func (t Tenant) ReportedRefunds(ctx context.Context, paid payment.Transaction) ([]payment.Transaction, error) {
	result, err := t.Query(ctx, `SELECT `+transactions.List("t")+` FROM transactions t WHERE t.tenant_id = $1 AND t.refund_of = $2 AND `+isReported, paid.ID)
	reported, err := db.Collect(result, err, scanTransaction)
	if err != nil {
		return nil, err
	}
	ids, err := t.refundsByName(ctx, paid)
	if err != nil {
		return nil, err
	}
	named, err := findNamed(ctx, t, `SELECT `+transactions.List("t")+` FROM transactions t WHERE t.tenant_id = $1 AND t.id`, ids, nil, scanTransaction)
	return append(reported, named...), err
}

// refundsByName are those whose names begin with the payment's day and are ones that its refunds can have. Nearly always there are
// none of the day; where a file has brought very many, they are gone through in nobody's way.
func (t Tenant) refundsByName(ctx context.Context, paid payment.Transaction) (ids []uuid.UUID, err error) {
	result, err := t.Query(ctx, `SELECT t.id`+refundsOfDay+` LIMIT 1`, payment.RefundsDay(paid))
	if some, err := db.Collect(result, err, scanID); err != nil || len(some) == 0 {
		return nil, err
	}
	result, err = t.Browse(ctx, `SELECT t.id, t.merchant_transaction_id, t.amount_minor`+refundsOfDay+` AND `+isReported, payment.RefundsDay(paid))
	type named struct {
		id     uuid.UUID
		name   string
		amount payment.Minor
	}
	all, err := db.Collect(result, err, func(r db.Rows) (n named, err error) { return n, r.Scan(&n.id, &n.name, &n.amount) })
	names := map[payment.Minor][]string{}
	for _, n := range all {
		if !has(names, n.amount) {
			names[n.amount] = payment.AllRefunds(paid, n.amount)
		}
		if slices.Contains(names[n.amount], n.name) {
			ids = append(ids, n.id)
		}
	}
	return ids, err
}

const refundsOfDay = ` FROM transactions t WHERE t.tenant_id = $1 AND t.type = 'sdd_refund' AND t.refund_of IS NULL AND substr(t.merchant_transaction_id, 1, 13) = $2`

const isReported = `t.type = 'sdd_refund' AND t.source IN ('csv_import', 'webhook') AND t.status IN ('approved', 'pending')`

// RecognizeRefund makes a refund that was brought in one of a payment's. Whoever was faster has the unit end with ErrStale.
func (tx *Tx) RecognizeRefund(refund payment.Transaction) {
	tx.Require(ErrStale, `
		UPDATE transactions SET refund_of = $4, order_id = $5, subscription_id = $6, lead_id = $7, iban_masked = $8, iban_country = $9, bic = $10,
			bank_name = $11, holder_name = $12, email = $13, mandate_reference = $14, mandate_at = $15, updated_at = $16
		WHERE tenant_id = $1 AND id = $2 AND status = $3 AND refund_of IS NULL`,
		refund.TenantID, refund.ID, string(refund.Status), refund.RefundOf, refund.OrderID, refund.SubscriptionID, refund.LeadID,
		refund.MaskedIBAN, refund.IBANCountry, refund.BIC, refund.BankName, refund.HolderName, refund.Email, refund.MandateReference,
		db.Micros(refund.MandateAt), db.Micros(tx.At))
}

// AskForReported notes that a refund which was reported has been asked for here. Of two who do so, one gets ErrStale.
func (tx *Tx) AskForReported(refund payment.Transaction) {
	tx.Require(ErrStale, `UPDATE transactions SET source = $4, updated_at = $5 WHERE tenant_id = $1 AND id = $2 AND source = $3`,
		refund.TenantID, refund.ID, string(refund.Source), string(payment.SourceRefund), db.Micros(tx.At))
}

// Transaction reads one transaction.
func (t Tenant) Transaction(ctx context.Context, id uuid.UUID) (payment.Transaction, error) {
	result, err := t.Query(ctx, `SELECT `+transactions.List("t")+` FROM transactions t WHERE t.tenant_id = $1 AND t.id = $2`, id)
	found, err := db.One(result, err, scanTransaction)
	if errors.Is(err, db.ErrNoRow) {
		return found, ErrNoTransaction
	}
	return found, err
}

// AttemptsOf reads the attempts at paying a session, oldest first. They have an order
// in common, which has the index.
func (t Tenant) AttemptsOf(ctx context.Context, sessionID uuid.UUID) ([]payment.Transaction, error) {
	result, err := t.Query(ctx, `SELECT `+transactions.List("t")+` FROM transactions t
		WHERE t.tenant_id = $1 AND t.session_id = $2
			AND t.order_id = (SELECT o.id FROM orders o WHERE o.tenant_id = $1 AND o.session_id = $2)
		ORDER BY t.created_at, t.id`, sessionID)
	return db.Collect(result, err, scanTransaction)
}

func scanTransaction(r db.Rows) (payment.Transaction, error) {
	var row transactionRow
	err := r.Scan(transactions.Fields(&row)...)
	return row.transaction(), err
}
