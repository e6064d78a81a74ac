package checkout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// CreateRequest is what a merchant asks for. A nil field was not given.
type CreateRequest struct {
	sepa.Masked
	// HasCampaign selects campaign mode, also when the id given is no good.
	HasCampaign bool
	CampaignID  *uuid.UUID
	Lead        payment.Lead

	AmountMinor *payment.Minor
	Currency    *string
	BillingType *payment.BillingType
	Frequency   *payment.BillingFrequency
	TrialUnit   *payment.TrialUnit
	TrialPeriod *int
	TrialMinor  *payment.Minor

	GatewayID        *uuid.UUID
	HostedPageID     *uuid.UUID
	WebhookProfileID *uuid.UUID
	MaxAttempts      *int
	CustomerIP       string

	TenantReferenceID *string
	Options           payment.SessionOptions

	// Key is the name under which the merchant may repeat the request.
	Key store.RequestKey

	// RestsOn is the merchant's API key where it was recalled, or looked up before
	// the body came; nil where it was looked up just now. A recalled one goes without
	// Key, whose answer would come before anybody asked for the API key.
	RestsOn *store.Credential

	// knownLead is the lead as it was read here, the nil id where the request tells it.
	knownLead uuid.UUID
}

// Created is a session that a merchant may hand to its customer.
type Created struct {
	sepa.Masked
	Token      string
	PaymentURL string
}

// Create makes a session for a lead. Bad holds what is already known to be wrong
// with the request; everything else that is wrong is added to it, so that the
// merchant learns of all at once. It gives store.ErrStale when the key that the
// request rests on is no longer what it was.
func (c *Checkout) Create(ctx context.Context, setup *merchant.Setup, req CreateRequest, bad payment.Fields) (Created, error) {
	return store.Once(ctx, c.Store, req.Key,
		func(id uuid.UUID) (Created, error) {
			return c.createdBefore(ctx, setup.Tenant.ID, id)
		},
		func() (Created, error) { return c.create(ctx, setup, req, bad) })
}

func (c *Checkout) create(ctx context.Context, setup *merchant.Setup, req CreateRequest, bad payment.Fields) (Created, error) {
	session := c.resolve(setup, req, bad, c.now())
	if err := bad.Err(); err != nil {
		return Created{}, err
	}
	lead := req.Lead
	lead.ID = payment.NewID()
	draft, err := c.Store.NewSession(session)
	if err != nil {
		return Created{}, err
	}
	err = c.write(ctx, draft, lead, req, req.firstTry())
	if store.IsLeadBusy(err) {
		err = c.replace(ctx, draft, lead, req)
	}
	if err != nil {
		return Created{}, store.Refused(err)
	}
	return c.created(session.Token), nil
}

// createdBefore is the answer to a request that made a session before.
func (c *Checkout) createdBefore(ctx context.Context, tenantID, id uuid.UUID) (Created, error) {
	session, err := c.Store.Tenant(tenantID).Session(ctx, id)
	if err == nil && session.Token == "" {
		err = fmt.Errorf("the token of session %s cannot be read", id)
	}
	return c.created(session.Token), err
}

// replace makes a session for a lead that holds one: where its time has run out, it
// makes way. The sweep has not come by it yet, so that its end is told here.
func (c *Checkout) replace(ctx context.Context, draft store.NewSession, lead payment.Lead, req CreateRequest) error {
	held, err := c.Store.Tenant(draft.TenantID).SessionHolding(ctx, lead)
	if err != nil {
		return err
	}
	if held != nil {
		if ended, err := payment.Expire(*held, draft.CreatedAt); err == nil {
			if err := c.endSession(ctx, *held, ended, draft.CreatedAt); err != nil && !overtaken(err) {
				return err
			}
		}
	}
	return c.write(ctx, draft, lead, req, (*store.Tx).ReplaceSession)
}

// createWay is one of the store's ways to make a session.
type createWay func(*store.Tx, store.NewSession, payment.Lead)

// firstTry is the way that serves nearly all creates.
func (r CreateRequest) firstTry() createWay {
	if r.RestsOn == nil {
		return (*store.Tx).CreateSession
	}
	return func(tx *store.Tx, s store.NewSession, lead payment.Lead) { tx.CreateSessionFor(*r.RestsOn, s, lead) }
}

func (c *Checkout) write(ctx context.Context, s store.NewSession, lead payment.Lead, req CreateRequest, create createWay) error {
	return c.Store.Write(ctx, s.CreatedAt, func(tx *store.Tx) error {
		// The key comes first: a twin running at the same time must learn that
		// it is a repeat, not that its lead is busy with this very purchase.
		tx.Remember(req.Key, s.ID)
		if req.knownLead != uuid.Nil {
			tx.HoldLead(s.TenantID, req.knownLead)
		}
		create(tx, s, lead)
		return nil
	})
}

func (c *Checkout) created(token string) Created {
	return Created{Token: token, PaymentURL: c.PaymentURL(token)}
}

// resolve turns the request into a session by the tenant's set-up (contract 2.1).
func (c *Checkout) resolve(setup *merchant.Setup, req CreateRequest, bad payment.Fields, now time.Time) payment.Session {
	s := payment.Session{
		ID: payment.NewID(), TenantID: setup.Tenant.ID, Token: payment.NewToken(setup.Tenant.Number),
		Status: payment.SessionPending, HoldsLead: true, MandateReference: payment.NewMandateReference(),
		TenantReferenceID: req.TenantReferenceID, Options: req.Options, CustomerIP: req.CustomerIP, MaxAttempts: payment.DefaultPaymentAttempts,
		AcceptanceMode: payment.AcceptCheckbox, ExpiresAt: now.Add(c.SessionTTL), CreatedAt: now, UpdatedAt: now,
	}
	if req.HasCampaign {
		fromCampaign(&s, setup, req, bad, now)
	} else {
		requireDirectFields(req, bad)
	}
	overrideTerms(&s.Terms, req)
	s.Terms.Check(bad)
	if req.MaxAttempts != nil {
		s.MaxAttempts = *req.MaxAttempts
	}
	overrideRecords(&s, setup, req, bad)
	c.checkGateway(setup, s, bad)
	c.checkNotice(setup, s, bad)
	return s
}

// fromCampaign fills in what the campaign and its offer say.
func fromCampaign(s *payment.Session, setup *merchant.Setup, req CreateRequest, bad payment.Fields, now time.Time) {
	if req.CampaignID == nil {
		return // what was given is no id, and is in bad already
	}
	campaign, ok := setup.Campaign(*req.CampaignID)
	if !ok {
		bad.Add("campaign_id", "There is no active campaign with this id.")
		return
	}
	offer, ok := setup.Offer(campaign.OfferID)
	if !ok {
		bad.Add("campaign_id", "The offer of this campaign is not active.")
		return
	}
	s.CampaignID, s.OfferID, s.Terms = &campaign.ID, &offer.ID, offer.Terms
	s.GatewayID, s.HostedPageID, s.WebhookProfileID = campaign.GatewayID, campaign.HostedPageID, campaign.WebhookProfileID
	s.MaxAttempts, s.AcceptanceMode = campaign.MaxPaymentAttempts, campaign.AcceptanceMode
	if campaign.SessionTTL > 0 {
		s.ExpiresAt = now.Add(campaign.SessionTTL)
	}
	if _, ok := setup.Gateway(campaign.GatewayID); !ok && req.GatewayID == nil {
		bad.Add("campaign_id", "The gateway of this campaign is not active.")
	}
}

// requireDirectFields asks for what only a campaign could have given.
func requireDirectFields(req CreateRequest, bad payment.Fields) {
	given := map[string]bool{
		"gateway_id": req.GatewayID != nil, "amount": req.AmountMinor != nil,
		"currency": req.Currency != nil, "billing_type": req.BillingType != nil,
	}
	for name, ok := range given {
		if !ok {
			bad.Add(name, name+" is required when campaign_id is not provided.")
		}
	}
}

// overrideTerms puts the request's prices over the offer's. Another billing type
// drops what belonged to the offer's own, so that no trial comes along unasked.
func overrideTerms(t *payment.Terms, req CreateRequest) {
	if req.BillingType != nil && *req.BillingType != t.BillingType {
		t.BillingType = *req.BillingType
		if t.BillingType != payment.TrialRecurring {
			t.TrialUnit, t.TrialPeriod, t.TrialMinor = "", 0, nil
		}
		if t.BillingType == payment.OneOff {
			t.Frequency = ""
		}
	}
	override(&t.PriceMinor, req.AmountMinor)
	override(&t.Currency, req.Currency)
	override(&t.Frequency, req.Frequency)
	override(&t.TrialUnit, req.TrialUnit)
	override(&t.TrialPeriod, req.TrialPeriod)
	if req.TrialMinor != nil {
		t.TrialMinor = req.TrialMinor
	}
}

func override[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}

// overrideRecords puts gateway, page and profile of the request over the
// campaign's. One of another tenant is one that does not exist.
func overrideRecords(s *payment.Session, setup *merchant.Setup, req CreateRequest, bad payment.Fields) {
	if id := req.GatewayID; id != nil {
		if _, ok := setup.Gateway(*id); !ok {
			bad.Add("gateway_id", "There is no active gateway with this id.")
		}
		s.GatewayID = *id
	}
	if id := req.HostedPageID; id != nil {
		if _, ok := setup.HostedPage(*id); !ok {
			bad.Add("hosted_page_id", "There is no active hosted page with this id.")
		}
		s.HostedPageID = id
	}
	if id := req.WebhookProfileID; id != nil {
		if _, ok := setup.WebhookProfile(*id); !ok {
			bad.Add("webhook_profile_id", "There is no active webhook profile with this id.")
		}
		s.WebhookProfileID = id
	}
}

// checkGateway refuses a gateway that this installation does not use any more, and a
// currency that the session's cannot collect.
func (c *Checkout) checkGateway(setup *merchant.Setup, s payment.Session, bad payment.Fields) {
	account, ok := setup.Gateway(s.GatewayID)
	if !ok {
		return
	}
	collected, isUsed := c.Gateways.Currencies(account.Adapter)
	switch {
	case !isUsed:
		bad.Add("gateway_id", "This gateway is not in use here any more.")
	case s.Terms.Currency != "" && !slices.Contains(collected, s.Terms.Currency):
		bad.Add("currency", "The gateway cannot collect this currency: SEPA collects EUR.")
	}
}

// checkNotice refuses a rhythm for which the session's gateway cannot tell payers in
// time. Longer periods fit any notice, and are not worth the question.
func (c *Checkout) checkNotice(setup *merchant.Setup, s payment.Session, bad payment.Fields) {
	if s.Terms.Frequency != payment.Weekly && s.Terms.Frequency != payment.Biweekly {
		return
	}
	if planner, plans := c.Planner(setup, s.GatewayID); plans {
		if sentence := gateway.TooOften(planner, s.Terms.Frequency); sentence != "" {
			bad.Add("billing_frequency", sentence)
		}
	}
}
