package admin

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/privacy"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

// Admin holds what the handlers share.
type Admin struct {
	// Token is the operator's credential; "" closes the API.
	Token    string
	Guard    web.TokenGuard
	Store    *store.Store
	Checkout *checkout.Checkout
	Billing  *billing.Billing
	Banking  *banking.Banking
	Privacy  *privacy.Privacy
	Applier  *setup.Applier
	// PublicURL is where the service is reached, without a slash at its end.
	PublicURL string
	Real      clock.Clock
	// Movable is the sandbox's clock, nil in production: there is no such door.
	Movable *clock.Movable
	// Guests are routes of other packages that are for the operator alone.
	Guests []web.Route
}

// Routes is the operator's API.
func (a *Admin) Routes() []web.Route {
	const profile = "/admin/v1/tenants/{tenant_id}/webhook-profiles/{id}/"
	routes := []web.Route{
		{Method: "GET", Pattern: "/admin/v1/adapters/", Handler: a.guarded(a.listAdapters)},
		{Method: "GET", Pattern: "/admin/v1/tenants/{tenant_id}/gateways/{id}/settings/", Handler: a.guarded(a.showSettings)},
		{Method: "GET", Pattern: "/admin/v1/webhook-deliveries/", Handler: a.guarded(a.listDeliveries)},
		{Method: "GET", Pattern: "/admin/v1/webhook-deliveries/{id}/", Handler: a.guarded(a.showDelivery)},
		{Method: "POST", Pattern: "/admin/v1/webhook-deliveries/{id}/resend/", Handler: a.guarded(a.resendDelivery)},
		{Method: "POST", Pattern: "/admin/v1/webhook-deliveries/resend/", Handler: a.guarded(a.resendFailed)},
		{Method: "POST", Pattern: profile + "rotate-secret/", Handler: a.guarded(a.rotateSecret)},
	}
	routes = append(routes, a.tenantRoutes()...)
	routes = append(routes, a.apiKeyRoutes()...)
	routes = append(routes, a.recordRoutes()...)
	routes = append(routes, a.searchRoutes()...)
	routes = append(routes, a.moneyRoutes()...)
	routes = append(routes, a.subscriptionRoutes()...)
	routes = append(routes, a.pauseRoutes()...)
	routes = append(routes, a.bankRoutes()...)
	routes = append(routes, a.mailRoutes()...)
	routes = append(routes, a.privacyRoutes()...)
	for _, guest := range a.Guests {
		guest.Handler = a.guarded(guest.Handler)
		routes = append(routes, guest)
	}
	if a.Movable == nil {
		return routes
	}
	return append(routes,
		web.Route{Method: "GET", Pattern: "/admin/v1/clock/", Handler: a.guarded(a.showClock)},
		web.Route{Method: "POST", Pattern: "/admin/v1/clock/", Handler: a.guarded(a.moveClock)})
}

// guarded admits the operator only.
func (a *Admin) guarded(next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := a.Guard.Admit(r, a.Token); err != nil {
			return err
		}
		return next(w, r)
	}
}

// requestKey names a call that makes something, so that it can be repeated. One
// key does not serve two calls: the path belongs to what is asked for.
func (a *Admin) requestKey(r *http.Request, body string, bad payment.Fields) store.RequestKey {
	return web.ReadRequestKey(r, uuid.Nil, r.URL.Path+"\n"+body, a.Checkout.Clock.Now(), bad)
}
