package api

import (
	"net/http"
	"strings"

	"sepad/internal/payment"
	"sepad/internal/web"
)

// Browsers may make four calls from a merchant's own page: retrieve, pay, verify and
// IBAN validation (contract 8.3). The token in path or header is the credential, and
// no cookie is, so that every site may ask: it learns nothing that its visitor does
// not know. A tenant may say which sites are meant (allowed_origins), and then no other
// is answered. All other calls are for servers, whose keys must not be in a browser.

// maxPreflightAge is how many seconds a browser remembers that it may call.
const maxPreflightAge = "7200"

// errForeignOrigin is the answer for a page of a site that the tenant does not name.
var errForeignOrigin = &web.StatusError{Status: http.StatusForbidden, Detail: "Pages of this site may not call: it is not one of the merchant's allowed_origins."}

// forBrowsers answers calls that come from pages of other sites.
func (a *API) forBrowsers(next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Header.Get("Origin") == "" {
			return next(w, r)
		}
		allowed, err := a.allowedOrigin(r)
		if err != nil {
			return err
		}
		if allowed == "" {
			return errForeignOrigin
		}
		allowOrigin(w.Header(), allowed)
		w.Header().Set("Access-Control-Expose-Headers", "Retry-After, X-Request-Id")
		return next(w, r)
	}
}

// allowedOrigin is whose pages may read the answer: everybody's, those of the caller's
// own site where the tenant names it, or "" for none. Our own pages always may. Before
// an IBAN validation a browser does not say whose session it is for, so that everybody
// may ask and the call itself is judged.
func (a *API) allowedOrigin(r *http.Request) (string, error) {
	token := r.PathValue("token")
	if token == "" {
		token = web.ReadCredential(r).Secret
	}
	number, ok := payment.TokenTenant(token)
	if !ok {
		return "*", nil
	}
	origins, err := a.Store.AllowedOrigins(r.Context(), number)
	origin := r.Header.Get("Origin")
	switch {
	case err != nil || origins == "":
		return "*", err
	case origins.Admit(origin) || strings.Contains(origin, "://") && strings.HasPrefix(a.Checkout.PublicURL+"/", origin+"/"):
		return origin, nil
	default:
		return "", nil
	}
}

func allowOrigin(header http.Header, allowed string) {
	header.Set("Access-Control-Allow-Origin", allowed)
	if allowed != "*" {
		header.Add("Vary", "Origin")
	}
}

// preflight says which call may be made, before a browser makes it.
func (a *API) preflight(allow, method string) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		header := w.Header()
		header.Set("Allow", allow)
		asks := r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
		allowed := ""
		if asks {
			var err error
			if allowed, err = a.allowedOrigin(r); err != nil {
				return err
			}
		}
		if allowed != "" {
			allowOrigin(header, allowed)
			header.Set("Access-Control-Allow-Methods", method)
			header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
			header.Set("Access-Control-Max-Age", maxPreflightAge)
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// browserRoutes are the routes that a page of a merchant's may call, each with what is
// asked before it.
func (a *API) browserRoutes(routes ...web.Route) (all []web.Route) {
	for _, route := range routes {
		allow := "OPTIONS, " + route.Method
		if route.Method == http.MethodGet {
			allow = "GET, HEAD, OPTIONS"
		}
		route.Handler = a.forBrowsers(route.Handler)
		all = append(all, route, web.Route{Method: http.MethodOptions, Pattern: route.Pattern, Handler: a.preflight(allow, route.Method)})
	}
	return all
}
