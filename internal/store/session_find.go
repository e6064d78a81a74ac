package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// Session reads one session of the tenant, with its token.
func (t Tenant) Session(ctx context.Context, id uuid.UUID) (payment.Session, error) {
	var kept KeptToken
	result, err := t.Query(ctx, `SELECT `+Sessions.List("s")+`, `+KeptTokenColumns+` FROM sessions s WHERE s.tenant_id = $1 AND s.id = $2`, id)
	session, err := db.One(result, err, func(r db.Rows) (payment.Session, error) {
		var s payment.Session
		return s, r.Scan(append(Sessions.Fields(&s), kept.Fields()...)...)
	})
	if errors.Is(err, db.ErrNoRow) {
		return session, payment.ErrSessionNotFound
	}
	if err == nil {
		session.Token, err = t.store.OpenToken(session, kept)
	}
	return session, err
}
