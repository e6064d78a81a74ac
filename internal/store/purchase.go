package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/db"
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
// session only in the state in which it was read: of two calls at
// once, one finds the row changed and gets a conflict. The count of attempts alone
// does not tell that nothing has happened, because one that was never sent is
// given back; the last attempt does.
func (tx *Tx) ClaimAttempt(c payment.Change, sealedIBAN string) {
	s, t, o := c.Session, c.Transaction, c.Order
	tx.Require(payment.Conflicting("A payment for this session is being processed."), `
		UPDATE sessions SET attempts_used = $3, open_transaction_id = $4, last_transaction_id = $4, updated_at = $5
		WHERE tenant_id = $1 AND id = $2 AND status = 'PENDING' AND open_transaction_id IS NULL
			AND attempts_used = $3 - 1 AND expires_at > $5 AND COALESCE(last_transaction_id, $6) = $6`,
		s.TenantID, s.ID, s.AttemptsUsed, t.ID, db.Micros(tx.At), orNil(c.Before.Session.LastTransactionID))
	tx.Then(`
		INSERT INTO orders (tenant_id, id, session_id, order_number, status, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $6)
		ON CONFLICT (tenant_id, session_id) DO UPDATE SET status = excluded.status, updated_at = excluded.updated_at`,
		s.TenantID, o.ID, s.ID, o.Number, o.Status, db.Micros(tx.At))
	tx.insertTransaction(t, sealedIBAN)
}

// Reopen records that the gateway is about to be asked about an attempt that
// awaits verification.
func (tx *Tx) Reopen(d payment.Debit) {
	s, t := d.Session, d.Transaction
	tx.Require(payment.Conflicting("The verification is being processed."), `
		UPDATE sessions SET open_transaction_id = $3, updated_at = $4
		WHERE tenant_id = $1 AND id = $2 AND status = 'AWAITING_VERIFICATION' AND open_transaction_id IS NULL
			AND last_transaction_id = $3`,
		s.TenantID, s.ID, t.ID, db.Micros(tx.At))
	tx.Then(`
		UPDATE transactions SET in_flight = $3, lookup_count = 0, next_lookup_at = $4, updated_at = $5
		WHERE tenant_id = $1 AND id = $2`,
		s.TenantID, t.ID, string(t.Attempt.Phase), db.Micros(t.Attempt.NextLookupAt), db.Micros(tx.At))
}

// PostponeLookup records that the gateway did not say what became of an open
// attempt, and when it is asked again.
func (tx *Tx) PostponeLookup(t payment.Transaction) {
	tx.Require(ErrStale, `
		UPDATE transactions SET lookup_count = $4, next_lookup_at = $5, updated_at = $6
		WHERE tenant_id = $1 AND id = $2 AND in_flight = $3 AND lookup_count < $4`,
		t.TenantID, t.ID, string(t.Attempt.Phase), t.Attempt.LookupCount, db.Micros(t.Attempt.NextLookupAt), db.Micros(tx.At))
}

const OrderColumns = `o.id, o.session_id, o.order_number, o.status, o.created_at, o.updated_at`

func orderFields(o *payment.Order) []any {
	return []any{&o.ID, &o.SessionID, &o.Number, &o.Status, db.Instant{To: &o.CreatedAt}, db.Instant{To: &o.UpdatedAt}}
}

// OrderOf reads the order of a session, nil before its first attempt.
func (t Tenant) OrderOf(ctx context.Context, sessionID uuid.UUID) (*payment.Order, error) {
	result, err := t.Query(ctx, `SELECT `+OrderColumns+` FROM orders o WHERE o.tenant_id = $1 AND o.session_id = $2`, sessionID)
	order, err := db.One(result, err, func(r db.Rows) (payment.Order, error) {
		var o payment.Order
		return o, r.Scan(orderFields(&o)...)
	})
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &order, err
}

// OrderIfAny is an order that may not be there, while it is being scanned.
type OrderIfAny struct {
	id, sessionID  *uuid.UUID
	number, status sql.NullString
	payment.Order
}

// Fields are the destinations for OrderColumns.
func (o *OrderIfAny) Fields() []any {
	return []any{&o.id, &o.sessionID, &o.number, &o.status, db.Instant{To: &o.CreatedAt}, db.Instant{To: &o.UpdatedAt}}
}

func (o *OrderIfAny) Found() *payment.Order {
	if o.id == nil {
		return nil
	}
	o.Order.ID, o.Order.SessionID = *o.id, *o.sessionID
	o.Order.Number, o.Order.Status = o.number.String, payment.OrderStatus(o.status.String)
	return &o.Order
}
