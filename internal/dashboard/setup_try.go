package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/banking"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

// trial is what came of a test.
type trial struct {
	IsGood bool
	Title  string
	// Text is what the other side said, or what went wrong.
	Text string
	// Sent is what it was sent.
	Sent string
}

// tryRecord answers POST …/{kind}/{id}/try/: a gateway is asked, a receiver is sent an event.
func (d *Dashboard) tryRecord(w http.ResponseWriter, r *http.Request) error {
	o, err := d.find(r)
	if err != nil {
		return err
	}
	var came trial
	switch o.kind.path {
	case "gateways":
		came, err = d.tryGateway(r, o)
	case "webhook-profiles":
		came, err = d.tryProfile(r, o)
	default:
		return web.ErrNotFound
	}
	if err != nil {
		return err
	}
	shown, err := d.formOf(r, o)
	if err != nil {
		return err
	}
	return d.record(w, r, http.StatusOK, o, recordPage{Form: shown, Tried: &came})
}

// note keeps in the audit trail that something was tried.
func (d *Dashboard) note(r *http.Request, o one, action string, came trial) error {
	return d.Store.Note(r.Context(), store.Deed{
		Action: action, ObjectType: strings.ReplaceAll(o.kind.one, " ", "_"), ObjectID: o.id.String(), TenantID: o.of.Tenant.ID,
		After: map[string]any{"ok": came.IsGood, "answer": came.Title},
	})
}

// tryGateway asks a gateway for a payment that never was: whoever answers is there and
// takes our credentials. Nothing is collected.
func (d *Dashboard) tryGateway(r *http.Request, o one) (came trial, err error) {
	bank, err := d.Banking.AccountOf(r.Context(), o.of.Tenant.ID, o.id)
	switch {
	case err == nil:
		if err := d.Banking.Test(r.Context(), bank); err != nil {
			return noConnection(err), nil
		}
		return trial{IsGood: true, Title: "The bank's place takes and gives files."}, nil
	case !errors.Is(err, banking.ErrNoBank):
		return came, err
	}
	if came, err = d.askGateway(r, o); err != nil {
		came = noConnection(err)
	}
	return came, d.note(r, o, "gateway.test", came)
}

func noConnection(err error) trial {
	return trial{Title: "The connection does not work.", Text: err.Error()}
}

func (d *Dashboard) askGateway(r *http.Request, o one) (trial, error) {
	client, _, err := d.Checkout.Account(o.of, o.id)
	if err != nil {
		return trial{}, err
	}
	if !client.CanReadStatus() {
		return trial{IsGood: true, Title: "The settings are complete.", Text: "This gateway cannot be asked without a payment."}, nil
	}
	began := d.Guard.Clock.Now()
	never := payment.NewMerchantTransactionID(d.Checkout.Clock.Now())
	outcome, err := client.Status(r.Context(), gateway.Lookup{MerchantTransactionID: never, At: d.Checkout.Clock.Now()})
	if err != nil {
		return trial{}, err
	}
	return trial{
		IsGood: outcome.Verdict == payment.VerdictLost, Title: "The gateway answers.",
		Text: fmt.Sprintf("Asked for a payment that never was, it said so (%s) after %d ms.", outcome.Verdict, d.Guard.Clock.Now().Sub(began)/time.Millisecond),
	}, nil
}

// tryProfile sends a receiver an event that reports nothing.
func (d *Dashboard) tryProfile(r *http.Request, o one) (came trial, err error) {
	tried := d.Webhooks.Try(r.Context(), o.of.WebhookProfiles[o.id])
	came = trial{IsGood: tried.IsDelivered(), Sent: tried.Payload, Text: tried.Answer}
	switch {
	case tried.Problem != "":
		came.Title, came.Text = "There was no answer.", tried.Problem
	case came.IsGood:
		came.Title = fmt.Sprintf("Delivered: answered %d after %d ms.", tried.StatusCode, tried.Took/time.Millisecond)
	default:
		came.Title = fmt.Sprintf("Not delivered: answered %d after %d ms, and only 2xx counts.", tried.StatusCode, tried.Took/time.Millisecond)
	}
	return came, d.note(r, o, "webhook_profile.test", came)
}

// rotateSecret answers POST …/webhook-profiles/{id}/rotate/ with the new secret. Only the one before signs too, so a form
// that is sent again, as by loading its answer anew, makes no third: the receiver would know neither.
func (d *Dashboard) rotateSecret(w http.ResponseWriter, r *http.Request) error {
	o, err := d.find(r)
	if err != nil {
		return err
	}
	if _, isProfile := o.of.WebhookProfiles[o.id]; !isProfile {
		return web.ErrNotFound
	}
	sent, err := readForm(w, r)
	if err == nil {
		err = d.People.RequireFresh(r.Context())
	}
	if err != nil {
		return err
	}
	made, _, err := d.Applier.Change(r.Context(), o.of.Tenant.ID, d.People.Clock.Now(), func(s *merchant.Setup) error {
		if _, found := s.WebhookProfiles[o.id]; !found {
			return o.kind.none
		}
		if err := checkVersion(sent, s.Versions[o.id]); err != nil {
			return err
		}
		setup.RotateSecret(s, o.id)
		return nil
	})
	if errors.Is(err, errOvertaken) {
		return d.refuseSecret(w, r)
	}
	if err != nil {
		return err
	}
	o.of = made
	shown, err := d.formOf(r, o)
	if err != nil {
		return err
	}
	return d.record(w, r, http.StatusOK, o, recordPage{Form: shown, Secret: made.WebhookProfiles[o.id].SigningSecret.Reveal()})
}

// refuseSecret shows a profile as it is by now.
func (d *Dashboard) refuseSecret(w http.ResponseWriter, r *http.Request) error {
	o, err := d.find(r)
	if err != nil {
		return err
	}
	shown, err := d.formOf(r, o)
	if err != nil {
		return err
	}
	shown.Problems = []string{"The profile was changed meanwhile, perhaps by this very form: no further secret was made. After another one the secret before the last does not sign any more."}
	return d.record(w, r, http.StatusConflict, o, recordPage{Form: shown})
}

// previewPage answers GET /dashboard/setup/pages/{hosted_page_id}/preview/ with a page as
// payers meet it, also as a form would save it: what was typed goes along in the query. A
// link from elsewhere shows what is saved: nobody else's words stand on a page of ours.
func (d *Dashboard) previewPage(w http.ResponseWriter, r *http.Request) error {
	return d.Preview.Show(w, r, func(of *merchant.Setup, id uuid.UUID) merchant.HostedPage {
		if !saysOwnSite(r) {
			return of.HostedPages[id]
		}
		return d.draft(of, id, r.URL.Query())
	})
}

// draft is a page as a form would save it; what cannot be saved changes nothing.
func (d *Dashboard) draft(of *merchant.Setup, id uuid.UUID, typed url.Values) merchant.HostedPage {
	kind, _ := kindAt("hosted-pages")
	if typed.Has("name") {
		draft := of.Clone()
		if d.putSent(draft, one{of: of, kind: kind, id: id}, typed) == nil {
			return draft.HostedPages[id]
		}
	}
	return of.HostedPages[id]
}
