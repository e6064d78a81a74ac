// Package page is the hosted payment page: what a payer sees at a session's
// payment_url, from the form to the result.
//
//	GET  /pay/{token}/            the page, whatever the session's state (show.go)
//	POST /pay/{token}/            the form: pay, check with the bank, another language (submit.go)
//	GET  /pay/{token}/mandate/    the mandate to print or save (mandate_show.go)
//	POST /pay/{token}/bank/       the name of an IBAN's bank, while it is typed (lookup.go)
//	POST /pay/{token}/draft/      what is being typed, kept for a reload (draft.go)
//	GET  /pay/{token}/state/      whether there is something new to show (lookup.go)
//	GET  /pay/{token}/return/     from the bank on to the merchant's own address (return.go)
//	GET  /pay/{token}/logo/       the merchant's logo, fetched by us (logo.go)
//	GET  /pay/assets/{hash}/…     style and script, kept by browsers for good (assets.go)
//
// The page works without its script: every POST ends in a redirect to the GET,
// which shows what the database knows. Nothing of a result is carried in an
// address, so that reloading, going back, two tabs and a lost answer all show
// the same truth: the claim in checkout.Pay lets one payment through, and
// whoever comes second is shown how the first one stands. stage.go decides what
// is shown; mould.go has what the payers of an offer see alike made once; order.go, plan.go, form.go, mandate.go and result.go put it into words;
// texts_*.go hold the words, one file for each language.
//
// The token in the path is the only credential and no cookie stands for it, so
// that another site has nothing to ride on and forms need no token of their own.
// Merchants' contents reach the page as text, through html/template, never as
// markup; their colours come as a stylesheet made of two numbers (color.go).
package page

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/limit"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/web"
)

// Page serves the hosted payment page.
type Page struct {
	Checkout *checkout.Checkout
	Store    *store.Store
	Limiter  *limit.Limiter
	// Real is the world's time, which limits follow.
	Real   clock.Clock
	Logger *slog.Logger
	// Logos fetches merchants' logos.
	Logos *Logos
	// Moulds keep what the payers of an offer see alike.
	Moulds *Moulds
}

// Routes are the addresses of the page.
func (p *Page) Routes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Pattern: "/pay/{token}/", Handler: p.explained(p.show)},
		{Method: http.MethodPost, Pattern: "/pay/{token}/", Work: web.Payment, Handler: p.explained(p.submit)},
		{Method: http.MethodGet, Pattern: "/pay/{token}/{part}/", Handler: choose(map[string]web.Handler{
			"mandate": p.explained(p.showMandate), "return": p.explained(p.returnToShop), "state": p.showState, "logo": p.showLogo,
		})},
		{Method: http.MethodPost, Pattern: "/pay/{token}/{part}/", Handler: choose(map[string]web.Handler{
			"bank": p.lookUpBank, "draft": p.takeDraft,
		})},
	}
}

// AssetRoutes are what pages are made of, previews too.
func AssetRoutes() []web.Route {
	return []web.Route{{Method: http.MethodGet, Pattern: "/pay/assets/{hash}/{file}", Handler: showAsset}}
}

// choose finds the part of a session's page. They are not routes of their own:
// a preview's address, with its id in that place, could be told from neither.
func choose(parts map[string]web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if part, known := parts[r.PathValue("part")]; known {
			return part(w, r)
		}
		return web.ErrNotFound
	}
}

// explained answers refusals and failures with a page.
func (p *Page) explained(next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := next(w, r); err != nil {
			return p.Explain(w, r, err)
		}
		return nil
	}
}

// Explain answers a refusal or a failure with a page in the payer's language.
func (p *Page) Explain(w http.ResponseWriter, r *http.Request, err error) error {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return err
	}
	l := p.chooseLanguage(w, r, r.URL.Query().Get("lang"))
	if refusal, ok := errors.AsType[*web.StatusError](err); ok {
		for name, text := range refusal.Header {
			w.Header().Set(name, text)
		}
		return writePlain(w, r, refusal.Status, plainView(l, l.TooManyTitle, l.TooManyText, toneWait, true))
	}
	if payment.KindOf(err) == payment.NotFound {
		return writePlain(w, r, http.StatusNotFound, plainView(l, l.UnknownTitle, l.UnknownText, toneNeutral, false))
	}
	status := http.StatusInternalServerError
	if web.IsOverload(err) {
		status, _ = web.Describe(w, r, err)
	} else {
		p.Logger.ErrorContext(r.Context(), "the payment page failed", "error", err)
	}
	return writePlain(w, r, status, plainView(l, l.ErrorTitle, l.ErrorText, toneWait, true))
}

// visit is a session as one request finds it.
type visit struct {
	checkout.View
	*pageLanguage
	now time.Time
	// last is the latest attempt, nil before the first.
	last *payment.Debit
	// draft is what was typed, nil when nothing was kept.
	draft *draft
}

// find reads the session of a request with its latest attempt.
func (p *Page) find(r *http.Request, l *pageLanguage) (visit, error) {
	view, err := p.Checkout.Retrieve(r.Context(), r.PathValue("token"))
	if err != nil {
		return visit{}, err
	}
	if own := findLanguage(view.Session.Options.Language); own != nil && !hasChosen(r) {
		l = own
	}
	v := visit{View: view, pageLanguage: l, now: p.Checkout.Clock.Now(), draft: p.readDraft(r, view.Session)}
	if id := view.Session.LastTransactionID; id != nil {
		last, err := p.Store.Tenant(view.Session.TenantID).DebitOf(r.Context(), view.Session, *id)
		if err != nil {
			return visit{}, err
		}
		v.last = &last
	}
	return v, nil
}

// admit counts a request of a payer.
func (p *Page) admit(r *http.Request, scope limit.Scope) error {
	return web.Throttle(r.Context(), p.Limiter, scope, web.ClientKey(r.Context()), p.Real.Now())
}
