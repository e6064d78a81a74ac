package api

import (
	"net/http"

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

// cancelSubscription answers POST /subscriptions/{id}/cancel/ (contract 4.9) with
// the subscription as it ended.
func (a *API) cancelSubscription(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	object, err := web.DecodeOptionalObject(w, r)
	if err != nil {
		return err
	}
	id, err := pathID(r, store.ErrNoSubscription)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	if at := web.NewReader(object, bad).Text("at"); at != "" && at != "now" {
		bad.Add("at", "at must be now: nothing is billed afterwards.")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	cancelled, err := a.Billing.Cancel(r.Context(), caller.TenantID, id, payment.CancelledByMerchant)
	if err != nil {
		return err
	}
	web.WriteBody(w, http.StatusOK, record.AppendSubscription(nil, cancelled))
	return nil
}
