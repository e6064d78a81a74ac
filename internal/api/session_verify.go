package api

import (
	"net/http"

	"sepad/internal/payment"
	"sepad/internal/web"
)

const maxVerificationID = 255

// verifySession answers POST /payment-sessions/{token}/verify/ (contract 4.4).
func (a *API) verifySession(w http.ResponseWriter, r *http.Request) error {
	object, err := web.DecodeOptionalObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	reference := web.NewReader(object, bad).Text("verification_id", web.MaxLength(maxVerificationID))
	if err := bad.Err(); err != nil {
		return err
	}
	result, err := a.Checkout.Verify(r.Context(), r.PathValue("token"), reference)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, resultOf(result))
	return nil
}
