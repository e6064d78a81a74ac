package admin

import (
	"net/http"
	"slices"
	"strings"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/privacy"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

// Admin holds what the handlers share.
type Admin struct {
	// Token is the credential of the first day and of scripts; "" is none.
	Token string
	// TokenHolder is how the trail names who brings it, "" for root.
	TokenHolder string
	People      *people.People
	Guard       web.TokenGuard
	Store       *store.Store
	Checkout    *checkout.Checkout
	Billing     *billing.Billing
	Banking     *banking.Banking
	Privacy     *privacy.Privacy
	Applier     *setup.Applier
	// PublicURL is where the service is reached, without a slash at its end.
	PublicURL string
	Real      clock.Clock
	// Movable is the sandbox's clock, nil in production: there is no such door.
	Movable *clock.Movable
	// Guests are routes of other packages that are for the operator alone.
	Guests []web.Route
}

// exportsPath begins what is written as it is read, for as long as its reader takes.
const exportsPath = "/admin/v1/exports/"

// Routes is the operator's API.
func (a *Admin) Routes() []web.Route {
	const profile = "/admin/v1/tenants/{tenant_id}/webhook-profiles/{id}/"
	routes := []web.Route{
		{Method: "GET", Pattern: "/admin/v1/adapters/", Handler: a.listAdapters},
		{Method: "GET", Pattern: "/admin/v1/tenants/{tenant_id}/gateways/{id}/settings/", Handler: a.showSettings},
		{Method: "GET", Pattern: "/admin/v1/webhook-deliveries/", Handler: a.listDeliveries},
		{Method: "GET", Pattern: "/admin/v1/webhook-deliveries/{id}/", Handler: a.showDelivery},
		{Method: "POST", Pattern: "/admin/v1/webhook-deliveries/{id}/resend/", Handler: a.resendDelivery},
		{Method: "POST", Pattern: "/admin/v1/webhook-deliveries/resend/", Handler: a.resendFailed},
		{Method: "POST", Pattern: profile + "rotate-secret/", Handler: a.rotateSecret},
	}
	routes = append(routes, a.tenantRoutes()...)
	routes = append(routes, a.apiKeyRoutes()...)
	routes = append(routes, a.recordRoutes()...)
	routes = append(routes, a.searchRoutes()...)
	routes = append(routes, a.timelineRoutes()...)
	routes = append(routes, a.moneyRoutes()...)
	routes = append(routes, a.subscriptionRoutes()...)
	routes = append(routes, a.pauseRoutes()...)
	routes = append(routes, a.bankRoutes()...)
	routes = append(routes, a.mailRoutes()...)
	routes = append(routes, a.privacyRoutes()...)
	routes = append(routes, a.peopleRoutes()...)
	routes = append(routes, a.Guests...)
	if a.Movable != nil {
		routes = append(routes, a.clockRoutes()...)
	}
	for i, route := range routes {
		read := web.InTurn(&a.People.Reads, people.Reader, route, readingOf(route))
		routes[i].Handler = a.guarded(people.RightTo(route.Method, route.Pattern), read)
	}
	return routes
}

// filePaths are where files are handed in.
var filePaths = []string{"/admin/v1/imports/", "/admin/v1/bank-statements/", "/admin/v1/bank-files/adopt/"}

func readingOf(route web.Route) web.Reading {
	switch {
	case strings.HasPrefix(route.Pattern, exportsPath):
		return web.GoingOn
	case route.Pattern == reconciliationsPath:
		return web.Comparing
	case route.Method == http.MethodPost && slices.Contains(filePaths, route.Pattern):
		return web.TakingIn
	default:
		return web.Looking
	}
}

// clockRoutes are those of the sandbox's time.
func (a *Admin) clockRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Pattern: "/admin/v1/clock/", Handler: a.showClock},
		{Method: "POST", Pattern: "/admin/v1/clock/", Handler: a.moveClock},
	}
}

// guarded admits whoever has the right to a route.
func (a *Admin) guarded(right people.Right, next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		who, err := a.admit(r, right)
		if err != nil {
			return err
		}
		admitted := r.WithContext(who.Enter(r.Context(), web.ClientText(r.Context())))
		return next(w, web.Vouched(admitted, a.Guard.Clock, func() error {
			still, err := a.admit(r, right)
			if err == nil && !still.MayAs(who) {
				err = store.ErrOperatorChanged
			}
			return err
		}))
	}
}

// admit finds who is asking, if they have a right.
func (a *Admin) admit(r *http.Request, right people.Right) (people.Principal, error) {
	who, err := a.identify(r)
	if err != nil {
		return who, err
	}
	web.NoteCaller(r.Context(), web.Caller{Actor: who.LogName()})
	if !right.Admits(who) {
		err = &web.StatusError{Status: http.StatusForbidden, Detail: right.Refusal(who)}
	}
	return who, err
}

// identify finds who is asking: whoever has the admin token, or a person's program.
func (a *Admin) identify(r *http.Request) (people.Principal, error) {
	who, known := people.Root(), web.Brings(r, a.Token)
	who.Name = a.TokenHolder
	if !known {
		if err := a.Guard.Hear(r); err != nil {
			return who, err
		}
		var err error
		if who, known, err = a.People.Bearer(r.Context(), web.ReadCredential(r).Secret); err != nil {
			return who, err
		}
	}
	return who, a.Guard.Judge(r, known)
}

// requestKey names a call that makes something, so that it can be repeated. One
// key does not serve two calls: the path belongs to what is asked for.
func (a *Admin) requestKey(r *http.Request, body string, bad payment.Fields) store.RequestKey {
	return web.ReadRequestKey(r, people.RequestScope(r.Context()), r.URL.Path+"\n"+body, a.Checkout.Clock.Now(), bad)
}
