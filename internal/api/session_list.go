package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

// sessionPage is a page of sessions, as reconciliation has its pages.
type sessionPage struct {
	Next     *string      `json:"next"`
	Previous *string      `json:"previous"`
	Results  []listedBody `json:"results"`
}

// listedBody is a session in a list.
type listedBody struct {
	ID                uuid.UUID             `json:"id"`
	SessionToken      *string               `json:"session_token"`
	PaymentURL        *string               `json:"payment_url"`
	Status            payment.SessionStatus `json:"status"`
	PaymentInFlight   bool                  `json:"payment_in_flight"`
	Amount            string                `json:"amount"`
	Currency          string                `json:"currency"`
	BillingType       payment.BillingType   `json:"billing_type"`
	AttemptsUsed      int                   `json:"attempts_used"`
	AttemptsRemaining int                   `json:"attempts_remaining"`
	LastTransactionID *uuid.UUID            `json:"last_transaction_id"`
	TenantReferenceID *string               `json:"tenant_reference_id"`
	Metadata          json.RawMessage       `json:"metadata"`
	Lead              listedLeadBody        `json:"lead"`
	Order             *orderBody            `json:"order"`
	ExpiresAt         *string               `json:"expires_at"`
	CreatedAt         *string               `json:"created_at"`
	UpdatedAt         *string               `json:"updated_at"`
}

type listedLeadBody struct {
	ID uuid.UUID `json:"id"`
	leadBody
}

// listSessions answers GET /payment-sessions/ (contract 4.10).
func (a *API) listSessions(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	query, err := recon.Sessions.Parse(r.URL.RawQuery, caller.TenantID, a.Checkout.Vault)
	if err != nil {
		return err
	}
	now := a.Checkout.Clock.Now()
	query.Filters.Now = now
	page, err := recon.Sessions.Read(r.Context(), a.Store, a.Checkout.Vault, query, a.Checkout.PublicURL+r.URL.Path)
	if err != nil {
		return err
	}
	body := sessionPage{Next: payment.Given(page.Next), Previous: payment.Given(page.Previous), Results: make([]listedBody, len(page.Rows))}
	for i, s := range page.Rows {
		// One whose token was spoilt is listed without: the others are asked for as well.
		if s.Token, err = a.Store.OpenToken(s.Session, s.Kept); err != nil {
			a.tellUnreadable(r.Context(), "session", s.ID, err)
		}
		body.Results[i] = a.listedOf(s, now)
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}

func (a *API) listedOf(s listing.SessionRecord, now time.Time) listedBody {
	body := listedBody{
		ID: s.ID, SessionToken: payment.Given(s.Token), Status: s.StatusAt(now),
		PaymentInFlight: s.InFlight(), Amount: s.Terms.DueMinor().String(), Currency: s.Terms.Currency,
		BillingType: s.Terms.BillingType, AttemptsUsed: s.AttemptsUsed, AttemptsRemaining: s.AttemptsRemaining(),
		LastTransactionID: s.LastTransactionID, TenantReferenceID: s.TenantReferenceID, Metadata: s.Options.Metadata.JSON(),
		Lead:      listedLeadBody{s.Lead.ID, leadBody{s.Lead.FirstName, s.Lead.LastName, s.Lead.Email}},
		ExpiresAt: instant(s.ExpiresAt), CreatedAt: instant(s.CreatedAt), UpdatedAt: instant(s.UpdatedAt),
	}
	if s.Token != "" {
		body.PaymentURL = new(a.Checkout.PaymentURL(s.Token))
	}
	if o := s.Order; o != nil {
		body.Order = &orderBody{o.ID, o.Number, o.Status}
	}
	return body
}

// tellUnreadable tells the operator of a record whose token does not open, which the
// merchant is shown without.
func (a *API) tellUnreadable(ctx context.Context, kind string, id uuid.UUID, why error) {
	a.Checkout.Logger.ErrorContext(ctx, "a sealed token cannot be read and needs a person", "kind", kind, "id", id, "error", why)
}
