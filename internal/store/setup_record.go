package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// Kinds of set-up records, as the column says them.
const (
	kindGateway        = "gateway"
	kindWebhookProfile = "webhook_profile"
	kindHostedPage     = "hosted_page"
	kindOffer          = "offer"
	kindCampaign       = "campaign"
)

// setupRecord is a row: the document is JSON, the secrets are sealed.
type setupRecord struct {
	id       uuid.UUID
	kind     string
	document string
	secrets  string
	active   bool
	version  int64 // how often it was written
}

// The documents. Their field names are a format of ours on disk, which is why
// they are written down here and not taken from the types by reflection.
type (
	gatewayDocument struct {
		Name       string `json:"name"`
		Adapter    string `json:"adapter"`
		TestMode   bool   `json:"test_mode"`
		Descriptor string `json:"descriptor"`
	}
	profileDocument struct {
		Name                string              `json:"name"`
		URL                 string              `json:"url"`
		Events              []payment.EventKind `json:"events"`
		FullPayload         bool                `json:"full_payload,omitempty"`
		Default             bool                `json:"default"`
		PreviousSecretUntil time.Time           `json:"previous_secret_until"`
	}
	profileSecrets struct {
		Signing  string `json:"signing"`
		Previous string `json:"previous"`
	}
	pageDocument struct {
		Name                   string         `json:"name"`
		LogoURL                *string        `json:"logo_url"`
		LogoDarkURL            *string        `json:"logo_dark_url"`
		PrimaryColor           string         `json:"primary_color"`
		AccentColor            string         `json:"accent_color"`
		Content                map[string]any `json:"content"`
		ShowProductName        bool           `json:"show_product_name"`
		ShowProductPrice       bool           `json:"show_product_price"`
		ShowProductDescription bool           `json:"show_product_description"`
		SuccessRedirectURL     *string        `json:"success_redirect_url"`
		FailureRedirectURL     *string        `json:"failure_redirect_url"`
		Links                  linkDocument   `json:"links"`
	}
	linkDocument struct {
		Shop         *string `json:"shop"`
		OtherPayment *string `json:"other_payment"`
		Terms        *string `json:"terms"`
		Privacy      *string `json:"privacy"`
		Imprint      *string `json:"imprint"`
	}
	offerDocument struct {
		Name               string                   `json:"name"`
		PriceMinor         payment.Minor            `json:"price_minor"`
		Currency           string                   `json:"currency"`
		BillingType        payment.BillingType      `json:"billing_type"`
		Frequency          payment.BillingFrequency `json:"billing_frequency"`
		TrialUnit          payment.TrialUnit        `json:"trial_unit"`
		TrialPeriod        int                      `json:"trial_period"`
		TrialMinor         *payment.Minor           `json:"trial_minor"`
		ProductName        *string                  `json:"product_name"`
		ProductDescription *string                  `json:"product_description"`
	}
	campaignDocument struct {
		Name               string                 `json:"name"`
		OfferID            uuid.UUID              `json:"offer_id"`
		GatewayID          uuid.UUID              `json:"gateway_id"`
		HostedPageID       *uuid.UUID             `json:"hosted_page_id"`
		WebhookProfileID   *uuid.UUID             `json:"webhook_profile_id"`
		MaxPaymentAttempts int                    `json:"max_payment_attempts"`
		AcceptanceMode     payment.AcceptanceMode `json:"acceptance_mode"`
		SessionTTL         time.Duration          `json:"session_ttl_ns"`
		Dunning            payment.Dunning        `json:"dunning_days"`
		KeepsClaimed       *bool                  `json:"keeps_claimed,omitempty"`
		OfferOverrides     map[string]any         `json:"offer_overrides"`
	}
)

// PutGateway creates or changes a gateway account.
func (s *Store) PutGateway(tx *Tx, tenantID uuid.UUID, g merchant.GatewayAccount) error {
	return s.putRecord(tx, tenantID, setupRecord{id: g.ID, kind: kindGateway, active: g.Active},
		gatewayDocument{g.Name, g.Adapter, g.TestMode, g.Descriptor}, map[string]any(g.Settings))
}

// PutWebhookProfile creates or changes a webhook profile.
func (s *Store) PutWebhookProfile(tx *Tx, tenantID uuid.UUID, p merchant.WebhookProfile) error {
	return s.putRecord(tx, tenantID, setupRecord{id: p.ID, kind: kindWebhookProfile, active: p.Active},
		profileDocument{p.Name, p.URL, p.Events, p.FullPayload, p.Default, p.PreviousSecretUntil},
		profileSecrets{p.SigningSecret.Reveal(), p.PreviousSecret.Reveal()})
}

// PutHostedPage creates or changes a hosted page.
func (s *Store) PutHostedPage(tx *Tx, tenantID uuid.UUID, p merchant.HostedPage) error {
	return s.putRecord(tx, tenantID, setupRecord{id: p.ID, kind: kindHostedPage, active: p.Active},
		pageDocument{
			p.Name, p.Branding.LogoURL, p.Branding.LogoDarkURL, p.Branding.PrimaryColor, p.Branding.AccentColor, p.Content,
			p.ShowProductName, p.ShowProductPrice, p.ShowProductDescription, p.SuccessRedirectURL, p.FailureRedirectURL,
			linkDocument(p.Links),
		}, nil)
}

// PutOffer creates or changes an offer.
func (s *Store) PutOffer(tx *Tx, tenantID uuid.UUID, o merchant.Offer) error {
	t := o.Terms
	return s.putRecord(tx, tenantID, setupRecord{id: o.ID, kind: kindOffer, active: o.Active},
		offerDocument{
			o.Name, t.PriceMinor, t.Currency, t.BillingType, t.Frequency, t.TrialUnit, t.TrialPeriod, t.TrialMinor,
			o.ProductName, o.ProductDescription,
		}, nil)
}

// PutCampaign creates or changes a campaign.
func (s *Store) PutCampaign(tx *Tx, tenantID uuid.UUID, c merchant.Campaign) error {
	return s.putRecord(tx, tenantID, setupRecord{id: c.ID, kind: kindCampaign, active: c.Active},
		campaignDocument{
			c.Name, c.OfferID, c.GatewayID, c.HostedPageID, c.WebhookProfileID, c.MaxPaymentAttempts,
			c.AcceptanceMode, c.SessionTTL, c.Dunning, c.KeepsClaimed, c.OfferOverrides,
		}, nil)
}

// putRecord encodes the document and seals the secrets.
func (s *Store) putRecord(tx *Tx, tenantID uuid.UUID, record setupRecord, document, secrets any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	record.document = string(text)
	if secrets != nil {
		plain, err := json.Marshal(secrets)
		if err != nil {
			return err
		}
		if record.secrets, err = s.vault.Seal(plain, bindSecrets(tenantID, record)); err != nil {
			return err
		}
	}
	tx.put(tenantID, record)
	return nil
}

// openSecrets reads what putRecord sealed.
func (s *Store) openSecrets(tenantID uuid.UUID, record setupRecord, into any) error {
	if record.secrets == "" {
		return nil
	}
	plain, err := s.vault.Open(record.secrets, bindSecrets(tenantID, record))
	if err != nil {
		return fmt.Errorf("the secrets of %s %s cannot be opened: %w", record.kind, record.id, err)
	}
	return readJSON(plain, into)
}
