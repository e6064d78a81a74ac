package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// Session reads one session of the tenant.
func (t Tenant) Session(ctx context.Context, id uuid.UUID) (payment.Session, error) {
	result, err := t.Query(ctx, `SELECT `+Sessions.List("s")+` FROM sessions s WHERE s.tenant_id = $1 AND s.id = $2`, id)
	session, err := db.One(result, err, func(r db.Rows) (payment.Session, error) {
		var s payment.Session
		return s, r.Scan(Sessions.Fields(&s)...)
	})
	if errors.Is(err, db.ErrNoRow) {
		return session, payment.ErrSessionNotFound
	}
	return session, err
}
