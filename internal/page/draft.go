package page

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/limit"
	"sepad/internal/payment"
	"sepad/internal/vault"
	"sepad/internal/web"
)

// What was typed outlives a reload and a refusal. The browser keeps it for us,
// sealed with the service's own key, in a cookie of this one session: nothing
// in the browser names an account, nothing is written down here, and whoever
// else has the link sees none of it.
const (
	draftCookie = "sepad_draft"
	draftLife   = 30 * time.Minute
	// maxDraft is less than what browsers allow for a cookie.
	maxDraft = 3500
)

type draft struct {
	input
	Until time.Time
	// GaveStreet and GaveTown are the address that was sent with a payment: while
	// the lead lives there, the payer may still change it.
	GaveStreet, GaveTown string
}

func draftPurpose(s payment.Session) vault.Binding {
	return vault.Handed(s.TenantID, "draft "+s.ID.String())
}

// keepDraft hands what was typed to the browser.
func (p *Page) keepDraft(w http.ResponseWriter, s payment.Session, d draft) {
	d.Until = p.Real.Now().Add(draftLife)
	text, _ := json.Marshal(d) // texts can always be written
	sealed, err := p.Checkout.Vault.Seal(text, draftPurpose(s))
	if err != nil || len(sealed) > maxDraft {
		return // it is a courtesy
	}
	p.setDraft(w, s, sealed, int(draftLife.Seconds()))
}

func (p *Page) setDraft(w http.ResponseWriter, s payment.Session, sealed string, seconds int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // G124: it is Secure wherever the page is
		Name: p.draftName(), Value: sealed, Path: "/pay/" + s.Token + "/", MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(p.Checkout.PublicURL, "https:"),
	})
}

// draftName has browsers make sure that it came over https, wherever the page does.
func (p *Page) draftName() string {
	if strings.HasPrefix(p.Checkout.PublicURL, "https:") {
		return "__Secure-" + draftCookie
	}
	return draftCookie
}

// readDraft gives back what was typed, nil unless it is this session's and not old.
func (p *Page) readDraft(r *http.Request, s payment.Session) *draft {
	cookie, err := r.Cookie(p.draftName())
	if err != nil {
		return nil
	}
	text, err := p.Checkout.Vault.Open(cookie.Value, draftPurpose(s))
	var kept draft
	if err != nil || json.Unmarshal(text, &kept) != nil || !p.Real.Now().Before(kept.Until) {
		return nil
	}
	return &kept
}

// with is the draft with something else typed.
func (d *draft) with(in input) draft {
	if d == nil {
		return draft{input: in}
	}
	return draft{input: in, GaveStreet: d.GaveStreet, GaveTown: d.GaveTown}
}

// gaveAddress tells that the lead lives where this payer has said.
func (v visit) gaveAddress() bool {
	return v.draft != nil && v.draft.GaveStreet != "" && v.draft.GaveStreet == v.Lead.Address && v.draft.GaveTown == v.Lead.City
}

// dropDraft forgets what was typed, once it has served.
func (p *Page) dropDraft(w http.ResponseWriter, r *http.Request, s payment.Session) {
	if _, err := r.Cookie(p.draftName()); err == nil {
		p.setDraft(w, s, "", -1)
	}
}

// findPayable admits what the script asks about a session that can be paid, and
// bounds what it sends.
func (p *Page) findPayable(w http.ResponseWriter, r *http.Request, scope limit.Scope) (checkout.View, error) {
	if err := p.admit(r, scope); err != nil {
		return checkout.View{}, err
	}
	r.Body = http.MaxBytesReader(w, r.Body, web.MaxBody)
	view, err := p.Checkout.Retrieve(r.Context(), r.PathValue("token"))
	if err != nil {
		return checkout.View{}, err
	}
	return view, view.Session.CheckPayable(p.Checkout.Clock.Now())
}

// takeDraft answers POST /pay/{token}/draft/, by which the script keeps what is
// being typed.
func (p *Page) takeDraft(w http.ResponseWriter, r *http.Request) error {
	view, err := p.findPayable(w, r, limit.Page)
	if err != nil {
		return err
	}
	p.keepDraft(w, view.Session, p.readDraft(r, view.Session).with(readInput(r)))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
	return nil
}
