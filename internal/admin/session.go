package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

// sessionBody is a session as an operator sees it. The token is not among it:
// whoever has that can pay.
type sessionBody struct {
	ID                 uuid.UUID              `json:"id"`
	TenantID           uuid.UUID              `json:"tenant_id"`
	Status             payment.SessionStatus  `json:"status"`
	IsInFlight         bool                   `json:"payment_in_flight"`
	Amount             string                 `json:"amount"`
	Price              string                 `json:"price"`
	Currency           string                 `json:"currency"`
	BillingType        payment.BillingType    `json:"billing_type"`
	BillingFrequency   *string                `json:"billing_frequency"`
	MandateReferenceID string                 `json:"mandate_reference_id"`
	AcceptanceMode     payment.AcceptanceMode `json:"mandate_acceptance_mode"`
	GatewayID          uuid.UUID              `json:"payment_gateway_id"`
	CampaignID         *uuid.UUID             `json:"campaign_id"`
	OfferID            *uuid.UUID             `json:"offer_id"`
	HostedPageID       *uuid.UUID             `json:"hosted_page_id"`
	WebhookProfileID   *uuid.UUID             `json:"webhook_profile_id"`
	AttemptsUsed       int                    `json:"attempts_used"`
	AttemptsRemaining  int                    `json:"attempts_remaining"`
	MaxAttempts        int                    `json:"max_payment_attempts"`
	LastTransactionID  *uuid.UUID             `json:"last_transaction_id"`
	Lead               sessionLeadBody        `json:"lead"`
	Order              *orderBody             `json:"order"`
	ExpiresAt          string                 `json:"expires_at"`
	CreatedAt          string                 `json:"created_at"`
	UpdatedAt          string                 `json:"updated_at"`
}

type sessionLeadBody struct {
	ID        uuid.UUID `json:"id"`
	Email     string    `json:"email"`
	FirstName string    `json:"first_name"`
	LastName  string    `json:"last_name"`
	Country   string    `json:"country"`
}

func sessionOf(s listing.SessionRecord, now time.Time) sessionBody {
	return sessionBody{
		ID: s.ID, TenantID: s.TenantID, Status: s.StatusAt(now), IsInFlight: s.InFlight(),
		Amount: s.Terms.DueMinor().String(), Price: s.Terms.PriceMinor.String(), Currency: s.Terms.Currency,
		BillingType: s.Terms.BillingType, BillingFrequency: payment.Given(string(s.Terms.Frequency)),
		MandateReferenceID: s.MandateReference, AcceptanceMode: s.AcceptanceMode, GatewayID: s.GatewayID,
		CampaignID: s.CampaignID, OfferID: s.OfferID, HostedPageID: s.HostedPageID, WebhookProfileID: s.WebhookProfileID,
		AttemptsUsed: s.AttemptsUsed, AttemptsRemaining: s.AttemptsRemaining(), MaxAttempts: s.MaxAttempts,
		LastTransactionID: s.LastTransactionID,
		Lead:              sessionLeadBody{s.Lead.ID, s.Lead.Email, s.Lead.FirstName, s.Lead.LastName, s.Lead.Country},
		Order:             orderOf(s.Order), ExpiresAt: instantText(s.ExpiresAt), CreatedAt: instantText(s.CreatedAt),
		UpdatedAt: instantText(s.UpdatedAt),
	}
}

// listSessions answers GET /sessions/.
func (a *Admin) listSessions(w http.ResponseWriter, r *http.Request) error {
	q, now := a.ask(r), a.Checkout.Clock.Now()
	search := listing.SessionSearch{
		Common: q.common(), Status: readOneOf(q.parameters, "status", payment.SessionStatuses, q.bad), Now: now,
		EmailKey: q.email(), LeadID: q.id("lead_id"), OrderNumber: q.text("order_number"), CampaignID: q.id("campaign_id"),
		GatewayID: q.id("payment_gateway_id"),
	}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[listing.SessionRecord], error) {
		return listing.SearchSessions(ctx, a.Store, search, s)
	}, func(s listing.SessionRecord) uuid.UUID { return s.ID }, func(s listing.SessionRecord) sessionBody { return sessionOf(s, now) })
}

// showSession answers GET /sessions/{id}/.
func (a *Admin) showSession(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", payment.ErrSessionNotFound)
	if err != nil {
		return err
	}
	tenantID, err := a.Store.SessionOwner(r.Context(), id)
	if err != nil {
		return err
	}
	found, err := listing.FindSession(r.Context(), a.Store.Tenant(tenantID), id)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, sessionOf(found, a.Checkout.Clock.Now()))
	return nil
}

type orderBody struct {
	ID          uuid.UUID           `json:"id"`
	OrderNumber string              `json:"order_number"`
	Status      payment.OrderStatus `json:"status"`
}

func orderOf(o *payment.Order) *orderBody {
	if o == nil {
		return nil
	}
	return &orderBody{o.ID, o.Number, o.Status}
}
