package api

import (
	"net/http"
	"strings"

	"sepad/internal/limit"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/web"
)

// validBody and invalidBody are the two answers of contract 2.10.
type validBody struct {
	Valid    bool    `json:"valid"`
	BankName *string `json:"bank_name"`
	BIC      *string `json:"bic"`
}

type invalidBody struct {
	Valid bool   `json:"valid"`
	Error string `json:"error"`
}

// missingIBAN is the one error body of the API without a status code (contract 4.6).
var missingIBAN = invalidBody{Error: "IBAN is required"}

// validateIBAN answers POST /iban-validate/ (contract 4.6).
func (a *API) validateIBAN(w http.ResponseWriter, r *http.Request) error {
	if err := a.admitIBANCaller(r); err != nil {
		return err
	}
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	in := web.NewReader(object, bad)
	text := in.Verbatim("iban")
	if err := bad.Err(); err != nil {
		return err
	}
	if strings.Trim(text, " ") == "" {
		web.WriteJSON(w, r, http.StatusBadRequest, missingIBAN)
		return nil
	}
	iban, err := sepa.ParseIBAN(text)
	if err != nil {
		web.WriteJSON(w, r, http.StatusOK, invalidBody{Error: err.Error()})
		return nil //nolint:nilerr // the fault of an IBAN is the answer
	}
	bank, _ := a.Banks(iban)
	web.WriteJSON(w, r, http.StatusOK, validBody{Valid: true, BankName: payment.Given(bank.Name), BIC: payment.Given(bank.BIC)})
	return nil
}

// admitIBANCaller takes an API key, counted by key, or the token of an active
// session, counted by address before it is looked up: tokens are easily made up.
func (a *API) admitIBANCaller(r *http.Request) error {
	credential := web.ReadCredential(r)
	if credential.Kind != web.SessionCredential {
		caller, err := a.authenticateBy(r, a.Store.TrustedCredential)
		if err != nil {
			return err
		}
		return a.throttle(r.Context(), limit.IBANValidate, caller.KeyID.String())
	}
	if err := a.throttle(r.Context(), limit.IBANValidate, web.ClientKey(r.Context())); err != nil {
		return err
	}
	found, err := a.Store.SessionByToken(r.Context(), credential.Secret)
	if payment.KindOf(err) == payment.NotFound || err == nil && !found.Session.Active(a.Checkout.Clock.Now()) {
		return a.refuse(r.Context(), web.ErrInvalidSession)
	}
	return err
}
