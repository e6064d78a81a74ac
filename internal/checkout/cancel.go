package checkout

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// Cancel ends a session for its merchant. One of another tenant is not found.
func (c *Checkout) Cancel(ctx context.Context, tenantID uuid.UUID, token string) error {
	found, err := c.Store.SessionByToken(ctx, token)
	if err != nil {
		return err
	}
	if found.Session.TenantID != tenantID {
		return payment.ErrSessionNotFound
	}
	now := c.now()
	ended, err := payment.Cancel(found.Session, now)
	if err != nil {
		return err
	}
	return c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.EndSession(ended)
		return nil
	})
}
