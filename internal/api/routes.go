package api

import (
	"sepad/internal/billing"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/recon"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/turn"
	"sepad/internal/web"
)

// API holds what the handlers share.
type API struct {
	Checkout    *checkout.Checkout
	Billing     *billing.Billing
	Store       *store.Store
	Banks       sepa.Banks
	Limiter     *limit.Limiter
	KeyUses     *KeyUses
	Environment merchant.Environment
	// Real is the world's time, by which limits count.
	Real clock.Clock

	strangers, lists turn.Turns[string]
}

// Routes is the whole merchant API, and the door for gateways.
func (a *API) Routes() []web.Route {
	browsers := a.browserRoutes(
		web.Route{Method: "GET", Pattern: "/api/v1/payment-sessions/{token}/", Handler: a.withToken(limit.BrowserRead, limit.APIKeyRead, a.retrieveSession)},
		web.Route{Method: "POST", Pattern: "/api/v1/payment-sessions/{token}/pay/", Work: web.Payment, Handler: a.withToken(limit.BrowserPay, limit.APIKeyPay, a.paySession)},
		web.Route{Method: "POST", Pattern: "/api/v1/payment-sessions/{token}/verify/", Work: web.Payment, Handler: a.withToken(limit.BrowserVerify, limit.APIKeyVerify, a.verifySession)},
		web.Route{Method: "POST", Pattern: "/api/v1/iban-validate/", Handler: a.validateIBAN},
	)
	return append(browsers, []web.Route{
		{Method: "POST", Pattern: "/api/v1/payment-sessions/", Handler: a.createSession},
		{Method: "GET", Pattern: "/api/v1/payment-sessions/", Work: web.List, Handler: a.withKeyInTurn(merchant.ScopePayments, limit.APIKeyManage, a.listSessions)},
		{Method: "POST", Pattern: "/api/v1/payment-sessions/{token}/cancel/", Handler: a.withKey(merchant.ScopePayments, limit.APIKeyCancel, a.cancelSession)},
		{Method: "GET", Pattern: "/api/v1/payment-sessions/{token}/result/", Handler: a.withKey(merchant.ScopePayments, limit.APIKeyManage, a.showResult)},
		{Method: "GET", Pattern: "/api/v1/transactions/{id}/", Handler: a.withKey(merchant.ScopeReports, limit.APIKeyManage, a.showTransaction)},
		{Method: "POST", Pattern: "/api/v1/transactions/{id}/refunds/", Work: web.Payment, Handler: a.withKey(merchant.ScopeRefunds, limit.APIKeyManage, a.refundTransaction)},
		{Method: "GET", Pattern: "/api/v1/subscriptions/{id}/", Handler: a.withKey(merchant.ScopeReports, limit.APIKeyManage, a.showSubscription)},
		{Method: "POST", Pattern: "/api/v1/subscriptions/{id}/cancel/", Handler: a.withKey(merchant.ScopeSubscriptions, limit.APIKeyManage, a.cancelSubscription)},
		{Method: "POST", Pattern: "/api/v1/subscriptions/{id}/pause/", Handler: a.withKey(merchant.ScopeSubscriptions, limit.APIKeyManage, a.pauseSubscription)},
		{Method: "POST", Pattern: "/api/v1/subscriptions/{id}/resume/", Handler: a.withKey(merchant.ScopeSubscriptions, limit.APIKeyManage, a.resumeSubscription)},
		{Method: "POST", Pattern: "/api/v1/subscriptions/{id}/change/", Handler: a.withKey(merchant.ScopeSubscriptions, limit.APIKeyManage, a.changeSubscription)},
		{Method: "POST", Pattern: "/api/v1/subscriptions/{id}/new-mandate/", Handler: a.withKey(merchant.ScopeSubscriptions, limit.APIKeyManage, a.newMandate)},
		{Method: "GET", Pattern: "/api/v1/mandates/{reference}/", Handler: a.withKey(merchant.ScopeReports, limit.APIKeyManage, a.showMandate)},
		{Method: "POST", Pattern: "/gateways/{gateway_id}/notifications/", Work: web.Payment, Handler: a.receiveNotification},
		{Method: "GET", Pattern: "/api/v1/reconciliation/transactions/", Work: web.List, Handler: a.withKeyInTurn(merchant.ScopeReports, limit.APIKeyReconciliation, listRecords(a, recon.Transactions))},
		{Method: "GET", Pattern: "/api/v1/reconciliation/chargebacks/", Work: web.List, Handler: a.withKeyInTurn(merchant.ScopeReports, limit.APIKeyReconciliation, listRecords(a, recon.Chargebacks))},
		{Method: "GET", Pattern: "/api/v1/reconciliation/subscriptions/", Work: web.List, Handler: a.withKeyInTurn(merchant.ScopeReports, limit.APIKeyReconciliation, listRecords(a, recon.Subscriptions))},
		{Method: "GET", Pattern: "/api/v1/events/", Work: web.List, Handler: a.withKeyInTurn(merchant.ScopeReports, limit.APIKeyEvents, a.listEvents)},
		{Method: "GET", Pattern: "/api/v1/events/{id}/", Handler: a.withKey(merchant.ScopeReports, limit.APIKeyEvents, a.showEvent)},
	}...)
}
