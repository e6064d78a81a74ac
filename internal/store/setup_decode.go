package store

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// decodeRecord adds a record to the set-up it belongs to.
func (s *Store) decodeRecord(into *merchant.Setup, record setupRecord) error {
	switch record.kind {
	case kindGateway:
		return s.decodeGateway(into, record)
	case kindWebhookProfile:
		return s.decodeProfile(into, record)
	case kindHostedPage:
		return decodePage(into, record)
	case kindOffer:
		return decodeOffer(into, record)
	case kindCampaign:
		return decodeCampaign(into, record)
	default:
		return fmt.Errorf("store: unknown kind of set-up record %q", record.kind)
	}
}

func document[T any](record setupRecord) (d T, err error) {
	if err := readJSON([]byte(record.document), &d); err != nil {
		return d, fmt.Errorf("store: the document of %s %s: %w", record.kind, record.id, err)
	}
	return d, nil
}

// readJSON leaves numbers of free-form objects as they are written: as floats,
// long ones would lose digits.
func readJSON(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// plain gives the numbers of a free-form object the types that a resource file
// gives them: int64 for whole ones, float64 for others.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return plainObject(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		fraction, _ := v.Float64()
		return fraction
	}
	return value
}

func plainObject(object map[string]any) map[string]any {
	for name := range object {
		object[name] = plain(object[name])
	}
	return object
}

func (s *Store) decodeGateway(into *merchant.Setup, record setupRecord) error {
	d, err := document[gatewayDocument](record)
	if err != nil {
		return err
	}
	settings := merchant.Settings{}
	if err := s.openSecrets(into.Tenant.ID, record, &settings); err != nil {
		return err
	}
	into.Gateways[record.id] = merchant.GatewayAccount{
		ID: record.id, Name: d.Name, Adapter: d.Adapter, TestMode: d.TestMode, Descriptor: d.Descriptor,
		Settings: plainObject(settings), Active: record.active,
	}
	return nil
}

func (s *Store) decodeProfile(into *merchant.Setup, record setupRecord) error {
	d, err := document[profileDocument](record)
	if err != nil {
		return err
	}
	var secrets profileSecrets
	if err := s.openSecrets(into.Tenant.ID, record, &secrets); err != nil {
		return err
	}
	into.WebhookProfiles[record.id] = merchant.WebhookProfile{
		ID: record.id, Name: d.Name, URL: d.URL, SigningSecret: merchant.Secret(secrets.Signing),
		PreviousSecret: merchant.Secret(secrets.Previous), PreviousSecretUntil: d.PreviousSecretUntil,
		Events: d.Events, FullPayload: d.FullPayload, Default: d.Default, Active: record.active,
	}
	return nil
}

func decodePage(into *merchant.Setup, record setupRecord) error {
	d, err := document[pageDocument](record)
	into.HostedPages[record.id] = merchant.HostedPage{
		ID: record.id, Name: d.Name,
		Branding:        merchant.Branding{LogoURL: d.LogoURL, LogoDarkURL: d.LogoDarkURL, PrimaryColor: d.PrimaryColor, AccentColor: d.AccentColor},
		Content:         plainObject(d.Content),
		ShowProductName: d.ShowProductName, ShowProductPrice: d.ShowProductPrice,
		ShowProductDescription: d.ShowProductDescription,
		SuccessRedirectURL:     d.SuccessRedirectURL, FailureRedirectURL: d.FailureRedirectURL, Links: merchant.Links(d.Links), Active: record.active,
	}
	return err
}

func decodeOffer(into *merchant.Setup, record setupRecord) error {
	d, err := document[offerDocument](record)
	into.Offers[record.id] = merchant.Offer{
		ID: record.id, Name: d.Name,
		Terms: payment.Terms{
			PriceMinor: d.PriceMinor, Currency: d.Currency, BillingType: d.BillingType, Frequency: d.Frequency,
			TrialUnit: d.TrialUnit, TrialPeriod: d.TrialPeriod, TrialMinor: d.TrialMinor,
		},
		ProductName: d.ProductName, ProductDescription: d.ProductDescription, Active: record.active,
	}
	return err
}

func decodeCampaign(into *merchant.Setup, record setupRecord) error {
	d, err := document[campaignDocument](record)
	into.Campaigns[record.id] = merchant.Campaign{
		ID: record.id, Name: d.Name, OfferID: d.OfferID, GatewayID: d.GatewayID, HostedPageID: d.HostedPageID,
		WebhookProfileID: d.WebhookProfileID, MaxPaymentAttempts: d.MaxPaymentAttempts, AcceptanceMode: d.AcceptanceMode,
		SessionTTL: d.SessionTTL, Dunning: d.Dunning, KeepsClaimed: d.KeepsClaimed, OfferOverrides: plainObject(d.OfferOverrides), Active: record.active,
	}
	return err
}
