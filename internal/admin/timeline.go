package admin

import (
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
		{Method: "GET", Pattern: "/admin/v1/sessions/{id}/timeline/", Handler: a.sessionTimeline},
		{Method: "GET", Pattern: "/admin/v1/transactions/{id}/timeline/", Handler: a.transactionTimeline},
		{Method: "GET", Pattern: "/admin/v1/subscriptions/{id}/timeline/", Handler: a.subscriptionTimeline},
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

func (a *Admin) sessionTimeline(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", payment.ErrSessionNotFound)
	if err != nil {
		return err
	}
	tenantID, err := a.Store.SessionOwner(r.Context(), id)
	return a.writeTimeline(w, r, tenantID, listing.Subject{SessionID: id}, err)
}

func (a *Admin) transactionTimeline(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoTransaction)
	if err != nil {
		return err
	}
	tenantID, err := a.Store.TransactionOwner(r.Context(), id)
	return a.writeTimeline(w, r, tenantID, listing.Subject{TransactionID: id}, err)
}

func (a *Admin) subscriptionTimeline(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, err := a.subscriptionNamed(r)
	return a.writeTimeline(w, r, tenantID, listing.Subject{SubscriptionID: id}, err)
}

// writeTimeline writes what happened to something whose owner was found, or why not.
func (a *Admin) writeTimeline(w http.ResponseWriter, r *http.Request, tenantID uuid.UUID, of listing.Subject, err error) error {
	if err != nil {
		return err
	}
	entries, err := timeline.Read(r.Context(), a.Store, tenantID, of)
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
