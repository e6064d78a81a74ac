package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// Found is a session as it is found by its token, with what a call on it needs.
type Found struct {
	Session payment.Session
	Lead    payment.Lead
	// SetupVersion names the state of the tenant's set-up (Store.Setup).
	SetupVersion int64
}

// ErrStale says that something else changed what a unit of work rested on.
var ErrStale = errors.New("store: changed in the meantime")

// ClaimAttempt records an attempt before the gateway is called. It takes the
// session only in the state in which the purchase was read: of two calls at
// once, one finds the row changed and gets a conflict. The count of attempts alone
// does not tell that nothing has happened, because one that was never sent is
// given back; the last attempt does.
func (tx *Tx) ClaimAttempt(p payment.Purchase, sealedIBAN string) {
	s, t, o := p.Session, p.Transaction, p.Order
	tx.require(payment.Conflicting("A payment for this session is being processed."), `
		UPDATE sessions SET attempts_used = $3, open_transaction_id = $4, last_transaction_id = $4, updated_at = $5
		WHERE tenant_id = $1 AND id = $2 AND status = 'PENDING' AND open_transaction_id IS NULL
			AND attempts_used = $3 - 1 AND expires_at > $5 AND COALESCE(last_transaction_id, $6) = $6`,
		s.TenantID, s.ID, s.AttemptsUsed, t.ID, micros(tx.At), orNil(p.PreviousTransactionID))
	tx.then(`
		INSERT INTO orders (tenant_id, id, session_id, order_number, status, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $6)
		ON CONFLICT (tenant_id, session_id) DO UPDATE SET status = excluded.status, updated_at = excluded.updated_at`,
		s.TenantID, o.ID, s.ID, o.Number, o.Status, micros(tx.At))
	tx.insertTransaction(t, sealedIBAN)
}

// Reopen records that the gateway is about to be asked about an attempt that
// awaits verification.
func (tx *Tx) Reopen(p payment.Purchase) {
	s, t := p.Session, p.Transaction
	tx.require(payment.Conflicting("The verification is being processed."), `
		UPDATE sessions SET open_transaction_id = $3, updated_at = $4
		WHERE tenant_id = $1 AND id = $2 AND status = 'AWAITING_VERIFICATION' AND open_transaction_id IS NULL
			AND last_transaction_id = $3`,
		s.TenantID, s.ID, t.ID, micros(tx.At))
	tx.then(`
		UPDATE transactions SET in_flight = $3, lookup_count = 0, next_lookup_at = $4, updated_at = $5
		WHERE tenant_id = $1 AND id = $2`,
		s.TenantID, t.ID, string(t.Attempt.Phase), micros(t.Attempt.NextLookupAt), micros(tx.At))
}

// Settle writes what an outcome made of a purchase whose attempt was open in a
// phase, with its events. Everything hangs on the transaction's row: whoever
// closes the attempt first settles it, and anybody later gets ErrStale.
func (tx *Tx) Settle(before payment.Purchase, after payment.Settlement, events []EventRow) {
	s, t := after.Session, after.Transaction
	tx.updateTransaction(ErrStale, t, before.Transaction.Attempt.Phase, before.Transaction.Status)
	tx.then(`
		UPDATE orders SET status = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2`,
		s.TenantID, after.Order.ID, after.Order.Status, micros(tx.At))
	if after.Subscription != nil && before.Subscription == nil {
		tx.insertSubscription(*after.Subscription, t.ID)
	}
	for _, e := range events {
		tx.insertEvent(s.TenantID, e)
	}
	tx.then(`
		UPDATE sessions SET status = $4, attempts_used = $5, open_transaction_id = NULL, holds_lead = holds_lead AND $6,
			updated_at = $7
		WHERE tenant_id = $1 AND id = $2 AND open_transaction_id = $3`,
		s.TenantID, s.ID, t.ID, s.Status, s.AttemptsUsed, s.HoldsLead, micros(tx.At))
}

// PostponeLookup records that the gateway did not say what became of an open
// attempt, and when it is asked again.
func (tx *Tx) PostponeLookup(t payment.Transaction) {
	tx.require(ErrStale, `
		UPDATE transactions SET lookup_count = $4, next_lookup_at = $5, updated_at = $6
		WHERE tenant_id = $1 AND id = $2 AND in_flight = $3 AND lookup_count < $4`,
		t.TenantID, t.ID, string(t.Attempt.Phase), t.Attempt.LookupCount, micros(t.Attempt.NextLookupAt), micros(tx.At))
}

const purchaseQuery = `SELECT ` + sessionColumns + `, ` + leadColumns + `, ` + orderColumns + `, ` + transactionColumns + `
	FROM transactions t
	JOIN sessions s ON s.tenant_id = t.tenant_id AND s.id = t.session_id
	JOIN leads l ON l.tenant_id = t.tenant_id AND l.id = s.lead_id
	JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
	WHERE t.tenant_id = $1 AND t.id = $2`

const orderColumns = `o.id, o.session_id, o.order_number, o.status, o.created_at, o.updated_at`

func orderFields(o *payment.Order) []any {
	return []any{&o.ID, &o.SessionID, &o.Number, &o.Status, instant{&o.CreatedAt}, instant{&o.UpdatedAt}}
}

// Purchase reads an attempt with all that its outcome changes.
func (t Tenant) Purchase(ctx context.Context, transactionID uuid.UUID) (payment.Purchase, error) {
	result, err := t.query(ctx, purchaseQuery, transactionID)
	p, err := one(result, err, scanPurchase)
	if err == nil {
		p.Subscription, err = t.subscriptionOf(ctx, p.Transaction)
	}
	return p, err
}

func scanPurchase(r rows) (payment.Purchase, error) {
	var p payment.Purchase
	var t transactionRow
	fields := append(sessionFields(&p.Session), leadFields(&p.Lead)...)
	fields = append(append(fields, orderFields(&p.Order)...), t.fields()...)
	err := r.Scan(fields...)
	p.Transaction = t.transaction()
	return p, err
}

// OrderOf reads the order of a session, nil before its first attempt.
func (t Tenant) OrderOf(ctx context.Context, sessionID uuid.UUID) (*payment.Order, error) {
	result, err := t.query(ctx, `SELECT `+orderColumns+` FROM orders o WHERE o.tenant_id = $1 AND o.session_id = $2`, sessionID)
	order, err := one(result, err, func(r rows) (payment.Order, error) {
		var o payment.Order
		return o, r.Scan(orderFields(&o)...)
	})
	if errors.Is(err, errNoRow) {
		return nil, nil
	}
	return &order, err
}
