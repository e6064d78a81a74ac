package checkout

import (
	"context"

	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// View is what a page or a merchant's form may show of a session.
type View struct {
	Session payment.Session
	Status  payment.SessionStatus
	Lead    payment.Lead
	Tenant  merchant.Tenant
	Gateway merchant.GatewayAccount
	// Campaign, Offer and Page are nil where the session has none.
	Campaign *merchant.Campaign
	Offer    *merchant.Offer
	Page     *merchant.HostedPage
	// EarliestDue is the day on which a payment that is made now is debited, none
	// where the gateway does not say.
	EarliestDue payment.Date
	// SetupVersion is that of the tenant's set-up, from which the above was taken.
	SetupVersion int64
}

// Retrieve finds a session by its token.
func (c *Checkout) Retrieve(ctx context.Context, token string) (View, error) {
	found, err := c.Store.SessionByToken(ctx, token)
	if err != nil {
		return View{}, err
	}
	setup, err := c.Store.Setup(ctx, found.Session.TenantID, found.SetupVersion)
	if err != nil {
		return View{}, err
	}
	s := found.Session
	v := View{Session: s, Status: s.StatusAt(c.now()), Lead: found.Lead, Tenant: setup.Tenant, Gateway: setup.Gateways[s.GatewayID], SetupVersion: found.SetupVersion}
	if planner, plans := c.Planner(setup, s.GatewayID); plans {
		v.EarliestDue = planner.Plan(setup.Tenant, c.now(), payment.Date{}).DueDate
	}
	// A record that was switched off since still says what was sold.
	if s.CampaignID != nil {
		campaign := setup.Campaigns[*s.CampaignID]
		v.Campaign = &campaign
	}
	if s.OfferID != nil {
		offer := setup.Offers[*s.OfferID]
		v.Offer = &offer
	}
	if s.HostedPageID != nil {
		page := setup.HostedPages[*s.HostedPageID]
		v.Page = &page
	}
	return v, nil
}

// SuccessRedirectURL is where the hosted page leads on to after a payment: the
// session's own address, else the page's. It is nil for none.
func (v View) SuccessRedirectURL() *string {
	if v.Session.Options.SuccessRedirectURL != "" {
		return copied(v.Session.Options.SuccessRedirectURL)
	}
	if v.Page == nil {
		return nil
	}
	return v.Page.SuccessRedirectURL
}

// FailureRedirectURL is where it leads on to when nothing was paid.
func (v View) FailureRedirectURL() *string {
	if v.Session.Options.FailureRedirectURL != "" {
		return copied(v.Session.Options.FailureRedirectURL)
	}
	if v.Page == nil {
		return nil
	}
	return v.Page.FailureRedirectURL
}

// ProductName is what the session or its offer calls the product, nil for neither.
func (v View) ProductName() *string {
	if v.Session.Options.ProductName != "" {
		return copied(v.Session.Options.ProductName)
	}
	if v.Offer == nil {
		return nil
	}
	return v.Offer.ProductName
}

// ProductDescription is what the session or its offer says of the product.
func (v View) ProductDescription() *string {
	if v.Session.Options.ProductDescription != "" {
		return copied(v.Session.Options.ProductDescription)
	}
	if v.Offer == nil {
		return nil
	}
	return v.Offer.ProductDescription
}

// copied leaves a view where it is: one that is pointed into has to be kept, all of its two kilobytes.
func copied(text string) *string { return &text }

// CampaignName is the campaign's name, in direct mode the tenant's.
func (v View) CampaignName() string {
	if v.Campaign != nil {
		return v.Campaign.Name
	}
	return v.Tenant.Name
}

// OfferName is the offer's name, in direct mode the page's or the tenant's.
func (v View) OfferName() string {
	switch {
	case v.Offer != nil:
		return v.Offer.Name
	case v.Page != nil:
		return v.Page.Name
	default:
		return v.Tenant.Name
	}
}
