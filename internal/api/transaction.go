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

// showTransaction answers GET /transactions/{id}/ (contract 4.8).
func (a *API) showTransaction(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	id, err := pathID(r, store.ErrNoTransaction)
	if err != nil {
		return err
	}
	return a.writeTransaction(w, r, http.StatusOK, caller, id)
}

func (a *API) writeTransaction(w http.ResponseWriter, r *http.Request, status int, caller store.Credential, id uuid.UUID) error {
	found, err := a.Store.Tenant(caller.TenantID).Debit(r.Context(), id)
	if err != nil {
		return err
	}
	web.WriteBody(w, status, record.AppendDebit(nil, found))
	return nil
}

// refundTransaction answers POST /transactions/{id}/refunds/ (contract 4.8) with
// the refund's own transaction, whose status says what the gateway has made of it.
func (a *API) refundTransaction(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	object, err := web.DecodeOptionalObject(w, r)
	if err != nil {
		return err
	}
	id, err := pathID(r, store.ErrNoTransaction)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	amount := web.NewReader(object, bad).Amount("amount")
	key := web.ReadRequestKey(r, caller.TenantID, r.URL.Path+"\n"+object.Source(), a.Checkout.Clock.Now(), bad)
	if err := bad.Err(); err != nil {
		return err
	}
	refund, err := a.Checkout.Refund(r.Context(), caller.TenantID, id, checkout.RefundRequest{AmountMinor: amount}, key)
	if err != nil {
		return err
	}
	return a.writeTransaction(w, r, http.StatusCreated, caller, refund.ID)
}
