package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/web"
)

// signInView is the form, as it was filled in, with what was wrong.
type signInView struct {
	Email, Next string
	Problem     string
	// ByProvider is where one signs in by the provider, "" without one.
	ByProvider string
}

func (d *Dashboard) signInView(email, next string) signInView {
	shown := signInView{Email: email, Next: next}
	if d.People.Provider != nil {
		shown.ByProvider = providerPath + "?next=" + url.QueryEscape(next)
	}
	return shown
}

// showSignIn answers GET /dashboard/sign-in/.
func (d *Dashboard) showSignIn(w http.ResponseWriter, r *http.Request) error {
	next := r.URL.Query().Get("next")
	if _, err := d.People.SignedIn(r.Context(), d.cookie(r)); err == nil {
		seeOther(w, nextPath(next))
		return nil
	}
	return d.page(w, r, "sign_in", "Sign in", d.signInView("", next))
}

// signIn answers POST /dashboard/sign-in/: the first step.
func (d *Dashboard) signIn(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	shown := d.signInView(form.Get("email"), form.Get("next"))
	// Whoever does not wait for the answer, or is turned away, has asked for as much work
	// and memory as whoever is wrong.
	if wait := d.judge(r, true); wait > 0 {
		return d.again(w, r, "sign_in", &people.WaitError{For: wait}, &shown.Problem, &shown)
	}
	cookie, err := d.People.SignIn(r.Context(), shown.Email, merchant.Secret(form.Get("password")), web.ClientText(r.Context()))
	if err != nil {
		return d.again(w, r, "sign_in", err, &shown.Problem, &shown)
	}
	d.forgive(r)
	if err := d.letIn(w, r, cookie); err != nil {
		return err
	}
	seeOther(w, codePath+"?next="+url.QueryEscape(shown.Next))
	return nil
}

// judge counts a wrong password or code of an address, whatever the name, and is how long
// the address has to wait.
func (d *Dashboard) judge(r *http.Request, isWrong bool) time.Duration {
	return d.Guard.Guesses.Judge(r.Context(), web.ClientKey(r.Context()), isWrong, d.Guard.Clock.Now())
}

// forgive takes back what was counted before it was known to be right.
func (d *Dashboard) forgive(r *http.Request) {
	d.Guard.Guesses.Forgive(r.Context(), web.ClientKey(r.Context()), d.Guard.Clock.Now())
}

// again shows a form once more with what was wrong; errors that are not the person's
// are passed on.
func (d *Dashboard) again(w http.ResponseWriter, r *http.Request, name string, err error, problem *string, data any) error {
	status := http.StatusBadRequest
	if wait, ok := errors.AsType[*people.WaitError](err); ok {
		seconds := int(wait.For/time.Second) + 1
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		status, *problem = http.StatusTooManyRequests, fmt.Sprintf("There were too many tries from here. Try again in %s.", waitText(seconds))
	} else if refused, ok := errors.AsType[*people.RefusedError](err); ok {
		status, *problem = http.StatusForbidden, refused.Sentence
	} else if refusal, ok := errors.AsType[*payment.Error](err); ok && refusal.Kind == payment.Invalid {
		for _, sentence := range refusal.Fields {
			*problem = sentence
		}
	} else {
		return err
	}
	return d.render(w, r, status, name, d.view(r, titles[name], data))
}

var titles = map[string]string{"sign_in": "Sign in", "code": "Second step", "welcome": "Welcome"}

func waitText(seconds int) string {
	const minute = 60
	switch {
	case seconds == 1:
		return "a second"
	case seconds < 2*minute:
		return fmt.Sprint(seconds, " seconds")
	default:
		return fmt.Sprint((seconds+minute-1)/minute, " minutes")
	}
}

// codeView is the second step.
type codeView struct {
	Next, Problem string
	// HasPasskeys tells that a passkey does instead of a code, HasApp that a code does.
	HasPasskeys, HasApp bool
}

// codeView is the second step of a browser. One that is at none is told so when it goes on.
func (d *Dashboard) codeView(r *http.Request, next string) (shown codeView, err error) {
	shown.Next = next
	if shown.HasPasskeys, shown.HasApp, err = d.People.SecondFactors(r.Context(), d.cookie(r)); errors.Is(err, store.ErrNoSignIn) {
		err = nil
	}
	return shown, err
}

// showCode answers GET /dashboard/sign-in/code/.
func (d *Dashboard) showCode(w http.ResponseWriter, r *http.Request) error {
	shown, err := d.codeView(r, r.URL.Query().Get("next"))
	if err != nil {
		return err
	}
	return d.page(w, r, "code", titles["code"], shown)
}

// confirm answers POST /dashboard/sign-in/code/.
func (d *Dashboard) confirm(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if wait := d.judge(r, false); wait > 0 {
		return d.confirmed(w, r, form.Get("next"), people.Cookie{}, &people.WaitError{For: wait})
	}
	cookie, err := d.People.Confirm(r.Context(), d.cookie(r), form.Get("code"), web.ClientText(r.Context()))
	return d.confirmed(w, r, form.Get("next"), cookie, err)
}

// confirmed goes on after the second step.
func (d *Dashboard) confirmed(w http.ResponseWriter, r *http.Request, next string, cookie people.Cookie, err error) error {
	if errors.Is(err, store.ErrNoSignIn) { // the password is too long ago
		seeOther(w, signInPath+"?next="+url.QueryEscape(next))
		return nil
	}
	if err != nil {
		d.judge(r, payment.KindOf(err) == payment.Invalid)
		shown, failed := d.codeView(r, next)
		if failed != nil {
			return failed
		}
		return d.again(w, r, "code", err, &shown.Problem, &shown)
	}
	d.setCookie(w, cookie.Text)
	seeOther(w, nextPath(next))
	return nil
}

// signOut answers POST /dashboard/sign-out/.
func (d *Dashboard) signOut(w http.ResponseWriter, r *http.Request) error {
	who, _ := people.Who(r.Context())
	if err := d.People.SignOut(r.Context(), *who.Operator, d.cookie(r)); err != nil {
		return err
	}
	d.setCookie(w, "")
	seeOther(w, signInPath)
	return nil
}

// signOutEverywhere answers POST /dashboard/sign-out-everywhere/.
func (d *Dashboard) signOutEverywhere(w http.ResponseWriter, r *http.Request) error {
	who, _ := people.Who(r.Context())
	if err := d.People.SignOutEverywhere(r.Context(), *who.Operator); err != nil {
		return err
	}
	d.setCookie(w, "")
	seeOther(w, signInPath)
	return nil
}
