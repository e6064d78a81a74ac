package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Shop is a tenant with all that it takes to sell.
type Shop struct {
	merchant.Tenant
	Gateway    merchant.GatewayAccount
	Profile    merchant.WebhookProfile
	HostedPage merchant.HostedPage
	Offer      merchant.Offer
	Campaign   merchant.Campaign
}

// Shop makes a tenant with one record of each kind.
func (e *Env) Shop(t testing.TB) Shop {
	t.Helper()
	s := Shop{Tenant: e.Tenant(t)}
	s.Gateway, s.Profile, s.HostedPage = e.Gateway(t, s.ID), e.WebhookProfile(t, s.ID), e.HostedPage(t, s.ID)
	s.Offer = e.Offer(t, s.ID)
	s.Campaign = e.Campaign(t, s.ID, func(c *merchant.Campaign) {
		c.OfferID, c.GatewayID, c.HostedPageID, c.WebhookProfileID = s.Offer.ID, s.Gateway.ID, &s.HostedPage.ID, &s.Profile.ID
	})
	return s
}

// Tenant makes a tenant with a number of its own.
func (e *Env) Tenant(t testing.TB, change ...func(*merchant.Tenant)) merchant.Tenant {
	t.Helper()
	number := e.tenants.Add(1)
	tenant := merchant.Tenant{
		ID: payment.NewID(), Number: number, Name: fmt.Sprintf("Shop %d", number),
		Creditor: merchant.Creditor{Name: "Shop GmbH", Address: "Hauptstraße 1, 10115 Berlin", Identifier: "DE98ZZZ09999999999"},
	}
	apply(&tenant, change)
	e.Write(t, func(tx *store.Tx) error {
		tx.PutTenant(tenant)
		return nil
	})
	return tenant
}

// Gateway makes a gateway account with secrets.
func (e *Env) Gateway(t testing.TB, tenantID uuid.UUID, change ...func(*merchant.GatewayAccount)) merchant.GatewayAccount {
	t.Helper()
	account := merchant.GatewayAccount{
		ID: payment.NewID(), Name: "Sandbox", Adapter: "sandbox", TestMode: true, Descriptor: "SHOP*ORDER", Active: true,
		Settings: merchant.Settings{
			"api_key": "gateway-secret-text", "account": int64(9_007_199_254_740_993), "ratio": 0.25, "eu": true,
			"nested": map[string]any{"list": []any{int64(1), "two", nil}},
		},
	}
	apply(&account, change)
	e.Write(t, func(tx *store.Tx) error { return e.Store.PutGateway(tx, tenantID, account) })
	return account
}

// WebhookProfile makes the tenant's default profile, which takes every event.
func (e *Env) WebhookProfile(t testing.TB, tenantID uuid.UUID, change ...func(*merchant.WebhookProfile)) merchant.WebhookProfile {
	t.Helper()
	profile := merchant.WebhookProfile{
		ID: payment.NewID(), Name: "Backend", URL: "https://shop.example/hooks?a=1&b=<2>", SigningSecret: "signing-secret-text",
		PreviousSecret: "previous-secret-text", PreviousSecretUntil: e.Now.Add(24 * time.Hour), Events: payment.EventKinds,
		Default: true, Active: true,
	}
	apply(&profile, change)
	e.Write(t, func(tx *store.Tx) error { return e.Store.PutWebhookProfile(tx, tenantID, profile) })
	return profile
}

// HostedPage makes a page with every field set.
func (e *Env) HostedPage(t testing.TB, tenantID uuid.UUID, change ...func(*merchant.HostedPage)) merchant.HostedPage {
	t.Helper()
	page := merchant.HostedPage{
		ID: payment.NewID(), Name: "Checkout",
		Branding: merchant.Branding{
			LogoURL: new("https://shop.example/logo.svg"), LogoDarkURL: new("https://shop.example/white.svg"),
			PrimaryColor: "#112233", AccentColor: "#445566",
		},
		Content:         map[string]any{"title": "Danke & bis bald", "steps": []any{"one", int64(2)}},
		ShowProductName: true, ShowProductPrice: true, ShowProductDescription: true,
		SuccessRedirectURL: new("https://shop.example/thanks"), FailureRedirectURL: new("https://shop.example/sorry"), Active: true,
		Links: merchant.Links{
			Shop: new("https://shop.example/"), OtherPayment: new("https://shop.example/pay"), Terms: new("https://shop.example/terms"),
			Privacy: new("https://shop.example/privacy"), Imprint: new("https://shop.example/imprint"),
		},
	}
	apply(&page, change)
	e.Write(t, func(tx *store.Tx) error { return e.Store.PutHostedPage(tx, tenantID, page) })
	return page
}

// Offer makes a one-off offer.
func (e *Env) Offer(t testing.TB, tenantID uuid.UUID, change ...func(*merchant.Offer)) merchant.Offer {
	t.Helper()
	offer := merchant.Offer{
		ID: payment.NewID(), Name: "Book", Terms: OneOff,
		ProductName: new("The Book"), ProductDescription: new("Paper, 200 pages"), Active: true,
	}
	apply(&offer, change)
	e.Write(t, func(tx *store.Tx) error { return e.Store.PutOffer(tx, tenantID, offer) })
	return offer
}

// Campaign makes a campaign; what it refers to is the caller's.
func (e *Env) Campaign(t testing.TB, tenantID uuid.UUID, change ...func(*merchant.Campaign)) merchant.Campaign {
	t.Helper()
	campaign := merchant.Campaign{
		ID: payment.NewID(), Name: "Spring", OfferID: payment.NewID(), GatewayID: payment.NewID(), MaxPaymentAttempts: 3,
		AcceptanceMode: payment.AcceptImplicit, SessionTTL: 90 * time.Minute,
		OfferOverrides: map[string]any{"name": "Spring book", "badge": int64(7)}, Active: true,
	}
	apply(&campaign, change)
	e.Write(t, func(tx *store.Tx) error { return e.Store.PutCampaign(tx, tenantID, campaign) })
	return campaign
}

// APIKey makes a key and gives it as it is shown once.
func (e *Env) APIKey(t testing.TB, tenantID uuid.UUID, change ...func(*merchant.APIKey)) (merchant.APIKey, string) {
	t.Helper()
	text := merchant.NewAPIKey(merchant.Sandbox)
	key := merchant.APIKey{
		ID: payment.NewID(), TenantID: tenantID, Name: "backend", Prefix: merchant.KeyDisplayPrefix(text), Scopes: merchant.DefaultScopes, CreatedAt: e.Now,
	}
	apply(&key, change)
	e.Write(t, func(tx *store.Tx) error {
		tx.AddAPIKey(key, merchant.HashAPIKey(text))
		return nil
	})
	return key, text
}

func apply[T any](to *T, change []func(*T)) {
	for _, c := range change {
		c(to)
	}
}
