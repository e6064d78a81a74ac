package page

import (
	"errors"
	"net/http"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/limit"
	"sepad/internal/payment"
	"sepad/internal/web"
)

var errTooLarge = &web.StatusError{Status: http.StatusRequestEntityTooLarge, Detail: "The form is too large."}

// submit answers POST /pay/{token}/: the pay button, the question to the bank,
// and the two buttons that only change the form.
func (p *Page) submit(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, web.MaxBody)
	if err := r.ParseForm(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return errTooLarge
		}
		return &web.StatusError{Status: http.StatusBadRequest, Detail: "The form could not be read."}
	}
	switch {
	case r.PostForm.Has(fieldLanguage) || r.PostForm.Has(fieldTestIBAN):
		return p.changeForm(w, r)
	case r.PostFormValue(fieldAction) == "verify":
		return p.verify(w, r)
	case r.PostFormValue(fieldAction) == "check":
		return p.checkForm(w, r)
	default:
		return p.pay(w, r)
	}
}

// changeForm shows the form again with everything typed, in another language
// or with a test account.
func (p *Page) changeForm(w http.ResponseWriter, r *http.Request) error {
	if err := p.admit(r, limit.Page); err != nil {
		return err
	}
	choice := r.PostFormValue(fieldLanguage)
	if choice == "" {
		choice = r.PostFormValue(fieldShown)
	}
	v, err := p.find(r, p.chooseLanguage(w, r, choice))
	if err != nil {
		return err
	}
	if v.stage() != stagePay {
		return p.back(w, r, "")
	}
	in := readInput(r)
	if iban := r.PostFormValue(fieldTestIBAN); iban != "" {
		in.IBAN = iban
	}
	return p.showForm(w, r, http.StatusOK, v, v.formWith(in))
}

// checkForm looks the form through without paying: what the Enter key does
// where the button alone is the consent, in a browser without scripts.
func (p *Page) checkForm(w http.ResponseWriter, r *http.Request) error {
	if err := p.admit(r, limit.Page); err != nil {
		return err
	}
	v, err := p.find(r, p.chooseLanguage(w, r, r.PostFormValue(fieldShown)))
	if err != nil {
		return err
	}
	if v.stage() != stagePay {
		return p.back(w, r, "")
	}
	f := v.formWith(readInput(r))
	p.check(v, &f)
	f.Checked = len(f.Errors) == 0
	status := http.StatusOK
	if !f.Checked {
		status = http.StatusUnprocessableEntity
	}
	return p.showForm(w, r, status, v, f)
}

// pay takes the form. Whatever comes of it, the answer leads to the page that
// shows what the database knows, unless there is something to mend first.
func (p *Page) pay(w http.ResponseWriter, r *http.Request) error {
	// The words that the payer agreed to are those of the language in which
	// the form was shown, whatever was chosen in another tab meanwhile.
	l := findLanguage(r.PostFormValue(fieldShown))
	if l == nil {
		l = p.chooseLanguage(w, r, "")
	}
	wait, allowed := p.Limiter.Allow(r.Context(), limit.BrowserPay, web.ClientKey(r.Context()), p.Real.Now())
	if !allowed {
		return p.tooFast(w, r, l, wait)
	}
	v, err := p.find(r, l)
	if err != nil {
		return err
	}
	if v.stage() != stagePay || p.isStale(r, v) {
		return p.back(w, r, "")
	}
	f := v.formWith(readInput(r))
	instrument := p.check(v, &f)
	if len(f.Errors) > 0 {
		return p.showForm(w, r, http.StatusUnprocessableEntity, v, f)
	}
	if r.PostFormValue(fieldMandate) != f.MandateHash {
		f.Notice, f.Agreed = v.MandateChanged, false
		return p.showForm(w, r, http.StatusConflict, v, f)
	}
	// A refusal shows the form with the same account; the agreement is asked for
	// again.
	kept := v.draft.with(f.input)
	kept.Agreed = false
	if f.AsksAddress {
		kept.GaveStreet, kept.GaveTown = f.Street, f.Town
	}
	p.keepDraft(w, v.Session, kept)
	in := checkout.Payment{
		Token: v.Session.Token, Instrument: instrument, Source: payment.SourceHostedPage,
		ClientIP: web.ClientIP(r.Context()), Acceptance: v.accept(r, f.Mandate),
	}
	if f.AsksAddress {
		in.Address, in.City, in.CorrectsAddress = f.Street, f.Town, v.gaveAddress()
	}
	_, err = p.Checkout.Pay(r.Context(), in)
	return p.afterPay(w, r, l, f, err)
}

// isStale tells a form that was shown before another attempt was made: a double
// click, a second tab or a page gone back to.
func (p *Page) isStale(r *http.Request, v visit) bool {
	after := r.PostFormValue(fieldAfter)
	return after != "" && after != v.after()
}

// afterPay leads to the page. A payment that could not even be begun is said so
// where the session can still be paid; every other refusal is a state to show.
func (p *Page) afterPay(w http.ResponseWriter, r *http.Request, l *pageLanguage, f formView, err error) error {
	switch payment.KindOf(err) {
	case payment.Conflict:
		v, again := p.find(r, l)
		if again != nil {
			return again
		}
		if v.stage() == stagePay && v.after() == f.After {
			f.Notice = v.NotNow
			return p.showForm(w, r, http.StatusConflict, v, f)
		}
	case payment.Gone, payment.OutcomeUnknown:
	default:
		if err != nil {
			return err
		}
	}
	return p.back(w, r, "")
}

// tooFast answers a payment too many from one address. It waits as long as the
// limit asks for and looks once: after a double click the first payment is under
// way by then, and that is what the payer must see. To look is to load the page, of
// which an address has so many.
func (p *Page) tooFast(w http.ResponseWriter, r *http.Request, l *pageLanguage, wait time.Duration) error {
	if err := p.admit(r, limit.Page); err != nil {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return r.Context().Err()
	}
	v, err := p.find(r, l)
	if err != nil {
		return err
	}
	if v.stage() != stagePay || p.isStale(r, v) {
		return p.back(w, r, "")
	}
	f := v.formWith(readInput(r))
	f.Notice = v.TooFast
	w.Header().Set("Retry-After", "1")
	return p.showForm(w, r, http.StatusTooManyRequests, v, f)
}

// verify asks the bank whether the payer has confirmed. One who asks too often is shown
// how it stands, as often as the page is shown.
func (p *Page) verify(w http.ResponseWriter, r *http.Request) error {
	l := p.chooseLanguage(w, r, "")
	if err := p.admit(r, limit.BrowserVerify); err != nil {
		if err := p.admit(r, limit.Page); err != nil {
			return err
		}
		v, missing := p.find(r, l)
		if missing != nil {
			return missing
		}
		w.Header().Set("Retry-After", "1")
		return p.showStage(w, r, http.StatusTooManyRequests, v)
	}
	_, err := p.Checkout.Verify(r.Context(), r.PathValue("token"), "")
	switch payment.KindOf(err) {
	case payment.Conflict:
		return p.back(w, r, "?checked")
	case payment.Gone, payment.OutcomeUnknown:
		return p.back(w, r, "")
	}
	if err != nil {
		return err
	}
	return p.back(w, r, "")
}

// back leads to the page. The browser asks for it with GET, so that reloading
// sends nothing again.
func (p *Page) back(w http.ResponseWriter, r *http.Request, query string) error {
	w.Header().Set("Location", r.URL.EscapedPath()+query)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", referrer)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
