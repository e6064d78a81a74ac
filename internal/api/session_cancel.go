package api

import (
	"net/http"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/web"
)

// cancelledBody is the answer to a cancel (contract 2.10).
type cancelledBody struct {
	SessionToken *string               `json:"session_token"`
	Status       payment.SessionStatus `json:"status"`
}

// cancelSession answers POST /payment-sessions/{token}/cancel/ (contract 4.5).
func (a *API) cancelSession(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	ended, err := a.Checkout.Cancel(r.Context(), caller.TenantID, r.PathValue("token"))
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, cancelledBody{payment.Given(ended.Token), ended.Status})
	return nil
}
