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
	v := View{Session: s, Status: s.StatusAt(c.now()), Lead: found.Lead, Tenant: setup.Tenant, Gateway: setup.Gateways[s.GatewayID]}
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
