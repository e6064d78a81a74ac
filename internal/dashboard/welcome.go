package dashboard

import (
	"errors"
	"net/http"
	"net/url"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/web"
)

// welcomeView is where somebody who has a link sets password and second factor.
type welcomeView struct {
	people.Welcome
	Ticket string
	// Code is the picture that an authenticator app reads.
	Code    qrCode
	Problem string
	// TakesPasskeys tells that browsers let passkeys be used here, ByPasskey that one was chosen.
	TakesPasskeys, ByPasskey bool
}

// showWelcome answers GET /dashboard/welcome/?ticket=…. A developer's link signs in at
// once; any other is used up only by the form, for mail programs open links too.
func (d *Dashboard) showWelcome(w http.ResponseWriter, r *http.Request) error {
	ticket := r.URL.Query().Get("ticket")
	welcome, err := d.People.Open(r.Context(), merchant.Secret(ticket))
	if err != nil {
		return err
	}
	if welcome.SignsIn {
		cookie, err := d.People.SignInByLink(r.Context(), merchant.Secret(ticket), web.ClientText(r.Context()))
		if err != nil {
			return err
		}
		if err := d.letIn(w, r, cookie); err != nil {
			return err
		}
		seeOther(w, "/dashboard/")
		return nil
	}
	return d.welcome(w, r, http.StatusOK, welcomeView{Welcome: welcome, Ticket: ticket})
}

func (d *Dashboard) welcome(w http.ResponseWriter, r *http.Request, status int, shown welcomeView) (err error) {
	if shown.Code, err = newQRCode(shown.URL); err != nil {
		return err
	}
	_, shown.TakesPasskeys = d.passkeyHome(r)
	return d.render(w, r, status, "welcome", d.view(r, titles["welcome"], shown))
}

// accept answers POST /dashboard/welcome/.
func (d *Dashboard) accept(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	shown := welcomeView{Ticket: form.Get("ticket"), ByPasskey: form.Get("second") == "passkey"}
	if shown.Welcome, err = d.People.Open(r.Context(), merchant.Secret(shown.Ticket)); err != nil {
		return err
	}
	if form.Get("password") != form.Get("again") {
		shown.Problem = "The two passwords differ."
		return d.welcome(w, r, http.StatusBadRequest, shown)
	}
	cookie, err := d.acceptBy(r, shown, form)
	if refusal, ok := errors.AsType[*payment.Error](err); ok && refusal.Kind == payment.Invalid {
		shown.Problem = sentences(refusal.Fields)[0]
		return d.welcome(w, r, http.StatusBadRequest, shown)
	}
	if wait, ok := errors.AsType[*people.WaitError](err); ok {
		shown.Problem = wait.Error()
		return d.welcome(w, r, http.StatusTooManyRequests, shown)
	}
	if err != nil {
		return err
	}
	if err := d.letIn(w, r, cookie); err != nil {
		return err
	}
	seeOther(w, "/dashboard/")
	return nil
}

// acceptBy sets password and the second factor that was chosen.
func (d *Dashboard) acceptBy(r *http.Request, chosen welcomeView, form url.Values) (people.Cookie, error) {
	ticket, password, address := merchant.Secret(chosen.Ticket), merchant.Secret(form.Get("password")), web.ClientText(r.Context())
	if chosen.ByPasskey {
		return d.People.AcceptByPasskey(r.Context(), ticket, password, form.Get("asked"), form.Get("answer"), address)
	}
	return d.People.Accept(r.Context(), ticket, password, form.Get("code"), address)
}

// askWelcomePasskey answers POST /dashboard/welcome/passkey/question/ with what a device is asked.
func (d *Dashboard) askWelcomePasskey(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	question, err := d.People.AskWelcomePasskey(r.Context(), merchant.Secret(form.Get("ticket")))
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	web.WriteJSON(w, r, http.StatusOK, question)
	return nil
}
