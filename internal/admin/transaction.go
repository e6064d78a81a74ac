package admin

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/record"
	"sepad/internal/store"
	"sepad/internal/web"
)

// moneyRoutes are those around money that came in and went back.
func (a *Admin) moneyRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Pattern: "/admin/v1/transactions/{id}/", Handler: a.showTransaction},
		{Method: "POST", Pattern: "/admin/v1/transactions/{id}/refunds/", Handler: a.refundTransaction},
		{Method: "POST", Pattern: "/admin/v1/chargebacks/", Handler: a.createChargeback},
		{Method: "GET", Pattern: "/admin/v1/chargebacks/{id}/", Handler: a.showChargeback},
		{Method: "POST", Pattern: "/admin/v1/imports/", Handler: a.createImport},
		{Method: "GET", Pattern: "/admin/v1/imports/", Handler: a.listImports},
		{Method: "GET", Pattern: "/admin/v1/imports/{id}/", Handler: a.showImport},
		{Method: "GET", Pattern: "/admin/v1/imports/{id}/rejected/", Handler: a.listRejected},
		{Method: "POST", Pattern: reconciliationsPath, Handler: a.reconcile},
		{Method: "GET", Pattern: exportsPath + "transactions/", Handler: a.export("transactions", recon.Transactions.Export)},
		{Method: "GET", Pattern: exportsPath + "chargebacks/", Handler: a.export("chargebacks", recon.Chargebacks.Export)},
		{Method: "GET", Pattern: exportsPath + "subscriptions/", Handler: a.export("subscriptions", recon.Subscriptions.Export)},
		{Method: "GET", Pattern: "/admin/v1/totals/", Handler: a.listTotals},
		{Method: "GET", Pattern: "/admin/v1/payouts/", Handler: a.listPayouts},
	}
}

// appendTransaction writes the record and whose it is as one object.
func appendTransaction(dst []byte, d payment.Debit) []byte {
	return appendTenant(record.AppendDebit(dst, d), d.Transaction.TenantID)
}

// showTransaction answers GET /transactions/{id}/.
func (a *Admin) showTransaction(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoTransaction)
	if err != nil {
		return err
	}
	tenantID, err := a.Store.TransactionOwner(r.Context(), id)
	if err != nil {
		return err
	}
	return a.writeTransaction(w, r, http.StatusOK, tenantID, id)
}

func (a *Admin) writeTransaction(w http.ResponseWriter, r *http.Request, status int, tenantID, id uuid.UUID) error {
	found, err := a.Store.Tenant(tenantID).Debit(r.Context(), id)
	if err != nil {
		return err
	}
	web.WriteBody(w, status, appendTransaction(nil, found))
	return nil
}

// refundTransaction answers POST /transactions/{id}/refunds/ with the refund's
// own transaction, whose status says what the gateway has made of it.
func (a *Admin) refundTransaction(w http.ResponseWriter, r *http.Request) error {
	object, err := web.DecodeOptionalObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	amount := web.NewReader(object, bad).Amount("amount")
	key := a.requestKey(r, object.Source(), bad)
	id, err := pathID(r, "id", store.ErrNoTransaction)
	if err != nil {
		return err
	}
	tenantID, err := a.Store.TransactionOwner(r.Context(), id)
	if err != nil {
		return err
	}
	if err := bad.Err(); err != nil {
		return err
	}
	refund, err := a.Checkout.Refund(r.Context(), tenantID, id, checkout.RefundRequest{AmountMinor: amount}, key)
	if err != nil {
		return err
	}
	return a.writeTransaction(w, r, http.StatusCreated, tenantID, refund.ID)
}
