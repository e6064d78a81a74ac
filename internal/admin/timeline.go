package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/timeline"
	"sepad/internal/web"
)

// timelineRoutes tell what happened to something.
func (a *Admin) timelineRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Pattern: "/admin/v1/sessions/{id}/timeline/", Handler: a.tell(a.Store.SessionOwner, payment.ErrSessionNotFound,
			func(id uuid.UUID) listing.Subject { return listing.Subject{SessionID: id} })},
		{Method: "GET", Pattern: "/admin/v1/transactions/{id}/timeline/", Handler: a.tell(a.Store.TransactionOwner, store.ErrNoTransaction,
			func(id uuid.UUID) listing.Subject { return listing.Subject{TransactionID: id} })},
		{Method: "GET", Pattern: "/admin/v1/subscriptions/{id}/timeline/", Handler: a.tell(a.Store.SubscriptionOwner, store.ErrNoSubscription,
			func(id uuid.UUID) listing.Subject { return listing.Subject{SubscriptionID: id} })},
		{Method: "GET", Pattern: "/admin/v1/chargebacks/{id}/timeline/", Handler: a.tell(a.Store.ChargebackOwner, store.ErrNoChargeback,
			func(id uuid.UUID) listing.Subject { return listing.Subject{ChargebackID: id} })},
		{Method: "GET", Pattern: "/admin/v1/leads/{id}/timeline/", Handler: a.tell(a.Store.LeadOwner, store.ErrNoLead,
			func(id uuid.UUID) listing.Subject { return listing.Subject{LeadID: id} })},
		{Method: "GET", Pattern: "/admin/v1/webhook-deliveries/{id}/timeline/", Handler: a.tell(a.Store.EventOwner, store.ErrNoEvent,
			func(id uuid.UUID) listing.Subject { return listing.Subject{EventID: id} })},
		{Method: "GET", Pattern: "/admin/v1/imports/{id}/timeline/", Handler: a.tell(a.Store.ImportOwner, store.ErrNoImport,
			func(id uuid.UUID) listing.Subject { return listing.Subject{ImportID: id} })},
		{Method: "GET", Pattern: "/admin/v1/mandates/{reference}/timeline/", Handler: a.mandateTimeline},
	}
}

type timelineBody struct {
	Entries []timelineEntryBody `json:"entries"`
}

type timelineEntryBody struct {
	At     string          `json:"at"`
	Kind   timeline.Kind   `json:"kind"`
	Text   string          `json:"text"`
	Actor  *string         `json:"actor"`
	Object objectBody      `json:"object"`
	Data   json.RawMessage `json:"data"`
}

type objectBody struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// tell answers what happened to the object of a path, once its owner is found.
func (a *Admin) tell(owner func(context.Context, uuid.UUID) (uuid.UUID, error), none error, of func(uuid.UUID) listing.Subject) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r, "id", none)
		if err != nil {
			return err
		}
		tenantID, err := owner(r.Context(), id)
		if err != nil {
			return err
		}
		entries, err := timeline.Read(r.Context(), a.Store, tenantID, of(id))
		return writeTimeline(w, r, entries, err)
	}
}

func (a *Admin) mandateTimeline(w http.ResponseWriter, r *http.Request) error {
	entries, err := timeline.ReadMandate(r.Context(), a.Store, r.PathValue("reference"))
	return writeTimeline(w, r, entries, err)
}

func writeTimeline(w http.ResponseWriter, r *http.Request, entries []timeline.Entry, err error) error {
	if err != nil {
		return err
	}
	body := timelineBody{Entries: make([]timelineEntryBody, len(entries))}
	for i, e := range entries {
		body.Entries[i] = timelineEntryBody{
			At: instantText(e.At), Kind: e.Kind, Text: e.Text, Actor: payment.Given(e.Actor), Object: objectBody{e.Object.Type, e.Object.ID}, Data: e.Data,
		}
		if e.Data == nil {
			body.Entries[i].Data = json.RawMessage("null")
		}
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}
