package dashboard

import (
	"net"
	"net/http"
	"strings"

	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/web"
)

// passkeyView is a passkey in a list.
type passkeyView struct {
	store.Passkey
	IsSuspect bool
}

// addPasskeys shows somebody's passkeys, and where more can be added.
func (d *Dashboard) addPasskeys(r *http.Request, shown *accountView) error {
	who, _ := people.Who(r.Context())
	keys, err := d.Store.Passkeys(r.Context(), who.Operator.ID)
	for _, key := range keys {
		shown.Passkeys = append(shown.Passkeys, passkeyView{key, people.IsSuspect(key)})
	}
	shown.PasskeyHome, shown.IsPasskeyHome = d.passkeyHome(r)
	shown.HasApp = who.Operator.SealedTOTP != ""
	return err
}

// passkeyHome is where passkeys can be used, "" for nowhere, and tells whether that is here.
func (d *Dashboard) passkeyHome(r *http.Request) (home string, isHere bool) {
	home = d.People.PasskeyHome()
	host, _, _ := strings.Cut(r.Host, ":")
	return home, home != "" && net.ParseIP(host) == nil
}

// askNewPasskey answers POST /dashboard/account/passkeys/question/ with what a device is asked.
func (d *Dashboard) askNewPasskey(w http.ResponseWriter, r *http.Request) error {
	who, _ := people.Who(r.Context())
	question, err := d.People.AskNewPasskey(r.Context(), *who.Operator, d.cookie(r))
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	web.WriteJSON(w, r, http.StatusOK, question)
	return nil
}

// addPasskey answers POST /dashboard/account/passkeys/.
func (d *Dashboard) addPasskey(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	who, _ := people.Who(r.Context())
	if err := d.People.AddPasskey(r.Context(), *who.Operator, d.cookie(r), form.Get("name"), form.Get("answer")); err != nil {
		return err
	}
	return d.redirect(w, r, "/dashboard/account/", "The passkey is added.")
}

// removePasskey answers POST /dashboard/account/passkeys/{id}/remove/.
func (d *Dashboard) removePasskey(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	who, _ := people.Who(r.Context())
	if err := d.People.RemovePasskey(r.Context(), *who.Operator, id); err != nil {
		return err
	}
	return d.redirect(w, r, "/dashboard/account/", "The passkey is removed.")
}

// askPasskey answers POST /dashboard/sign-in/passkey/question/ with what a device is asked.
func (d *Dashboard) askPasskey(w http.ResponseWriter, r *http.Request) error {
	question, err := d.People.AskPasskey(r.Context(), d.cookie(r))
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	web.WriteJSON(w, r, http.StatusOK, question)
	return nil
}

// confirmByPasskey answers POST /dashboard/sign-in/passkey/: the second step.
func (d *Dashboard) confirmByPasskey(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	if wait := d.judge(r, false); wait > 0 {
		return d.confirmed(w, r, form.Get("next"), people.Cookie{}, &people.WaitError{For: wait})
	}
	cookie, err := d.People.ConfirmByPasskey(r.Context(), d.cookie(r), form.Get("answer"), web.ClientText(r.Context()))
	return d.confirmed(w, r, form.Get("next"), cookie, err)
}
