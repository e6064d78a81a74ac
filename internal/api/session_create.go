package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"unicode/utf8"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/web"
)

// maxIdempotencyKey bounds the header's length in characters.
const maxIdempotencyKey = 255

// createdBody is the answer to a create (contract 2.3).
type createdBody struct {
	SessionToken string                `json:"session_token"`
	Status       payment.SessionStatus `json:"status"`
	PaymentURL   string                `json:"payment_url"`
}

// createSession answers POST /payment-sessions/ (contract 4.1).
func (a *API) createSession(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	setup, err := a.Store.Setup(r.Context(), caller.TenantID, caller.SetupVersion)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	request := readCreate(web.NewReader(object, bad))
	readIdempotencyKey(r, object, &request, bad)
	created, err := a.Checkout.Create(r.Context(), setup, request, bad)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusCreated, createdBody{created.Token, payment.SessionPending, created.PaymentURL})
	return nil
}

// readCreate reads the body of contract 2.1.
func readCreate(in *web.Reader) checkout.CreateRequest {
	request := checkout.CreateRequest{
		HasCampaign: in.Has("campaign_id"),
		CampaignID:  in.UUID("campaign_id"),
		Lead:        readLead(in.Object("lead", web.Required)),

		AmountMinor: in.Amount("amount"),
		Currency:    given(in.Currency("currency")),
		BillingType: given(web.Enum(in, "billing_type", payment.BillingTypes)),
		Frequency:   given(web.Enum(in, "billing_frequency", payment.BillingFrequencies)),
		TrialUnit:   given(web.Enum(in, "trial_interval_unit", payment.TrialUnits)),
		TrialPeriod: in.Integer("trial_period", 1, payment.MaxTrialPeriod),
		TrialMinor:  in.Amount("trial_price", web.AllowZero),

		GatewayID:        in.UUID("gateway_id"),
		HostedPageID:     in.UUID("hosted_page_id"),
		WebhookProfileID: in.UUID("webhook_profile_id"),
		MaxAttempts:      in.Integer("max_payment_attempts", 1, payment.MaxPaymentAttempts),
	}
	if address := in.IP("customer_ip"); address.IsValid() {
		request.CustomerIP = address.String()
	}
	return request
}

// readLead reads the fields of contract 2.2.
func readLead(in *web.Reader) payment.Lead {
	return payment.Lead{
		FirstName:  in.Text("first_name", web.Required, web.MaxLength(255)),
		LastName:   in.Text("last_name", web.Required, web.MaxLength(255)),
		Email:      in.Email("email", web.Required),
		Country:    in.Country("country", web.Required),
		Address:    in.Text("address", web.MaxLength(500), web.JoinLines),
		City:       in.Text("city", web.MaxLength(255)),
		PostalCode: in.Text("postal_code", web.MaxLength(20)),
		Phone:      in.Text("phone", web.MaxLength(50)),
	}
}

// given is nil for a value that was absent or bad.
func given[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

// readIdempotencyKey binds the key, if there is one, to the bytes of the body.
func readIdempotencyKey(r *http.Request, object *web.Object, request *checkout.CreateRequest, bad payment.Fields) {
	const header = "Idempotency-Key"
	switch key := r.Header.Get(header); {
	case key == "":
	case !utf8.ValidString(key):
		bad.Add(header, header+" must be UTF-8.")
	case utf8.RuneCountInString(key) > maxIdempotencyKey:
		bad.Add(header, header+" may have at most 255 characters.")
	default:
		sum := sha256.Sum256([]byte(object.Source()))
		request.IdempotencyKey, request.RequestHash = key, hex.EncodeToString(sum[:])
	}
}
