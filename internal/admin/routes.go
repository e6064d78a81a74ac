package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/limit"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

// Admin holds what the handlers share.
type Admin struct {
	// Token is the operator's credential; "" closes the API.
	Token    string
	Store    *store.Store
	Checkout *checkout.Checkout
	Billing  *billing.Billing
	Banking  *banking.Banking
	Applier  *setup.Applier
	Limiter  *limit.Limiter
	// PublicURL is where the service is reached, without a slash at its end.
	PublicURL string
	Real      clock.Clock
	// Movable is the sandbox's clock, nil in production: there is no such door.
	Movable *clock.Movable
	// Guests are routes of other packages that are for the operator alone.
	Guests []web.Route
}

// errInvalidToken is the answer to a token that is not the operator's.
var errInvalidToken = &web.StatusError{
	Status: http.StatusUnauthorized, Detail: "Invalid admin token", Header: map[string]string{"WWW-Authenticate": "Bearer"},
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

// guarded admits the operator only. Hashes are compared, so that neither the
// time nor the length of a wrong token tells anything.
func (a *Admin) guarded(next web.Handler) web.Handler {
	want := sha256.Sum256([]byte(a.Token))
	return func(w http.ResponseWriter, r *http.Request) error {
		credential := web.ReadCredential(r)
		if credential.Kind == web.NoCredential {
			return web.ErrNoCredential
		}
		got := sha256.Sum256([]byte(credential.Secret))
		if a.Token == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return a.refuse(r)
		}
		return next(w, r)
	}
}

// requestKey names a call that makes something, so that it can be repeated. One
// key does not serve two calls: the path belongs to what is asked for.
func (a *Admin) requestKey(r *http.Request, body string, bad payment.Fields) store.RequestKey {
	return web.ReadRequestKey(r, uuid.Nil, r.URL.Path+"\n"+body, a.Checkout.Clock.Now(), bad)
}

// refuse counts the failure, so that the token cannot be guessed.
func (a *Admin) refuse(r *http.Request) error {
	ctx := r.Context()
	if err := web.Throttle(ctx, a.Limiter, limit.AuthFailure, web.ClientKey(ctx), a.Real.Now()); err != nil {
		return err
	}
	return errInvalidToken
}
