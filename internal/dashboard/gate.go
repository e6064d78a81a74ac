package dashboard

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"sepad/internal/merchant"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/web"
)

const (
	signInPath = "/dashboard/sign-in/"
	codePath   = "/dashboard/sign-in/code/"
	// providerPath leads to the OpenID provider.
	providerPath = "/dashboard/sign-in/oidc/"
)

// entered admits whoever is signed in and has the right to a screen; others are led to
// the way in, or told why not.
func (d *Dashboard) entered(right people.Right, next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		who, err := d.People.SignedIn(r.Context(), d.cookie(r))
		if errors.Is(err, store.ErrNoSignIn) {
			d.leadToSignIn(w, r)
			return nil
		}
		if err != nil {
			return err
		}
		web.NoteCaller(r.Context(), web.Caller{Actor: who.LogName()})
		r = d.vouched(r, who)
		r = r.WithContext(who.Enter(r.Context(), web.ClientText(r.Context())))
		if !right.Admits(who) {
			// The page that says so is the dashboard's own, with its navigation.
			return d.fail(w, r, &web.StatusError{Status: http.StatusForbidden, Detail: right.Refusal(who)})
		}
		if err := next(w, r); err != nil {
			return d.fail(w, r, err)
		}
		return nil
	}
}

// vouched has a form or file read only while whoever sends it may do as much as when it began.
func (d *Dashboard) vouched(r *http.Request, who people.Principal) *http.Request {
	ctx, cookie := r.Context(), d.cookie(r)
	return web.Vouched(r, d.Guard.Clock, func() error {
		still, err := d.People.SignedIn(ctx, cookie)
		if err == nil && !still.MayAs(who) {
			err = store.ErrOperatorChanged
		}
		return err
	})
}

// leadToSignIn answers with the way in, from where one comes back.
func (d *Dashboard) leadToSignIn(w http.ResponseWriter, r *http.Request) {
	target := signInPath
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		target += "?next=" + url.QueryEscape(r.URL.RequestURI())
	}
	seeOther(w, target)
}

// seeOther leads to another page, without its filters where they are too long to be repeated.
func seeOther(w http.ResponseWriter, target string) {
	if len(target) > web.LongestLead {
		target, _, _ = strings.Cut(target, "?")
	}
	w.Header().Set("Location", target)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}

// nextPath is where somebody goes who has signed in: a path of the dashboard, whatever
// the address says. One that is too long to be repeated is none.
func nextPath(text string) string {
	parsed, err := url.Parse(text)
	if err != nil || len(url.QueryEscape(text)) > web.LongestLead/2 || parsed.Scheme != "" || parsed.Host != "" || parsed.User != nil || strings.ContainsAny(text, "\\\r\n\t") ||
		!strings.HasPrefix(parsed.Path, "/dashboard/") || strings.Contains(parsed.Path, "..") || strings.HasPrefix(parsed.Path, signInPath) {
		return "/dashboard/"
	}
	return parsed.RequestURI()
}

// answering stands before every route: errors become pages, a form that comes from
// elsewhere is refused before anything is read of it, and so is an address that no
// database could take.
func (d *Dashboard) answering(method string, next web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if method == http.MethodPost && !d.isOwnOrigin(r) {
			return d.fail(w, r, &web.StatusError{Status: http.StatusForbidden, Detail: "This form was not sent from the dashboard itself."})
		}
		if !isPlain(r.URL.Path) || !isText(r.URL.Query()) {
			return d.fail(w, r, web.ErrNotFound)
		}
		if err := next(w, r); err != nil {
			return d.fail(w, r, err)
		}
		return nil
	}
}

// isOwnOrigin tells a form of ours from one on a stranger's page. Browsers say where a
// form comes from; what does not say is refused.
func (d *Dashboard) isOwnOrigin(r *http.Request) bool {
	if !saysOwnSite(r) {
		return false
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Host == "" {
		return false
	}
	if d.isSecure() && origin.Scheme != "https" {
		return false // whoever can change what comes over http speaks for no page of ours
	}
	own, err := url.Parse(d.URL)
	return origin.Host == r.Host || err == nil && origin.Scheme == own.Scheme && origin.Host == own.Host
}

// saysOwnSite tells that a browser does not say that a request comes from elsewhere; some say nothing.
func saysOwnSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin"
}

// isSecure tells that browsers reach the dashboard over https.
func (d *Dashboard) isSecure() bool { return strings.HasPrefix(d.URL, "https://") }

// cookieName binds a cookie to this host alone, where there is https.
func (d *Dashboard) cookieName(name string) string {
	if d.isSecure() {
		return "__Host-" + name
	}
	return name
}

const (
	// sessionCookie is who is signed in, doneCookie what was just done.
	sessionCookie = "sepad"
	doneCookie    = "sepad-done"
)

// cookie is what a browser brings, "" for nothing.
func (d *Dashboard) cookie(r *http.Request) merchant.Secret {
	return merchant.Secret(d.brought(r, sessionCookie))
}

func (d *Dashboard) brought(r *http.Request, name string) string {
	found, err := r.Cookie(d.cookieName(name))
	if err != nil {
		return ""
	}
	return found.Value
}

// letIn gives a browser that has signed in its cookie. The session that it had before ends: nobody could end it by hand any more.
func (d *Dashboard) letIn(w http.ResponseWriter, r *http.Request, cookie people.Cookie) error {
	if before := d.cookie(r); before != "" {
		if err := d.People.End(r.Context(), before); err != nil {
			return err
		}
	}
	d.setCookie(w, cookie.Text)
	return nil
}

// setCookie gives a browser a cookie that goes with it, "" to take it away.
func (d *Dashboard) setCookie(w http.ResponseWriter, text merchant.Secret) {
	d.give(w, sessionCookie, text.Reveal())
}

func (d *Dashboard) give(w http.ResponseWriter, name, value string) {
	cookie := &http.Cookie{
		Name: d.cookieName(name), Value: value, Path: "/", HttpOnly: true, Secure: d.isSecure(), SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// say has the next page tell what was done. It goes by a cookie and not by the address:
// an address can be made by anybody, and would have our page say anything.
func (d *Dashboard) say(w http.ResponseWriter, done string) {
	d.give(w, doneCookie, base64.RawURLEncoding.EncodeToString([]byte(done)))
}

// said is what the next page tells, this once.
func (d *Dashboard) said(w http.ResponseWriter, r *http.Request) string {
	text := d.brought(r, doneCookie)
	if text == "" {
		return ""
	}
	d.give(w, doneCookie, "")
	done, _ := base64.RawURLEncoding.DecodeString(text) // what is none says nothing
	return string(done)
}
