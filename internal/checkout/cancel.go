package checkout

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// Cancel ends a session for its merchant, who names it by its token or its id, and
// gives it as it ended. One of another tenant is not found.
func (c *Checkout) Cancel(ctx context.Context, tenantID uuid.UUID, name string) (payment.Session, error) {
	session, err := c.named(ctx, tenantID, name)
	if err != nil {
		return session, err
	}
	now := c.now()
	ended, err := payment.Cancel(session, now)
	if err != nil {
		return session, err
	}
	return ended, c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.EndSession(ended)
		return nil
	})
}

// named finds a tenant's session by its token or its id.
func (c *Checkout) named(ctx context.Context, tenantID uuid.UUID, name string) (payment.Session, error) {
	if id, err := uuid.Parse(name); err == nil {
		return c.Store.Tenant(tenantID).Session(ctx, id)
	}
	found, err := c.Store.SessionByToken(ctx, name)
	if err == nil && found.Session.TenantID != tenantID {
		err = payment.ErrSessionNotFound
	}
	return found.Session, err
}
