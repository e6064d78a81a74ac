package app

import (
	"net/http"
	"slices"

	"sepad"
	"sepad/internal/dashboard"
	"sepad/internal/db"
	"sepad/internal/docsite"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/bankpage"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/merchant"
	"sepad/internal/page"
	"sepad/internal/web"
)

// newHandlers are everything that this process answers: what everybody may call,
// and what is for operators, at an address of their own where there is one.
func (a *App) newHandlers() (public, operator http.Handler) {
	pages, admin, calls := a.page(), a.admin(), a.api().Routes()
	admin.Guests = pages.OperatorRoutes()
	open := slices.Concat(a.openRoutes(), page.AssetRoutes(), a.attended(calls, web.TurnAway), a.attended(pages.Routes(), pages.Explain))
	closed := append(slices.Concat(admin.Routes(), a.dashboard(pages).Routes()), web.Route{Method: "GET", Pattern: "/metrics", Handler: a.showMetrics, Quiet: true})
	front := a.front()
	a.doorman = front.Doorman(calls, func() bool { return a.config.DatabaseTimeout != 0 && a.Store.IsFull(db.Paying) })
	wrap := func(routes []web.Route) http.Handler { return front.Wrap(web.NewMux(routes, a.tracing.Handler)) }
	if a.config.OperatorListen == "" {
		return wrap(append(open, closed...)), nil
	}
	return wrap(open), wrap(slices.Concat(a.healthRoutes(), page.AssetRoutes(), closed))
}

// attended are routes whose callers do not wait for ever: what the database cannot do for them in time is refused, at
// the door where that can be told there. Operators wait for as long as it takes, and where no timeout is set everybody does.
func (a *App) attended(routes []web.Route, refuse func(http.ResponseWriter, *http.Request, error) error) []web.Route {
	if a.config.DatabaseTimeout == 0 {
		return routes
	}
	for i, route := range routes {
		purpose, patience := db.Ordinary, a.config.DatabaseTimeout
		switch route.Work {
		case web.Brief:
		case web.Payment:
			purpose = db.Paying
		case web.List:
			purpose, patience = db.Listing, listPatience
		}
		routes[i].Handler = func(w http.ResponseWriter, r *http.Request) error {
			ctx := db.Attend(r.Context(), purpose, patience)
			if err := a.Store.Admit(ctx); err != nil {
				return refuse(w, r, err)
			}
			return route.Handler(w, r.WithContext(ctx))
		}
	}
	return routes
}

// front is what stands before all routes.
func (a *App) front() web.Front {
	return web.Front{
		Proxies: a.config.TrustedProxies, Logger: a.logger, Clock: a.world, Observe: a.metrics.ObserveRequest,
		HTTPSOnly: a.config.Environment == merchant.Production, Crowd: &web.Crowd{Logger: a.logger, Count: a.metrics.CountTurnedAway},
	}
}

func (a *App) healthRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Pattern: "/healthz", Handler: a.alive, Quiet: true},
		{Method: "GET", Pattern: "/readyz", Handler: a.ready, Quiet: true},
	}
}

// openRoutes are those of the process itself.
func (a *App) openRoutes() []web.Route {
	docs := web.Plain(docsite.Handler(docsite.Sources{OpenAPI: sepad.OpenAPI, AdminAPI: sepad.AdminAPI, Files: sepad.Documents, PublicURL: a.config.PublicURL}))
	routes := append(a.healthRoutes(),
		web.Route{Method: "GET", Pattern: "/openapi.yaml", Handler: docs},
		web.Route{Method: "GET", Pattern: "/openapi-admin.yaml", Handler: docs},
		web.Route{Method: "GET", Pattern: "/docs", Handler: docs},
		web.Route{Method: "GET", Pattern: "/docs/{rest...}", Handler: docs},
	)
	if a.Movable != nil {
		bank := web.Plain(bankpage.New(ledgerdb.New(a.Store.DB, a.config.Vault), a.Movable, a.logger))
		for _, method := range []string{"GET", "POST"} {
			routes = append(routes, web.Route{Method: method, Pattern: sandbox.BankPath + "{rest...}", Handler: bank})
		}
	}
	return routes
}

// showMetrics shows figures to who may see them: they tell how a business goes.
func (a *App) showMetrics(w http.ResponseWriter, r *http.Request) error {
	if !a.config.OpenMetrics {
		if err := a.guard.Admit(r, a.config.AdminToken, a.config.MetricsToken); err != nil {
			return err
		}
	}
	a.metrics.Handler().ServeHTTP(w, r)
	return nil
}

// dashboard is where operators work in the browser.
func (a *App) dashboard(pages *page.Page) *dashboard.Dashboard {
	return &dashboard.Dashboard{
		People: a.People, Store: a.Store, URL: a.config.OperatorURL, Environment: a.config.Environment, Guard: a.guard, Logger: a.logger,
		Applier: a.applier(), Checkout: a.Checkout, Billing: a.Billing, Banking: a.Banking, Webhooks: a.webhooks, Movable: a.Movable,
		Preview: dashboard.Preview{
			Show: pages.PreviewAs, Logo: pages.LogoAt, ColorWords: page.ColorWords, States: page.PreviewStates, Languages: page.Languages(),
		},
		Real: a.world,
	}
}

// page is what payers see.
func (a *App) page() *page.Page {
	return &page.Page{
		Checkout: a.Checkout, Store: a.Store, Limiter: a.limiter, Real: a.world, Logger: a.logger,
		Logos: page.NewLogos(a.config.WebhookAllowPrivate), Moulds: page.NewMoulds(),
	}
}

// Handler answers every request; it is what Serve serves.
func (a *App) Handler() http.Handler { return a.handler }

type healthBody struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

// readyBody says beside it what a person should look at.
type readyBody struct {
	healthBody
	Warning string `json:"warning,omitempty"`
}

// alive answers while the process lives.
func (a *App) alive(w http.ResponseWriter, r *http.Request) error {
	web.WriteJSON(w, r, http.StatusOK, healthBody{"ok", a.version})
	return nil
}

// ready answers once requests can be served. A clock that is wrong is told and
// takes nobody out of service: nothing that processes agree on rests on it.
func (a *App) ready(w http.ResponseWriter, r *http.Request) error {
	if a.leaving.Load() {
		return &web.StatusError{Status: http.StatusServiceUnavailable, Detail: "This process is about to end."}
	}
	ahead, err := a.readiness.prove(r.Context(), a.proveReady)
	if err != nil {
		a.logger.WarnContext(r.Context(), "not ready", "error", err)
		return &web.StatusError{Status: http.StatusServiceUnavailable, Detail: "The database cannot be used."}
	}
	body := readyBody{healthBody: healthBody{"ready", a.version}}
	if isWrong(ahead) {
		body.Warning = warning(ahead)
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}
