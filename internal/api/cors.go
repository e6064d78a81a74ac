package api

import (
	"net/http"

	"sepad/internal/web"
)

// Browsers may make four calls from a merchant's own page: retrieve, pay, verify and
// IBAN validation (contract 8.3). The token in path or header is the credential, and
// no cookie is, so that every site may ask: it learns nothing that its visitor does
// not know. All other calls are for servers, whose keys must not be in a browser.

// maxPreflightAge is how many seconds a browser remembers that it may call.
const maxPreflightAge = "7200"

// forBrowsers answers calls that come from pages of other sites.
func forBrowsers(next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Header.Get("Origin") != "" {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Access-Control-Expose-Headers", "Retry-After, X-Request-Id")
		}
		return next(w, r)
	}
}

// preflight says which call may be made, before a browser makes it.
func preflight(allow, method string) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		header := w.Header()
		header.Set("Allow", allow)
		if r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != "" {
			header.Set("Access-Control-Allow-Origin", "*")
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
func browserRoutes(routes ...web.Route) (all []web.Route) {
	for _, route := range routes {
		allow := "OPTIONS, " + route.Method
		if route.Method == http.MethodGet {
			allow = "GET, HEAD, OPTIONS"
		}
		route.Handler = forBrowsers(route.Handler)
		all = append(all, route, web.Route{Method: http.MethodOptions, Pattern: route.Pattern, Handler: preflight(allow, route.Method)})
	}
	return all
}
