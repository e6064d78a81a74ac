package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// Session reads one session of the tenant.
func (t Tenant) Session(ctx context.Context, id uuid.UUID) (payment.Session, error) {
	result, err := t.query(ctx, `SELECT `+sessionColumns+` FROM sessions s WHERE s.tenant_id = $1 AND s.id = $2`, id)
	session, err := one(result, err, func(r rows) (payment.Session, error) {
		var s payment.Session
		return s, r.Scan(sessionFields(&s)...)
	})
	if errors.Is(err, errNoRow) {
		return session, payment.ErrSessionNotFound
	}
	return session, err
}
