package dashboard

import (
	"log/slog"
	"slices"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/people"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
	"sepad/internal/webhook"
)

// Dashboard holds what the screens share.
type Dashboard struct {
	People *people.People
	Store  *store.Store
	// URL is where it is reached, without a slash at its end.
	URL         string
	Environment merchant.Environment
	// Guard counts wrong passwords by address, with other wrong credentials.
	Guard web.TokenGuard
	// Preview is how hosted pages are looked at.
	Preview Preview
	Logger  *slog.Logger
	// What changes a set-up, and what tries it.
	Applier  *setup.Applier
	Checkout *checkout.Checkout
	Billing  *billing.Billing
	Banking  *banking.Banking
	Webhooks *webhook.Deliverer
	// Movable is the sandbox's clock, nil in production.
	Movable *clock.Movable
	// Real is the world's clock, by which events are sent.
	Real clock.Clock
}

// screen is a route for whoever is signed in and has the right to it.
type screen struct {
	web.Route
	// Label is its name in the navigation, "" for none.
	Label string
}

// screens are all of them, those of the navigation in its order.
func (d *Dashboard) screens() []screen {
	return slices.Concat(d.listScreens(), d.bankScreens(), d.recordScreens(), d.officeScreens())
}

// listScreens are what happened at large: the overview, and lists.
func (d *Dashboard) listScreens() []screen {
	return []screen{
		{web.Route{Method: "GET", Pattern: "/dashboard/", Handler: d.showOverview}, "Overview"},
		{web.Route{Method: "GET", Pattern: "/dashboard/sessions/", Handler: show(d, d.sessionList())}, "Sessions"},
		{web.Route{Method: "GET", Pattern: "/dashboard/transactions/", Handler: show(d, d.transactionList())}, "Transactions"},
		{web.Route{Method: "GET", Pattern: "/dashboard/subscriptions/", Handler: show(d, d.subscriptionList())}, "Subscriptions"},
		{web.Route{Method: "GET", Pattern: "/dashboard/chargebacks/", Handler: show(d, d.chargebackList())}, "Chargebacks"},
		{web.Route{Method: "GET", Pattern: "/dashboard/leads/", Handler: show(d, d.leadList())}, "Leads"},
		{web.Route{Method: "GET", Pattern: "/dashboard/mandates/", Handler: show(d, d.mandateList())}, "Mandates"},
		{web.Route{Method: "GET", Pattern: "/dashboard/events/", Handler: show(d, d.eventList())}, "Events"},
		{web.Route{Method: "GET", Pattern: "/dashboard/imports/", Handler: show(d, d.importList())}, "Imports"},
	}
}

// bankScreens are files for banks, and what banks say.
func (d *Dashboard) bankScreens() []screen {
	return []screen{
		{web.Route{Method: "GET", Pattern: bankFilesPath, Handler: show(d, d.bankFileList())}, "Bank files"},
		{web.Route{Method: "GET", Pattern: bankFilesPath + "{id}/", Handler: d.showBankFile}, ""},
		{web.Route{Method: "GET", Pattern: bankContentPath, Handler: d.downloadBankFile, Work: web.List}, ""},
		{web.Route{Method: "GET", Pattern: bankStatementsPath, Handler: show(d, d.bankStatementList())}, ""},
		{web.Route{Method: "GET", Pattern: bankStatementsPath + "new/", Handler: d.showBankTakeIn}, ""},
		{web.Route{Method: "POST", Pattern: bankStatementsPath, Handler: d.takeBankFileIn}, ""},
		{web.Route{Method: "GET", Pattern: bankLinesPath, Handler: show(d, d.bankLineList())}, ""},
		{web.Route{Method: "GET", Pattern: bankLinesPath + "{id}/", Handler: d.showBankLine}, ""},
		{web.Route{Method: "POST", Pattern: assignPath, Handler: d.assignBankLine}, ""},
	}
}

// recordScreens are single records, and what is done to them.
func (d *Dashboard) recordScreens() []screen {
	return []screen{
		{web.Route{Method: "GET", Pattern: "/dashboard/sessions/{id}/", Handler: d.showSession}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/transactions/{id}/", Handler: d.showTransaction}, ""},
		{web.Route{Method: "POST", Pattern: refundPath, Handler: d.refund}, ""},
		{web.Route{Method: "POST", Pattern: chargebackPath, Handler: d.chargeBack}, ""},
		{web.Route{Method: "GET", Pattern: subscriptionPath, Handler: d.showSubscription}, ""},
		{web.Route{Method: "POST", Pattern: subscriptionPath + "cancel/", Handler: d.steer("The subscription is cancelled.", d.cancelSubscription)}, ""},
		{web.Route{Method: "POST", Pattern: subscriptionPath + "pause/", Handler: d.steer("The subscription is paused.", d.pauseSubscription)}, ""},
		{web.Route{Method: "POST", Pattern: subscriptionPath + "resume/", Handler: d.steer("The subscription goes on.", d.resumeSubscription)}, ""},
		{web.Route{Method: "POST", Pattern: subscriptionPath + "change/", Handler: d.steer("The subscription is changed.", d.changeSubscription)}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/chargebacks/{id}/", Handler: d.showChargeback}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/leads/{id}/", Handler: d.showLead}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/mandates/{reference}/", Handler: d.showMandate}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/events/{id}/", Handler: d.showEvent}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/events/{id}/resend/", Handler: d.resendEvent}, ""},
		{web.Route{Method: "POST", Pattern: resendManyPath, Handler: d.resendEvents}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/imports/{id}/", Handler: d.showImport}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/imports/matching/", Handler: d.showMatching}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/imports/matching/", Handler: d.match, Work: web.List}, ""},
	}
}

// officeScreens are what is set up, and people.
func (d *Dashboard) officeScreens() []screen {
	return []screen{
		{web.Route{Method: "GET", Pattern: "/dashboard/audit/", Handler: d.showAudit}, "Audit"},
		{web.Route{Method: "GET", Pattern: "/dashboard/setup/", Handler: d.showSetup}, "Setup"},
		{web.Route{Method: "GET", Pattern: "/dashboard/setup/pages/{hosted_page_id}/", Handler: d.showPreview}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/setup/pages/{hosted_page_id}/preview/", Handler: d.previewPage}, ""},
		{web.Route{Method: "GET", Pattern: pausedPath, Handler: d.showPaused}, ""},
		{web.Route{Method: "POST", Pattern: resumePath, Handler: d.resumeAccount}, ""},
		{web.Route{Method: "GET", Pattern: logoPath, Handler: d.showLogo}, ""},
		{web.Route{Method: "GET", Pattern: colorPath, Handler: d.showColor}, ""},
		{web.Route{Method: "POST", Pattern: setupPath, Handler: d.addTenant}, ""},
		{web.Route{Method: "GET", Pattern: tenantsPath + "{tenant_id}/", Handler: d.showTenant}, ""},
		{web.Route{Method: "POST", Pattern: tenantsPath + "{tenant_id}/", Handler: d.changeTenant}, ""},
		{web.Route{Method: "GET", Pattern: tenantsPath + "{tenant_id}/export/", Handler: d.exportSetup}, ""},
		{web.Route{Method: "POST", Pattern: tenantsPath + "{tenant_id}/api-keys/", Handler: d.makeKey}, ""},
		{web.Route{Method: "POST", Pattern: tenantsPath + "{tenant_id}/api-keys/{id}/revoke/", Handler: d.endKey}, ""},
		{web.Route{Method: "GET", Pattern: tenantsPath + "{tenant_id}/{kind}/new/", Handler: d.showRecord}, ""},
		{web.Route{Method: "POST", Pattern: tenantsPath + "{tenant_id}/{kind}/", Handler: d.saveRecord}, ""},
		{web.Route{Method: "GET", Pattern: tenantsPath + "{tenant_id}/{kind}/{id}/", Handler: d.showRecord}, ""},
		{web.Route{Method: "POST", Pattern: tenantsPath + "{tenant_id}/{kind}/{id}/", Handler: d.saveRecord}, ""},
		{web.Route{Method: "POST", Pattern: tenantsPath + "{tenant_id}/{kind}/{id}/off/", Handler: d.switchRecord(false)}, ""},
		{web.Route{Method: "POST", Pattern: tenantsPath + "{tenant_id}/{kind}/{id}/on/", Handler: d.switchRecord(true)}, ""},
		{web.Route{Method: "POST", Pattern: tenantsPath + "{tenant_id}/{kind}/{id}/try/", Handler: d.tryRecord}, ""},
		{web.Route{Method: "POST", Pattern: tenantsPath + "{tenant_id}/{kind}/{id}/rotate/", Handler: d.rotateSecret}, ""},
		{web.Route{Method: "GET", Pattern: importsPath + "new/", Handler: d.showTakeIn}, ""},
		{web.Route{Method: "POST", Pattern: importsPath, Handler: d.takeFileIn}, ""},
		{web.Route{Method: "GET", Pattern: sandboxPath, Handler: d.inSandbox(d.showSandbox)}, "Sandbox"},
		{web.Route{Method: "POST", Pattern: sandboxPath + "pay/", Handler: d.inSandbox(d.paySandbox)}, ""},
		{web.Route{Method: "POST", Pattern: sandboxPath + "clock/", Handler: d.inSandbox(d.moveClock)}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/people/", Handler: d.showPeople}, "People"},
		{web.Route{Method: "POST", Pattern: "/dashboard/people/", Handler: d.addPerson}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/people/{id}/role/", Handler: d.changePerson}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/people/{id}/reset/", Handler: d.resetPerson}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/people/{id}/remove/", Handler: d.removePerson}, ""},
		{web.Route{Method: "GET", Pattern: "/dashboard/account/", Handler: d.showAccount}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/account/tokens/", Handler: d.makeToken}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/account/tokens/{id}/revoke/", Handler: d.endToken}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/account/passkeys/", Handler: d.addPasskey}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/account/passkeys/question/", Handler: d.askNewPasskey}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/account/passkeys/{id}/remove/", Handler: d.removePasskey}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/sign-out/", Handler: d.signOut}, ""},
		{web.Route{Method: "POST", Pattern: "/dashboard/sign-out-everywhere/", Handler: d.signOutEverywhere}, ""},
	}
}

// doors are open to everybody: the ways in, and what pages are made of.
func (d *Dashboard) doors() []web.Route {
	return []web.Route{
		{Method: "GET", Pattern: signInPath, Handler: d.showSignIn},
		{Method: "POST", Pattern: signInPath, Handler: d.signIn},
		{Method: "GET", Pattern: codePath, Handler: d.showCode},
		{Method: "POST", Pattern: codePath, Handler: d.confirm},
		{Method: "POST", Pattern: "/dashboard/sign-in/passkey/", Handler: d.confirmByPasskey},
		{Method: "POST", Pattern: "/dashboard/sign-in/passkey/question/", Handler: d.askPasskey},
		{Method: "GET", Pattern: providerPath, Handler: d.leadToProvider},
		{Method: "GET", Pattern: people.ProviderPath, Handler: d.comeFromProvider},
		{Method: "GET", Pattern: "/dashboard/welcome/", Handler: d.showWelcome},
		{Method: "POST", Pattern: "/dashboard/welcome/", Handler: d.accept},
		{Method: "POST", Pattern: "/dashboard/welcome/passkey/question/", Handler: d.askWelcomePasskey},
		{Method: "GET", Pattern: "/dashboard/assets/{hash}/{file}", Handler: showAsset, Quiet: true},
	}
}

func readingOf(route web.Route) web.Reading {
	switch {
	case route.Method == "POST" && (route.Pattern == importsPath || route.Pattern == bankStatementsPath):
		return web.TakingIn
	case route.Work != web.List:
		return web.Looking
	case route.Method == "POST":
		return web.Comparing
	default:
		return web.GoingOn
	}
}

// Routes is the whole dashboard.
func (d *Dashboard) Routes() (routes []web.Route) {
	for _, s := range d.screens() {
		s.Handler = d.entered(people.RightTo(s.Method, s.Pattern), web.InTurn(&d.People.Reads, people.Reader, s.Route, readingOf(s.Route)))
		routes = append(routes, s.Route)
	}
	routes = append(routes, d.doors()...)
	for i, route := range routes {
		routes[i].Handler = d.answering(route.Method, route.Handler)
	}
	return routes
}
