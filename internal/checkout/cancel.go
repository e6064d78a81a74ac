package checkout

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
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
	return ended, c.endSession(ctx, session, ended, now, store.Deed{
		Action: "session.cancel", ObjectType: "session", ObjectID: ended.ID.String(), TenantID: tenantID,
		Before: map[string]any{"status": session.Status}, After: map[string]any{"status": ended.Status},
	})
}

// endSession writes the end of a session that no payment has brought about, and
// tells those who want to hear of it; deeds are for the audit trail.
func (c *Checkout) endSession(ctx context.Context, before, ended payment.Session, now time.Time, deeds ...store.Deed) error {
	setup, err := c.SetupOf(ctx, ended.TenantID)
	if err != nil {
		return err
	}
	var events []store.EventRow
	if webhook.Wanted(setup, ended.WebhookProfileID, payment.EventSessionExpired) {
		tenant := c.Store.Tenant(ended.TenantID)
		lead, err := tenant.Lead(ctx, ended.LeadID)
		if err != nil {
			return err
		}
		order, err := tenant.OrderOf(ctx, ended.ID)
		if err != nil {
			return err
		}
		if events, err = webhook.Rows(ctx, c.Store, setup, payment.SessionChange(before, ended, lead, order)); err != nil {
			return err
		}
	}
	return c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.EndSession(ended)
		tx.AddEvents(ended.TenantID, events)
		tx.Audit(deeds...)
		return nil
	})
}

// named finds a tenant's session by its token or its id. One whose token was spoilt is
// found by its id, and the operator is told.
func (c *Checkout) named(ctx context.Context, tenantID uuid.UUID, name string) (payment.Session, error) {
	if id, err := uuid.Parse(name); err == nil {
		session, err := c.Store.Tenant(tenantID).Session(ctx, id)
		if err == nil && session.Token == "" {
			c.Logger.ErrorContext(ctx, "a sealed token cannot be read and needs a person", "kind", "session", "id", id)
		}
		return session, err
	}
	found, err := c.Store.SessionByToken(ctx, name)
	if err == nil && found.Session.TenantID != tenantID {
		err = payment.ErrSessionNotFound
	}
	return found.Session, err
}
