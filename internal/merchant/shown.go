package merchant

import (
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// Fields are a record's fields as a resource file and a call have them.
type Fields map[string]any

// AllFields turns records into their fields.
func AllFields[T any](records map[uuid.UUID]T, fields func(T) Fields) map[uuid.UUID]Fields {
	all := make(map[uuid.UUID]Fields, len(records))
	for id, record := range records {
		all[id] = fields(record)
	}
	return all
}

// These give the fields of stored records, secrets and adapters' settings left
// out.

// TenantFields are a tenant's own fields.
func TenantFields(t Tenant) Fields {
	fields := Fields{"id": t.ID, "name": t.Name, "creditor": nil, "notices": nil, "allowed_origins": t.AllowedOrigins.List()}
	if t.Notices != (Notices{}) {
		fields["notices"] = map[string]any{"sender": t.Notices.Sender, "reply_to": textOrNull(t.Notices.ReplyTo), "send": t.Notices.Send}
	}
	if t.Creditor != (Creditor{}) {
		creditor := map[string]any{"name": t.Creditor.Name}
		for name, text := range map[string]string{"address": t.Creditor.Address, "identifier": t.Creditor.Identifier} {
			if text != "" {
				creditor[name] = text
			}
		}
		fields["creditor"] = creditor
	}
	return fields
}

// GatewayFields are those of a gateway account.
func GatewayFields(g GatewayAccount) Fields {
	return Fields{
		"id": g.ID, "name": g.Name, "adapter": g.Adapter, "test_mode": g.TestMode, "descriptor": textOrNull(g.Descriptor), "active": g.Active,
	}
}

// WebhookProfileFields are those of a webhook profile.
func WebhookProfileFields(p WebhookProfile) Fields {
	payload := contractPayload
	if p.FullPayload {
		payload = fullPayload
	}
	return Fields{"id": p.ID, "name": p.Name, "url": p.URL, "events": p.Events, "payload": payload, "default": p.Default, "active": p.Active}
}

// HostedPageFields are those of a hosted page.
func HostedPageFields(p HostedPage) Fields {
	return Fields{
		"id": p.ID, "name": p.Name, "content": p.Content, "active": p.Active,
		"branding": map[string]any{
			"logo_url": p.Branding.LogoURL, "logo_dark_url": p.Branding.LogoDarkURL, "primary_color": p.Branding.PrimaryColor, "accent_color": p.Branding.AccentColor,
		},
		"show_product_name": p.ShowProductName, "show_product_price": p.ShowProductPrice,
		"show_product_description": p.ShowProductDescription,
		"success_redirect_url":     p.SuccessRedirectURL, "failure_redirect_url": p.FailureRedirectURL,
		"links": map[string]any{
			"shop": p.Links.Shop, "other_payment": p.Links.OtherPayment,
			"terms": p.Links.Terms, "privacy": p.Links.Privacy, "imprint": p.Links.Imprint,
		},
	}
}

// OfferFields are those of an offer.
func OfferFields(o Offer) Fields {
	fields := Fields{
		"id": o.ID, "name": o.Name, "price": o.Terms.PriceMinor.String(), "currency": o.Terms.Currency,
		"billing_type": o.Terms.BillingType, "billing_frequency": textOrNull(string(o.Terms.Frequency)),
		"trial_interval_unit": textOrNull(string(o.Terms.TrialUnit)), "trial_period": nil, "trial_price": nil,
		"product_name": o.ProductName, "product_description": o.ProductDescription, "active": o.Active,
	}
	if o.Terms.TrialPeriod != 0 {
		fields["trial_period"] = o.Terms.TrialPeriod
	}
	if o.Terms.TrialMinor != nil {
		fields["trial_price"] = o.Terms.TrialMinor.String()
	}
	return fields
}

// CampaignFields are those of a campaign.
func CampaignFields(c Campaign) Fields {
	return Fields{
		"id": c.ID, "name": c.Name, "offer_id": c.OfferID, "gateway_id": c.GatewayID, "hosted_page_id": c.HostedPageID,
		"webhook_profile_id": c.WebhookProfileID, "max_payment_attempts": c.MaxPaymentAttempts,
		"mandate_acceptance_mode": c.AcceptanceMode, "session_ttl": durationOrNull(c.SessionTTL),
		"dunning_days": daysOrNull(c.Dunning), "chargeback_keeps_subscription": c.KeepsClaimed, "offer_overrides": c.OfferOverrides, "active": c.Active,
	}
}

func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func durationOrNull(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return d.String()
}

func daysOrNull(days payment.Dunning) any {
	if days == nil {
		return nil
	}
	return days
}
