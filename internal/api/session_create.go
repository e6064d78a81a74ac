package api

import (
	"context"
	"errors"
	"net/http"

	"sepad/internal/checkout"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/web"
)

// createdBody is the answer to a create (contract 2.3).
type createdBody struct {
	SessionToken string                `json:"session_token"`
	Status       payment.SessionStatus `json:"status"`
	PaymentURL   string                `json:"payment_url"`
}

// createSession answers POST /payment-sessions/ (contract 4.1). Nearly every call
// is one exchange with the database: the key is recalled, and the session is made
// only if the key still holds, as it is for who has held back the body. Whatever does
// not end so well is confirmed first.
func (a *API) createSession(w http.ResponseWriter, r *http.Request) error {
	caller, recalled, err := a.creator(r)
	if err != nil {
		return err
	}
	object, err := a.readCreateBody(w, r, caller)
	if err != nil {
		return a.confirm(r, recalled, err)
	}
	created, err := a.create(r, object, caller, &caller)
	if err != nil && (recalled || errors.Is(err, store.ErrStale)) {
		created, err = a.createConfirmed(r, object, caller, err)
	}
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusCreated, createdBody{created.Token, payment.SessionPending, created.PaymentURL})
	return nil
}

// creator finds who calls. The answer to a repeated request comes without a
// change that could rest on the key, so that its key is always looked up.
func (a *API) creator(r *http.Request) (caller store.Credential, recalled bool, err error) {
	if r.Header.Get(web.IdempotencyHeader) == "" {
		if caller, recalled = a.recallKey(r); recalled {
			noteCaller(r.Context(), caller)
			return caller, true, nil
		}
	}
	caller, err = a.authenticate(r)
	return caller, false, err
}

func (a *API) readCreateBody(w http.ResponseWriter, r *http.Request, caller store.Credential) (*web.Object, error) {
	if err := a.throttle(r.Context(), limit.APIKeyCreate, caller.KeyID.String()); err != nil {
		return nil, err
	}
	if err := checkScope(caller, merchant.ScopePayments); err != nil {
		return nil, err
	}
	return web.DecodeObject(w, r)
}

// confirm gives a refusal to those only whose key is valid. It is asked also for a
// caller who broke off within the body, and can still read the answer.
func (a *API) confirm(r *http.Request, recalled bool, refusal error) error {
	if recalled {
		r = r.WithContext(context.WithoutCancel(r.Context()))
		if _, unknown := a.authenticate(r); unknown != nil {
			return unknown
		}
	}
	return refusal
}

// createConfirmed is for a create with a key of a while ago that came to nothing: what
// was refused by an old set-up is tried with the new one. A failure is none of
// that; after it nobody knows what was written, and nothing is tried again.
func (a *API) createConfirmed(r *http.Request, object *web.Object, known store.Credential, refusal error) (checkout.Created, error) {
	caller, unknown := a.authenticate(r)
	switch {
	case unknown != nil:
		return checkout.Created{}, unknown
	case errors.Is(refusal, store.ErrStale), caller != known && payment.KindOf(refusal) != 0:
		return a.create(r, object, caller, nil)
	default:
		return checkout.Created{}, refusal
	}
}

// create makes the session. It rests on a key that was not looked up just now.
func (a *API) create(r *http.Request, object *web.Object, caller store.Credential, restsOn *store.Credential) (checkout.Created, error) {
	setup, err := a.Store.Setup(r.Context(), caller.TenantID, caller.SetupVersion)
	if err != nil {
		return checkout.Created{}, err
	}
	bad := payment.Fields{}
	request := readCreate(web.NewReader(object, bad))
	a.readOptions(&request, web.NewReader(object, bad), bad)
	request.Key = web.ReadRequestKey(r, caller.TenantID, object.Source(), a.Checkout.Clock.Now(), bad)
	request.RestsOn = restsOn
	created, err := a.Checkout.Create(r.Context(), setup, request, bad)
	if err == nil && restsOn != nil {
		a.KeyUses.Note(caller.KeyID, a.Real.Now())
	}
	return created, err
}

// readCreate reads the body of contract 2.1.
func readCreate(in *web.Reader) checkout.CreateRequest {
	request := checkout.CreateRequest{
		HasCampaign: in.Has("campaign_id"),
		CampaignID:  in.UUID("campaign_id"),
		Lead:        readLead(in.Object("lead", web.Required)),

		AmountMinor: in.Amount("amount"),
		Currency:    payment.Given(in.Currency("currency")),
		BillingType: payment.Given(web.Enum(in, "billing_type", payment.BillingTypes)),
		Frequency:   payment.Given(web.Enum(in, "billing_frequency", payment.BillingFrequencies)),
		TrialUnit:   payment.Given(web.Enum(in, "trial_interval_unit", payment.TrialUnits)),
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
	lead := payment.Lead{
		FirstName:  in.Text("first_name", web.Required, web.MaxLength(255)),
		LastName:   in.Text("last_name", web.Required, web.MaxLength(255)),
		Email:      in.Email("email", web.Required),
		Country:    in.Country("country", web.Required),
		Address:    in.Text("address", web.MaxLength(500), web.JoinLines),
		City:       in.Text("city", web.MaxLength(255)),
		PostalCode: in.Text("postal_code", web.MaxLength(20)),
		Phone:      in.Text("phone", web.MaxLength(50)),
	}
	lead.Unsaid.Address, lead.Unsaid.City = !in.Has("address"), !in.Has("city")
	lead.Unsaid.PostalCode, lead.Unsaid.Phone = !in.Has("postal_code"), !in.Has("phone")
	return lead
}
