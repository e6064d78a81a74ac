package dashboard

import (
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/web"
)

const (
	pausedPath = "/dashboard/setup/paused/"
	resumePath = pausedPath + "{id}/resume/"
)

// pausedView is the gateway accounts through which nothing is billed for now.
type pausedView struct {
	Accounts []pausedAccount
}

// pausedAccount is one of them, with what a person can do about it.
type pausedAccount struct {
	Gateway, Tenant, Setup, Why string
	Since, Until                time.Time
	NeedsPerson                 bool
	Actions                     []action
}

// showPaused answers GET /dashboard/setup/paused/.
func (d *Dashboard) showPaused(w http.ResponseWriter, r *http.Request) error {
	setups, err := d.setups(r.Context())
	if err != nil {
		return err
	}
	pauses, err := d.pauses(r)
	if err != nil {
		return err
	}
	var shown pausedView
	n := namesOf(setups)
	for _, p := range pauses {
		name := n.of(p.GatewayID)
		one := pausedAccount{
			Gateway: name, Tenant: n.of(p.TenantID), Setup: tenantsPath + p.TenantID.String() + "/gateways/" + p.GatewayID.String() + "/",
			Why: whyPaused(p), Since: p.Since, Until: p.Until, NeedsPerson: p.NeedsPerson(d.Checkout.Clock.Now()),
		}
		var on objectView
		on.add(r, resumePath, action{
			Title: "Resume", Path: pausedPath + p.GatewayID.String() + "/resume/", Button: "Resume", Sure: "Bill through " + name + " again?",
			Sentence: "Subscriptions of " + n.of(p.TenantID) + " that are due are billed through " + name + " again, at once. Mend what was wrong first: otherwise the bank refuses them again.",
		})
		one.Actions = on.Actions
		shown.Accounts = append(shown.Accounts, one)
	}
	return d.page(w, r, "paused", "Paused accounts", shown)
}

// pauses are those of the tenant that the address names, or of all.
func (d *Dashboard) pauses(r *http.Request) ([]payment.RebillPause, error) {
	bad := payment.Fields{}
	tenantID := readUUID("tenant_id", r.URL.Query().Get("tenant_id"), bad)
	if err := bad.Err(); err != nil {
		return nil, err
	}
	all, err := d.Store.RebillPauses(r.Context())
	return slices.DeleteFunc(all, func(p payment.RebillPause) bool { return tenantID != uuid.Nil && p.TenantID != tenantID }), err
}

// whyPaused says in a sentence why nothing is billed.
func whyPaused(p payment.RebillPause) string {
	if p.Reason == payment.PausedAway {
		return "The gateway cannot be reached. It is tried again by itself."
	}
	return "The bank refuses what we send as our own mistake, with the code " + p.Code + ". No customer is cancelled for it; a person has to mend the account."
}

// resumeAccount answers POST /dashboard/setup/paused/{id}/resume/.
func (d *Dashboard) resumeAccount(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	owner, kind, found, err := d.Store.RecordOwner(r.Context(), id)
	if err != nil {
		return err
	}
	if !found || kind != "gateway" {
		return web.ErrNotFound
	}
	if _, err := d.Billing.Resume(r.Context(), owner, id); err != nil {
		return err
	}
	return d.redirect(w, r, pausedPath, "What is due is billed through the account again.")
}
