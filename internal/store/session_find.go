package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// Session reads one session of the tenant, with its token. A token that was spoilt in the
// database is left out: neither money nor the merchant waits for it, and the vault counts
// it.
func (t Tenant) Session(ctx context.Context, id uuid.UUID) (payment.Session, error) {
	return t.session(ctx, `s.id = $2`, id)
}

// SessionHolding reads the session by which a lead is kept from having another, nil
// where there is none.
func (t Tenant) SessionHolding(ctx context.Context, lead payment.Lead) (*payment.Session, error) {
	held, err := t.session(ctx, `s.holds_lead AND s.lead_id = (SELECT id FROM leads WHERE tenant_id = $1 AND email_key = $2)`, lead.EmailKey())
	if errors.Is(err, payment.ErrSessionNotFound) {
		return nil, nil
	}
	return &held, err
}

// Lead reads one lead.
func (t Tenant) Lead(ctx context.Context, id uuid.UUID) (payment.Lead, error) {
	result, err := t.Query(ctx, `SELECT `+Leads.List("")+` FROM leads WHERE tenant_id = $1 AND id = $2`, id)
	lead, err := db.One(result, err, func(r db.Rows) (l payment.Lead, err error) { return l, r.Scan(Leads.Fields(&l)...) })
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoLead
	}
	return lead, err
}

func (t Tenant) session(ctx context.Context, where string, arg any) (payment.Session, error) {
	var kept KeptToken
	result, err := t.Query(ctx, `SELECT `+Sessions.List("s")+`, `+KeptTokenColumns+` FROM sessions s WHERE s.tenant_id = $1 AND `+where, arg)
	session, err := db.One(result, err, func(r db.Rows) (payment.Session, error) {
		var s payment.Session
		return s, r.Scan(append(Sessions.Fields(&s), kept.Fields()...)...)
	})
	if errors.Is(err, db.ErrNoRow) {
		return session, payment.ErrSessionNotFound
	}
	if err == nil {
		session.Token, _ = t.store.OpenToken(session, kept)
	}
	return session, err
}
