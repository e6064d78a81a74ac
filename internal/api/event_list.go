package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/web"
	"sepad/internal/webhook"
)

// eventPage is a part of the feed (contract 4.11).
type eventPage struct {
	Next    string      `json:"next"`
	HasMore bool        `json:"has_more"`
	Results []eventBody `json:"results"`
}

// eventBody is an event as its merchant reads it.
type eventBody struct {
	ID        uuid.UUID         `json:"id"`
	Type      payment.EventKind `json:"type"`
	CreatedAt *string           `json:"created_at"`
	Delivered bool              `json:"delivered"`
	// DeliveryStatus is null for an event that goes to nobody.
	DeliveryStatus *store.DeliveryStatus `json:"delivery_status"`
	Data           json.RawMessage       `json:"data"`
}

func (a *API) eventOf(ctx context.Context, e store.FeedEvent) eventBody {
	if e.Unreadable != nil {
		a.tellUnreadable(ctx, "event", e.ID, e.Unreadable)
	}
	body := eventBody{
		ID: e.ID, Type: e.Kind, CreatedAt: instant(e.CreatedAt), Delivered: e.GoesOut && e.Status == store.DeliveryDelivered,
		Data: json.RawMessage(e.Payload),
	}
	if e.GoesOut {
		body.DeliveryStatus = &e.Status
	}
	return body
}

const (
	usualEvents = 100
	maxEvents   = 1000
)

// listEvents answers GET /events/ (contract 4.11).
func (a *API) listEvents(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	query, bad := r.URL.Query(), payment.Fields{}
	limit := readEventCount(query, bad)
	after := openPlace(query, bad)
	which := readDelivered(query, bad)
	if err := bad.Err(); err != nil {
		return err
	}
	page, err := webhook.ReadFeed(r.Context(), a.Store, caller.TenantID, after, which, limit, a.Real.Now())
	if err != nil {
		return err
	}
	query.Set("cursor", sealPlace(page.Next))
	body := eventPage{
		Next: a.Checkout.PublicURL + r.URL.Path + "?" + query.Encode(), HasMore: page.More, Results: make([]eventBody, len(page.Events)),
	}
	for i, e := range page.Events {
		body.Results[i] = a.eventOf(r.Context(), e)
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}

// showEvent answers GET /events/{id}/ (contract 4.11).
func (a *API) showEvent(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	id, err := pathID(r, store.ErrNoEvent)
	if err != nil {
		return err
	}
	found, err := a.Store.Tenant(caller.TenantID).Event(r.Context(), id)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, a.eventOf(r.Context(), found))
	return nil
}

func readEventCount(query url.Values, bad payment.Fields) int {
	text := query.Get("page_size")
	if text == "" {
		return usualEvents
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 || count > maxEvents {
		bad.Add("page_size", "page_size must be a whole number from 1 to "+strconv.Itoa(maxEvents)+".")
	}
	return count
}

func readDelivered(query url.Values, bad payment.Fields) store.FeedFilter {
	switch query.Get("delivered") {
	case "":
		return store.FeedAll
	case "false":
		return store.FeedUndelivered
	case "true":
		return store.FeedDelivered
	default:
		bad.Add("delivered", "delivered must be true or false.")
		return store.FeedAll
	}
}

// A place in the feed as text. It opens nothing that the key does not open anyway, so
// that it need not be sealed; that nobody counts on its form is all that is wanted.

const placePrefix = "e1."

func sealPlace(place int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(placePrefix + strconv.FormatInt(place, 36)))
}

func openPlace(query url.Values, bad payment.Fields) int64 {
	text := query.Get("cursor")
	if text == "" {
		return 0
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && len(plain) > len(placePrefix) && string(plain[:len(placePrefix)]) == placePrefix {
		place, err := strconv.ParseInt(string(plain[len(placePrefix):]), 36, 64)
		if err == nil && place >= 0 {
			return place
		}
	}
	bad.Add("cursor", "cursor is not one of this feed. Follow next as it is.")
	return 0
}
