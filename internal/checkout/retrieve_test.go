package checkout_test

import (
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

func TestWhatAPageMayShow(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		offer := till.Env.Offer(t, till.Shop.ID)
		page := till.Env.HostedPage(t, till.Shop.ID)
		campaign := till.Env.Campaign(t, till.Shop.ID, func(c *merchant.Campaign) {
			c.OfferID, c.GatewayID, c.HostedPageID = offer.ID, till.Shop.Gateway.ID, &page.ID
		})
		sold := till.Session(t, func(d *storetest.Draft) {
			d.Session.CampaignID, d.Session.OfferID, d.Session.HostedPageID = &campaign.ID, &offer.ID, &page.ID
		})
		v, err := till.Retrieve(t.Context(), sold.Session.Token)
		if err != nil || v.Campaign == nil || v.Campaign.ID != campaign.ID || v.Offer == nil || v.Offer.ID != offer.ID || v.Page == nil || v.Page.ID != page.ID {
			t.Fatalf("a session of a campaign shows %+v: %v", v, err)
		}
		if v.Tenant.ID != till.Shop.ID || v.Gateway.ID != till.Shop.Gateway.ID || v.Lead.ID != sold.Lead.ID || !v.EarliestDue.IsZero() {
			t.Errorf("it is of %s through %s for %s, due on %s", v.Tenant.ID, v.Gateway.ID, v.Lead.ID, v.EarliestDue)
		}
		if now := till.Env.Find(t, sold.Session.Token).SetupVersion; v.SetupVersion == 0 || v.SetupVersion != now {
			t.Errorf("it is of version %d of the set-up, want %d", v.SetupVersion, now)
		}
		direct := till.Session(t, func(d *storetest.Draft) {
			d.Session.CampaignID, d.Session.OfferID, d.Session.HostedPageID = nil, nil, nil
		})
		bare, err := till.Retrieve(t.Context(), direct.Session.Token)
		if err != nil || bare.Campaign != nil || bare.Offer != nil || bare.Page != nil || bare.Status != payment.SessionPending {
			t.Errorf("a session without a campaign shows %+v: %v", bare, err)
		}
		till.Time.Pass(checkout.DefaultSessionTTL)
		if late, err := till.Retrieve(t.Context(), sold.Session.Token); err != nil || late.Status != payment.SessionExpired {
			t.Errorf("a session whose time has run out is %s: %v", late.Status, err)
		}
		if _, err := till.Retrieve(t.Context(), "ps_unknown"); payment.KindOf(err) != payment.NotFound {
			t.Errorf("a token that nobody has: %v", err)
		}
	})
}

func TestAPageSaysWhenABankCollects(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		v, err := till.Retrieve(t.Context(), till.Session(t).Session.Token)
		if want := payment.DateOf(till.Time.Now().Add(3 * 24 * time.Hour)); err != nil || v.EarliestDue != want {
			t.Errorf("it is collected on %s, want %s: %v", v.EarliestDue, want, err)
		}
	}, checkouttest.WithNotice(3))
}

// TestASessionsOwnWordGoesBeforeItsPage looks up every text that more than one record can say.
func TestASessionsOwnWordGoesBeforeItsPage(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	none := checkout.View{Tenant: merchant.Tenant{Name: "Shop"}}
	page := none
	page.Page = &merchant.HostedPage{Name: "Page", SuccessRedirectURL: text("page-success"), FailureRedirectURL: text("page-failure")}
	offer := page
	offer.Offer = &merchant.Offer{Name: "Offer", ProductName: text("offer-name"), ProductDescription: text("offer-text")}
	offer.Campaign = &merchant.Campaign{Name: "Campaign"}
	own := offer
	own.Session.Options = payment.SessionOptions{SuccessRedirectURL: "own-success", FailureRedirectURL: "own-failure", ProductName: "own-name", ProductDescription: "own-text"}
	for _, c := range []struct {
		name string
		view checkout.View
		want [6]string
	}{
		{"nothing is said", none, [6]string{"", "", "", "", "Shop", "Shop"}},
		{"the page says it", page, [6]string{"page-success", "page-failure", "", "", "Shop", "Page"}},
		{"the offer says it", offer, [6]string{"page-success", "page-failure", "offer-name", "offer-text", "Campaign", "Offer"}},
		{"the session says it", own, [6]string{"own-success", "own-failure", "own-name", "own-text", "Campaign", "Offer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			said := func(s *string) string {
				if s == nil {
					return ""
				}
				return *s
			}
			v := c.view
			got := [6]string{said(v.SuccessRedirectURL()), said(v.FailureRedirectURL()), said(v.ProductName()), said(v.ProductDescription()), v.CampaignName(), v.OfferName()}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
