package api

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/web"
)

// standingBody is what has become of a session (contract 4.10): the envelope of its
// latest attempt, where the session stands, and every attempt.
type standingBody struct {
	resultBody
	// SessionToken is none where it was spoilt, over that of the result.
	SessionToken    *string               `json:"session_token"`
	SessionID       uuid.UUID             `json:"session_id"`
	SessionStatus   payment.SessionStatus `json:"session_status"`
	PaymentInFlight bool                  `json:"payment_in_flight"`
	// TenantReferenceID is the session's own; each attempt shows which one it has.
	TenantReferenceID *string         `json:"tenant_reference_id"`
	Metadata          json.RawMessage `json:"metadata"`
	Attempts          []attemptBody   `json:"attempts"`
}

// attemptBody is one attempt to pay.
type attemptBody struct {
	transactionBody
	AttemptNumber int               `json:"attempt_number"`
	InFlight      bool              `json:"in_flight"`
	Amount        string            `json:"amount"`
	Currency      string            `json:"currency"`
	CreatedAt     *string           `json:"created_at"`
	ProcessedAt   *string           `json:"processed_at"`
	PaymentMethod paymentMethodBody `json:"payment_method"`
	ErrorDetails  *errorDetailsBody `json:"error_details"`
}

// showResult answers GET /payment-sessions/{token}/result/ (contract 4.10).
func (a *API) showResult(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	found, err := a.Checkout.Standing(r.Context(), caller.TenantID, r.PathValue("token"))
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, standingOf(found))
	return nil
}

func standingOf(s checkout.Standing) standingBody {
	body := standingBody{
		resultBody: resultOf(s.Result), SessionToken: payment.Given(s.Session.Token), SessionID: s.Session.ID, SessionStatus: s.SessionStatus,
		PaymentInFlight: s.Session.InFlight(), TenantReferenceID: s.Session.TenantReferenceID,
		Metadata: s.Session.Options.Metadata.JSON(), Attempts: make([]attemptBody, len(s.Attempts)),
	}
	if body.Transaction == nil {
		terms := s.Session.Terms
		body.Amount, body.Currency = payment.Given(terms.DueMinor().String()), payment.Given(terms.Currency)
	}
	for i, t := range s.Attempts {
		body.Attempts[i] = attemptBody{
			transactionBody: *transactionOf(t), AttemptNumber: t.Attempt.Number, InFlight: t.InFlight(),
			Amount: t.AmountMinor.String(), Currency: t.Currency, CreatedAt: instant(t.CreatedAt), ProcessedAt: instant(t.ProcessedAt),
			PaymentMethod: methodOf(t), ErrorDetails: errorDetailsOf(t.Decline),
		}
	}
	return body
}
