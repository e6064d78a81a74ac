package dashboard

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/webhook"
)

const resendManyPath = "/dashboard/events/resend/"

// eventView is an event with what it says.
type eventView struct {
	objectView
	Payload string
}

// showEvent answers GET /dashboard/events/{id}/.
func (d *Dashboard) showEvent(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, n, err := d.named(r, func(r *http.Request, id uuid.UUID) (uuid.UUID, error) { return d.Store.EventOwner(r.Context(), id) })
	if err != nil {
		return err
	}
	tenant := d.Store.Tenant(tenantID)
	e, err := listing.FindEvent(r.Context(), tenant, id)
	if err != nil {
		return err
	}
	shown := eventView{objectView: objectView{
		List: "events", ListTitle: "Events", Title: string(e.Kind), Status: status(e.Status),
		Facts: said([]fact{
			{"Created", when(e.CreatedAt)},
			{"For", optionalID(e.ProfileID, n)},
			{"Tries", text(strconv.Itoa(e.Tries))},
			{"Next try", when(e.NextAttemptAt)},
			{"Tenant", text(n.of(tenantID))},
			{"Id", text(id.String())},
		}),
		Related: []fact{{"About", cell{Text: "Payments", Href: "/dashboard/transactions/?q=" + e.About}}},
	}}
	if shown.Payload, err = listing.EventPayload(r.Context(), tenant, id); err != nil {
		return err
	}
	if shown.Timeline, err = d.told(r, tenantID, listing.Subject{EventID: id}); err != nil {
		return err
	}
	if e.ProfileID == nil {
		shown.Note = "No webhook profile wants this event: it is on record, and goes to nobody."
		return d.page(w, r, "event", shown.Title, shown)
	}
	shown.add(r, "/dashboard/events/{id}/resend/", action{
		Title: "Send again", Path: "/dashboard/events/" + id.String() + "/resend/", Button: "Send again",
		Sentence: "Sends the event to " + n.of(*e.ProfileID) + " again, with the same id: a receiver that knows it already does nothing.",
	})
	return d.page(w, r, "event", shown.Title, shown)
}

// resendEvent answers POST /dashboard/events/{id}/resend/.
func (d *Dashboard) resendEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if _, err := webhook.Resend(r.Context(), d.Store, id, d.Real.Now()); err != nil {
		return err
	}
	return d.redirect(w, r, "/dashboard/events/"+id.String()+"/", "The event is in line again.")
}

// resendEvents answers POST /dashboard/events/resend/: all that failed for a profile, of
// some days or of all.
func (d *Dashboard) resendEvents(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	profileID := readUUID("webhook_profile_id", form.Get("webhook_profile_id"), bad)
	from, before := readDay("from", form.Get("from"), bad), readDay("to", form.Get("to"), bad)
	if !before.IsZero() {
		before = before.AddDate(0, 0, 1)
	}
	after := readUUID("behind", form.Get("behind"), bad)
	owner, kind, found, err := d.Store.RecordOwner(r.Context(), profileID)
	if err != nil {
		return err
	}
	if !found || kind != "webhook_profile" {
		bad.Add("webhook_profile_id", "Choose a webhook profile.")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	resent, err := webhook.ResendFailed(r.Context(), d.Store, store.FailedEvents{
		Endpoint: store.Endpoint{TenantID: owner, ProfileID: profileID}, From: from, Before: before, After: after,
	}, d.Real.Now())
	if err != nil {
		return err
	}
	told := strconv.Itoa(resent.Count) + " events are in line again."
	if resent.After == nil {
		return d.redirect(w, r, "/dashboard/events/", told)
	}
	told += " " + strconv.Itoa(resent.Left) + " are left: send them again as well."
	return d.redirect(w, r, "/dashboard/events/?"+theRest(form, *resent.After), told)
}

// theRest has the form filled in for what one call has left.
func theRest(form url.Values, after uuid.UUID) string {
	again := url.Values{"status": {string(store.DeliveryFailed)}, "behind": {after.String()}}
	for _, name := range []string{"webhook_profile_id", "from", "to"} {
		if value := form.Get(name); value != "" {
			again.Set(name, value)
		}
	}
	return again.Encode()
}

// resendMany is the form that sends many events again.
func resendMany(q *listQuery) action {
	form := action{
		Title: "Send failed events again", Path: resendManyPath, Button: "Send them again", Sure: "Send all failed events of these days again?",
		Sentence: "Sends every event again that failed for a profile, in the order in which they happened. No day means all days.",
		Fields: []field{
			{Name: "webhook_profile_id", Label: "Webhook profile", Kind: "select", Options: profileFilter.Options(q), Value: q.Get("webhook_profile_id"), Required: true},
			{Name: "from", Label: "From", Kind: "date", Value: q.Get("from")},
			{Name: "to", Label: "To", Kind: "date", Value: q.Get("to")},
		},
	}
	if behind := q.Get("behind"); behind != "" {
		form.Fields = append(form.Fields, field{Name: "behind", Label: "Behind the event", Value: behind})
	}
	return form
}
