package api

import (
	"errors"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/gateway"
	"sepad/internal/limit"
	"sepad/internal/payment"
	"sepad/internal/web"
)

var (
	errForged     = &web.StatusError{Status: http.StatusUnauthorized, Detail: "Invalid signature"}
	errUnreadable = &payment.Error{Kind: payment.Invalid, Detail: "The notification cannot be read."}
)

// notifiedBody is the answer to a notification: a gateway that gets it need not
// send the same again. What was refused is in our log.
type notifiedBody struct {
	Taken   int `json:"taken"`
	Refused int `json:"refused"`
}

// receiveNotification answers POST /gateways/{gateway_id}/notifications/. There
// is no bearer: the adapter knows its gateway's signature. Whoever has just sent many
// that were none waits before anything is looked up; gateways send again.
func (a *API) receiveNotification(w http.ResponseWriter, r *http.Request) error {
	if wait := a.Limiter.Wait(r.Context(), limit.AuthFailure, web.ClientKey(r.Context()), a.Real.Now()); wait > 0 {
		return web.Throttled(wait)
	}
	id, err := uuid.Parse(r.PathValue("gateway_id"))
	if err != nil {
		return checkout.ErrNoGateway
	}
	body, err := web.ReadBody(w, r)
	if err != nil {
		return err
	}
	told, err := a.Checkout.Notify(r.Context(), id, gateway.Notification{Header: r.Header, Body: body})
	switch {
	case errors.Is(err, gateway.ErrForged):
		return a.refuse(r.Context(), errForged)
	case errors.Is(err, checkout.ErrNoGateway):
		return a.refuse(r.Context(), checkout.ErrNoGateway)
	case errors.Is(err, gateway.ErrUnreadable):
		return errUnreadable
	case err != nil:
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, notifiedBody{told.Taken, told.Refused})
	return nil
}
