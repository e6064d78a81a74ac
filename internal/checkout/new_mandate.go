package checkout

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// NewMandate makes a session in which the payer of a subscription gives another
// account. The request says what the session's options are; what it leaves out is as
// in the purchase that the subscription began with.
func (c *Checkout) NewMandate(ctx context.Context, tenantID, subscriptionID uuid.UUID, req CreateRequest) (Created, error) {
	return store.Once(ctx, c.Store, req.Key,
		func(id uuid.UUID) (Created, error) {
			return c.createdBefore(ctx, tenantID, id)
		},
		func() (made Created, err error) {
			err = retry(func() error {
				made, err = c.newMandate(ctx, tenantID, subscriptionID, req)
				return err
			})
			return made, err
		})
}

func (c *Checkout) newMandate(ctx context.Context, tenantID, subscriptionID uuid.UUID, req CreateRequest) (Created, error) {
	tenant := c.Store.Tenant(tenantID)
	sub, err := tenant.Subscription(ctx, subscriptionID)
	if err != nil {
		return Created{}, err
	}
	first, err := tenant.Session(ctx, sub.SessionID)
	if err != nil {
		return Created{}, err
	}
	lead, err := tenant.Lead(ctx, sub.LeadID)
	if err != nil {
		return Created{}, err
	}
	setup, err := c.SetupOf(ctx, tenantID)
	if err != nil {
		return Created{}, err
	}
	session, err := payment.NewMandateSession(sub, first, c.now())
	if err != nil {
		return Created{}, err
	}
	session.Token = payment.NewToken(setup.Tenant.Number)
	session.ExpiresAt = session.CreatedAt.Add(c.lifetimeOf(first))
	session.TenantReferenceID, session.Options = req.TenantReferenceID, withDefaults(req.Options, first.Options)
	draft, err := c.Store.NewSession(session)
	if err != nil {
		return Created{}, err
	}
	req.knownLead = lead.ID
	err = c.write(ctx, draft, lead, req, (*store.Tx).CreateSession)
	if store.IsLeadBusy(err) {
		err = c.replace(ctx, draft, lead, req)
	}
	return c.created(session.Token), store.Refused(err)
}

// lifetimeOf is how long a session was meant to live.
func (c *Checkout) lifetimeOf(s payment.Session) time.Duration {
	if life := s.ExpiresAt.Sub(s.CreatedAt); life > 0 {
		return life
	}
	return c.SessionTTL
}

// withDefaults are options with those of another session where they say nothing.
func withDefaults(said, usual payment.SessionOptions) payment.SessionOptions {
	for to, from := range map[*string]string{
		&said.ReturnURL: usual.ReturnURL, &said.SuccessRedirectURL: usual.SuccessRedirectURL, &said.FailureRedirectURL: usual.FailureRedirectURL,
		&said.ProductName: usual.ProductName, &said.ProductDescription: usual.ProductDescription, &said.Language: usual.Language,
	} {
		if *to == "" {
			*to = from
		}
	}
	if said.Metadata == "" {
		said.Metadata = usual.Metadata
	}
	return said
}

// renewed reads the subscription to which a session gives another mandate, nil for a
// purchase. One that has ended needs none.
func (c *Checkout) renewed(ctx context.Context, s payment.Session) (*payment.Subscription, error) {
	if s.RenewsID == nil {
		return nil, nil
	}
	sub, err := c.Store.Tenant(s.TenantID).Subscription(ctx, *s.RenewsID)
	if err == nil {
		err = sub.CheckLive()
	}
	return &sub, err
}
