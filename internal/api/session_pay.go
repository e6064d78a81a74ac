package api

import (
	"net/http"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/web"
)

// Lengths of what a payer hands in (contract 8.2).
const (
	maxHolderName      = 255
	maxTenantReference = 255
	maxIBANText        = 100
)

// paySession answers POST /payment-sessions/{token}/pay/ (contract 4.3).
func (a *API) paySession(w http.ResponseWriter, r *http.Request) error {
	in, err := a.readPayment(w, r)
	if err != nil {
		return err
	}
	result, err := a.Checkout.Pay(r.Context(), in)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, resultOf(result))
	return nil
}

func (a *API) readPayment(w http.ResponseWriter, r *http.Request) (checkout.Payment, error) {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return checkout.Payment{}, err
	}
	bad := payment.Fields{}
	in := web.NewReader(object, bad)
	iban := in.Text("iban", web.Required, web.MaxLength(maxIBANText))
	holder := in.Text("iban_holder_name", web.Required, web.MaxLength(maxHolderName))
	reference := in.Text("tenant_reference_id", web.NotBlank, web.MaxLength(maxTenantReference))
	var instrument payment.Instrument
	if iban != "" {
		instrument = a.Checkout.Instrument(iban, holder, bad)
	}
	return checkout.Payment{
		Token: r.PathValue("token"), Instrument: instrument, TenantReferenceID: payment.Given(reference),
		Source: payment.SourceAPI, ClientIP: web.ClientIP(r.Context()),
	}, bad.Err()
}
