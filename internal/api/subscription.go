package api

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/record"
	"sepad/internal/store"
	"sepad/internal/web"
)

// showSubscription answers GET /subscriptions/{id}/ (contract 4.9).
func (a *API) showSubscription(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	id, err := pathID(r, store.ErrNoSubscription)
	if err != nil {
		return err
	}
	found, err := a.Store.Tenant(caller.TenantID).Subscription(r.Context(), id)
	if err != nil {
		return err
	}
	web.WriteBody(w, http.StatusOK, record.AppendSubscription(nil, found))
	return nil
}

// cancelSubscription answers POST /subscriptions/{id}/cancel/ (contract 4.9).
func (a *API) cancelSubscription(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	var atPeriodEnd bool
	return a.steer(w, r, func(in *web.Reader) { atPeriodEnd = web.ReadCancelAt(in) },
		func(id uuid.UUID) (payment.Subscription, error) {
			if atPeriodEnd {
				return a.Billing.CancelAtPeriodEnd(r.Context(), caller.TenantID, id, payment.CancelledByMerchant)
			}
			return a.Billing.Cancel(r.Context(), caller.TenantID, id, payment.CancelledByMerchant)
		})
}

// pauseSubscription answers POST /subscriptions/{id}/pause/ (contract 4.9).
func (a *API) pauseSubscription(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	return a.steer(w, r, func(*web.Reader) {}, func(id uuid.UUID) (payment.Subscription, error) {
		return a.Billing.PauseSubscription(r.Context(), caller.TenantID, id)
	})
}

// resumeSubscription answers POST /subscriptions/{id}/resume/ (contract 4.9).
func (a *API) resumeSubscription(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	return a.steer(w, r, func(*web.Reader) {}, func(id uuid.UUID) (payment.Subscription, error) {
		return a.Billing.ResumeSubscription(r.Context(), caller.TenantID, id)
	})
}

// changeSubscription answers POST /subscriptions/{id}/change/ (contract 4.9).
func (a *API) changeSubscription(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	var to payment.NewTerms
	return a.steer(w, r, func(in *web.Reader) { to = web.ReadNewTerms(in) },
		func(id uuid.UUID) (payment.Subscription, error) {
			return a.Billing.ChangeTerms(r.Context(), caller.TenantID, id, to)
		})
}

// newMandate answers POST /subscriptions/{id}/new-mandate/ (contract 4.9).
func (a *API) newMandate(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	object, err := web.DecodeOptionalObject(w, r)
	if err != nil {
		return err
	}
	id, err := pathID(r, store.ErrNoSubscription)
	if err != nil {
		return err
	}
	bad, request := payment.Fields{}, checkout.CreateRequest{}
	a.readOptions(&request, web.NewReader(object, bad), bad)
	request.Key = web.ReadRequestKey(r, caller.TenantID, r.URL.Path+"\n"+object.Source(), a.Checkout.Clock.Now(), bad)
	if err := bad.Err(); err != nil {
		return err
	}
	created, err := a.Checkout.NewMandate(r.Context(), caller.TenantID, id, request)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusCreated, createdBody{created.Token, payment.SessionPending, created.PaymentURL})
	return nil
}

// steer reads what is asked of a subscription, does it, and answers with the
// subscription as it is then.
func (a *API) steer(w http.ResponseWriter, r *http.Request, read func(*web.Reader), do func(id uuid.UUID) (payment.Subscription, error)) error {
	object, err := web.DecodeOptionalObject(w, r)
	if err != nil {
		return err
	}
	id, err := pathID(r, store.ErrNoSubscription)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	read(web.NewReader(object, bad))
	if err := bad.Err(); err != nil {
		return err
	}
	steered, err := do(id)
	if err != nil {
		return err
	}
	web.WriteBody(w, http.StatusOK, record.AppendSubscription(nil, steered))
	return nil
}
