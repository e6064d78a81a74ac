package dashboard

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"

	"sepad/internal/people"
	"sepad/internal/web"
)

// errandLife is how long somebody may be at the provider, in seconds.
const errandLife = 600

// errandCookie is where a browser keeps what it was sent to the provider with.
const errandCookie = "sepad-oidc"

// leadToProvider answers GET /dashboard/sign-in/oidc/.
func (d *Dashboard) leadToProvider(w http.ResponseWriter, r *http.Request) error {
	if d.People.Provider == nil {
		return web.ErrNotFound
	}
	next := nextPath(r.URL.Query().Get("next"))
	address, errand, err := d.People.Provider.Begin(next)
	if err != nil {
		return d.refuseProvider(w, r, next, err)
	}
	d.keepErrand(w, errand)
	seeOther(w, address)
	return nil
}

// comeFromProvider answers GET /dashboard/sign-in/oidc/callback/.
func (d *Dashboard) comeFromProvider(w http.ResponseWriter, r *http.Request) error {
	if d.People.Provider == nil {
		return web.ErrNotFound
	}
	errand := d.errand(r)
	d.keepErrand(w, people.Errand{}) // it is good for one answer
	next := errand.Next
	query := r.URL.Query()
	if query.Has("error") {
		return d.refuseProvider(w, r, next, refusedBy(query.Get("error")))
	}
	// What nobody here was sent for is no guess: a stranger's page may have browsers ask for it, and whoever sits at their address would wait.
	if err := errand.Expects(query.Get("state")); err != nil {
		return d.refuseProvider(w, r, next, err)
	}
	// Counted before the provider is asked: as many as one likes would come in while it takes its time.
	if wait := d.judge(r, true); wait > 0 {
		return d.refuseProvider(w, r, next, &people.WaitError{For: wait})
	}
	vouched, err := d.People.Provider.Finish(r.Context(), errand, query.Get("state"), query.Get("code"))
	if err == nil && vouched.Email != "" && !web.IsEmail(vouched.Email) {
		err = &people.RefusedError{Sentence: "What your provider tells is not an email address."}
	}
	if err != nil {
		return d.refuseProvider(w, r, next, err)
	}
	d.forgive(r)
	cookie, err := d.People.SignInByProvider(r.Context(), vouched, web.ClientText(r.Context()))
	if err != nil {
		return d.refuseProvider(w, r, next, err)
	}
	if err := d.letIn(w, r, cookie); err != nil {
		return err
	}
	seeOther(w, nextPath(next))
	return nil
}

// refuseProvider shows the way in again, with why the provider did not help.
func (d *Dashboard) refuseProvider(w http.ResponseWriter, r *http.Request, next string, err error) error {
	shown := d.signInView("", next)
	if away, ok := errors.AsType[*people.ProviderError](err); ok {
		d.Logger.WarnContext(r.Context(), "sign-in provider failed", "error", away)
		shown.Problem = "Your organisation's sign-in does not answer as it should. Try again in a moment; an administrator finds the reason in the log."
		return d.render(w, r, http.StatusBadGateway, "sign_in", d.view(r, titles["sign_in"], shown))
	}
	return d.again(w, r, "sign_in", err, &shown.Problem, &shown)
}

// errorName is how providers call a refusal.
var errorName = regexp.MustCompile(`^[a-z_]{1,40}$`)

// refusedBy is a provider's refusal. Its longer texts are not shown: whoever makes
// somebody follow a link could write them.
func refusedBy(name string) error {
	if !errorName.MatchString(name) {
		name = "for an unknown reason"
	}
	return &people.RefusedError{Sentence: "Your organisation's sign-in did not let you in (" + name + ")."}
}

// keepErrand gives it to the browser, an empty one to take it away.
func (d *Dashboard) keepErrand(w http.ResponseWriter, errand people.Errand) {
	cookie := &http.Cookie{
		Name: d.cookieName(errandCookie), Path: "/", HttpOnly: true, Secure: d.isSecure(), SameSite: http.SameSiteLaxMode, MaxAge: -1,
	}
	if text, err := json.Marshal(errand); err == nil && errand.State != "" {
		cookie.Value, cookie.MaxAge = base64.RawURLEncoding.EncodeToString(text), errandLife
	}
	http.SetCookie(w, cookie)
}

// errand is what the browser brings back; one that cannot be read is none.
func (d *Dashboard) errand(r *http.Request) (errand people.Errand) {
	text, err := base64.RawURLEncoding.DecodeString(d.brought(r, errandCookie))
	if cmp.Or(err, json.Unmarshal(text, &errand)) != nil {
		return people.Errand{}
	}
	return errand
}
