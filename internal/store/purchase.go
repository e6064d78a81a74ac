package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

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
// given back; the last attempt does. The status is asked for so that no index of it
// serves: a set of claims finds its sessions by their ids.
func (tx *Tx) ClaimAttempt(c payment.Change, sealedIBAN string) {
	s, t, o := c.Session, c.Transaction, c.Order
	tx.shareSession(*s)
	tx.Require(payment.Conflicting("A payment for this session is being processed."), `
		UPDATE sessions SET attempts_used = $3, open_transaction_id = $4, last_transaction_id = $4, updated_at = $5
		WHERE tenant_id = $1 AND id = $2 AND status || '' = 'PENDING' AND open_transaction_id IS NULL
			AND attempts_used = $3 - 1 AND expires_at > $5 AND COALESCE(last_transaction_id, $6) = $6`,
		s.TenantID, s.ID, s.AttemptsUsed, t.ID, db.Micros(tx.At), orNil(c.Before.Session.LastTransactionID))
	tx.Then(insertOrder, append([]any{s.TenantID}, Orders.Values(o)...)...)
	tx.Then(insertTransaction, tx.newTransactionValues(t, sealedIBAN)...)
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
		UPDATE transactions SET in_flight = $3, lookup_count = 0, next_lookup_at = db_now() + $4, updated_at = $5
		WHERE tenant_id = $1 AND id = $2`,
		s.TenantID, t.ID, string(t.Attempt.Phase), t.Attempt.Silence.Microseconds(), db.Micros(tx.At))
}

// PostponeLookup records that the gateway did not say what became of an open
// attempt, and how long it is left alone.
func (tx *Tx) PostponeLookup(t payment.Transaction) {
	tx.postponeLookup(t, `db_now() + $5`)
}

// PostponeLookupFurther is PostponeLookup for an attempt that others must not ask
// about before the date that stands.
func (tx *Tx) PostponeLookupFurther(t payment.Transaction) {
	tx.postponeLookup(t, `CASE WHEN next_lookup_at > db_now() + $5 THEN next_lookup_at ELSE db_now() + $5 END`)
}

func (tx *Tx) postponeLookup(t payment.Transaction, until string) {
	tx.Require(ErrStale, `
		UPDATE transactions SET lookup_count = $4, next_lookup_at = `+until+`, updated_at = $6
		WHERE tenant_id = $1 AND id = $2 AND in_flight = $3 AND lookup_count < $4`,
		t.TenantID, t.ID, string(t.Attempt.Phase), t.Attempt.LookupCount, t.Attempt.Silence.Microseconds(), db.Micros(tx.At))
}

// Orders are the rows of orders.
var Orders = db.Table[payment.Order]{Name: "orders", Columns: []db.Column[payment.Order]{
	db.Field("id", func(o *payment.Order) *uuid.UUID { return &o.ID }),
	db.Field("session_id", func(o *payment.Order) *uuid.UUID { return &o.SessionID }),
	db.Field("order_number", func(o *payment.Order) *string { return &o.Number }),
	db.Field("status", func(o *payment.Order) *payment.OrderStatus { return &o.Status }),
	db.Time("created_at", func(o *payment.Order) *time.Time { return &o.CreatedAt }),
	db.Time("updated_at", func(o *payment.Order) *time.Time { return &o.UpdatedAt }),
}}

// insertOrder writes the order of a first attempt, and takes that of an earlier
// one on.
var insertOrder = `INSERT INTO orders (tenant_id, ` + Orders.List("") + `) VALUES ($1, ` + Orders.Places(2) + `)
	ON CONFLICT (tenant_id, session_id) DO UPDATE SET status = excluded.status, updated_at = excluded.updated_at`

// OrderOf reads the order of a session, nil before its first attempt.
func (t Tenant) OrderOf(ctx context.Context, sessionID uuid.UUID) (*payment.Order, error) {
	result, err := t.Query(ctx, `SELECT `+Orders.List("o")+` FROM orders o WHERE o.tenant_id = $1 AND o.session_id = $2`, sessionID)
	order, err := db.One(result, err, func(r db.Rows) (payment.Order, error) {
		var o payment.Order
		return o, r.Scan(Orders.Fields(&o)...)
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

// Fields are the destinations for the list of Orders.
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
