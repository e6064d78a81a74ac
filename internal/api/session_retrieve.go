package api

import (
	"net/http"
	"strings"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/web"
)

// sessionBody is what a session shows (contract 2.4).
type sessionBody struct {
	SessionToken      string                `json:"session_token"`
	Status            payment.SessionStatus `json:"status"`
	Amount            string                `json:"amount"`
	Currency          string                `json:"currency"`
	AttemptsRemaining int                   `json:"attempts_remaining"`
	Campaign          any                   `json:"campaign"`
	Offer             offerBody             `json:"offer"`
	Mandate           mandateBody           `json:"mandate"`
	Lead              leadBody              `json:"lead"`
}

// campaignBody is all of the campaign that a server-to-server session shows.
type campaignBody struct {
	Name string `json:"name"`
}

// campaignPageBody is the campaign of a session with a hosted page (contract 2.5).
type campaignPageBody struct {
	Name                   string         `json:"name"`
	Branding               brandingBody   `json:"branding"`
	Content                map[string]any `json:"content"`
	ShowProductName        bool           `json:"show_product_name"`
	ShowProductPrice       bool           `json:"show_product_price"`
	ShowProductDescription bool           `json:"show_product_description"`
	OfferOverrides         map[string]any `json:"offer_overrides"`
	SuccessRedirectURL     *string        `json:"success_redirect_url"`
	FailureRedirectURL     *string        `json:"failure_redirect_url"`
}

type brandingBody struct {
	LogoURL      *string `json:"logo_url"`
	PrimaryColor string  `json:"primary_color"`
	AccentColor  string  `json:"accent_color"`
}

type offerBody struct {
	Name               string  `json:"name"`
	Price              string  `json:"price"`
	Currency           string  `json:"currency"`
	BillingType        string  `json:"billing_type"`
	ProductName        *string `json:"product_name,omitempty"`
	ProductDescription *string `json:"product_description,omitempty"`
}

type mandateBody struct {
	AcceptanceMode payment.AcceptanceMode `json:"acceptance_mode"`
}

type leadBody struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Email     string `json:"email"`
}

// retrieveSession answers GET /payment-sessions/{token}/ (contract 4.2).
func (a *API) retrieveSession(w http.ResponseWriter, r *http.Request) error {
	view, err := a.Checkout.Retrieve(r.Context(), r.PathValue("token"))
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, sessionOf(view))
	return nil
}

func sessionOf(v checkout.View) sessionBody {
	terms := v.Session.Terms
	body := sessionBody{
		SessionToken: v.Session.Token, Status: v.Status, Amount: terms.DueMinor().String(), Currency: terms.Currency,
		AttemptsRemaining: v.Session.AttemptsRemaining(), Campaign: campaignOf(v),
		Offer: offerBody{
			Name: v.OfferName(), Price: terms.PriceMinor.String(), Currency: terms.Currency,
			BillingType: strings.ToLower(string(terms.BillingType)),
		},
		Mandate: mandateBody{v.Session.AcceptanceMode},
		Lead:    leadBody{v.Lead.FirstName, v.Lead.LastName, v.Lead.Email},
	}
	body.Offer.ProductName, body.Offer.ProductDescription = v.ProductName(), v.ProductDescription()
	return body
}

func campaignOf(v checkout.View) any {
	if v.Page == nil {
		return campaignBody{v.CampaignName()}
	}
	page := v.Page
	body := campaignPageBody{
		Name:     v.CampaignName(),
		Branding: brandingBody{page.Branding.LogoURL, page.Branding.PrimaryColor, page.Branding.AccentColor},
		Content:  page.Content, ShowProductName: page.ShowProductName, ShowProductPrice: page.ShowProductPrice,
		ShowProductDescription: page.ShowProductDescription, OfferOverrides: map[string]any{},
		SuccessRedirectURL: v.SuccessRedirectURL(), FailureRedirectURL: v.FailureRedirectURL(),
	}
	if v.Campaign != nil && v.Campaign.OfferOverrides != nil {
		body.OfferOverrides = v.Campaign.OfferOverrides
	}
	if body.Content == nil {
		body.Content = map[string]any{}
	}
	return body
}
