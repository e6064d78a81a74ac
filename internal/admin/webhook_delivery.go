package admin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
	"sepad/internal/webhook"
)

// deliveryBody is an event's delivery. It is known by the event's id.
type deliveryBody struct {
	ID               uuid.UUID            `json:"id"`
	EventID          uuid.UUID            `json:"event_id"`
	Event            payment.EventKind    `json:"event"`
	TenantID         uuid.UUID            `json:"tenant_id"`
	WebhookProfileID uuid.UUID            `json:"webhook_profile_id"`
	URL              string               `json:"url"`
	Status           store.DeliveryStatus `json:"status"`
	CreatedAt        string               `json:"created_at"`
	NextAttemptAt    *string              `json:"next_attempt_at"`
	Attempts         []attemptBody        `json:"attempts"`
}

type attemptBody struct {
	Number     int     `json:"number"`
	Time       string  `json:"time"`
	DurationMS float64 `json:"duration_ms"`
	Status     *int    `json:"status"`
	Error      *string `json:"error"`
	Answer     string  `json:"answer"`
}

// listDeliveries answers GET /webhook-deliveries/.
func (a *Admin) listDeliveries(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	query, bad, page := q.parameters, q.bad, q.page
	tenantID := readID(query, "tenant_id", bad)
	filter := listing.DeliveryFilter{
		ProfileID: readID(query, "webhook_profile_id", bad), Status: readOneOf(query, "status", store.DeliveryStatuses, bad),
		Kind:        readOneOf(query, "event", payment.EventKinds, bad),
		CreatedFrom: readFrom(query.Get("from"), bad), CreatedBefore: readTo(query.Get("to"), bad),
	}
	if err := q.err(); err != nil {
		return err
	}
	records, err := a.deliveries(r.Context(), tenantID, filter, page.paging())
	if err != nil {
		return err
	}
	urls, err := a.addresses(r.Context(), records)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, pageOf(page, listing.Part[listing.DeliveryRecord]{Rows: records},
		func(d listing.DeliveryRecord) uuid.UUID { return d.EventID },
		func(d listing.DeliveryRecord) deliveryBody { return deliveryOf(d, urls[d.Endpoint]) }))
	return nil
}

// deliveries reads one tenant's rows where the tenant is known, be it from the
// profile.
func (a *Admin) deliveries(ctx context.Context, tenantID uuid.UUID, f listing.DeliveryFilter, page listing.Paging) ([]listing.DeliveryRecord, error) {
	if tenantID == uuid.Nil && f.ProfileID != uuid.Nil {
		owner, _, found, err := a.Store.RecordOwner(ctx, f.ProfileID)
		if err != nil || !found {
			return nil, err
		}
		tenantID = owner
	}
	if tenantID == uuid.Nil {
		return listing.AllDeliveries(ctx, a.Store, f, page)
	}
	return listing.Deliveries(ctx, a.Store.Tenant(tenantID), f, page)
}

// addresses are where the deliveries go now.
func (a *Admin) addresses(ctx context.Context, records []listing.DeliveryRecord) (map[store.Endpoint]string, error) {
	urls := map[store.Endpoint]string{}
	for _, record := range records {
		if _, known := urls[record.Endpoint]; known {
			continue
		}
		version, err := a.Store.SetupVersion(ctx, record.TenantID)
		if err != nil {
			return nil, err
		}
		setup, err := a.Store.Setup(ctx, record.TenantID, version)
		if err != nil {
			return nil, err
		}
		urls[record.Endpoint] = withoutPassword(setup.WebhookProfiles[record.ProfileID].URL)
	}
	return urls, nil
}

// withoutPassword masks a password in an address.
func withoutPassword(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.User == nil {
		return address
	}
	return parsed.Redacted()
}

func deliveryOf(d listing.DeliveryRecord, address string) deliveryBody {
	body := deliveryBody{
		ID: d.EventID, EventID: d.EventID, Event: d.Kind, TenantID: d.TenantID, WebhookProfileID: d.ProfileID,
		URL: address, Status: d.Status, CreatedAt: instantText(d.CreatedAt), Attempts: make([]attemptBody, len(d.Attempts)),
	}
	if !d.NextAttemptAt.IsZero() {
		body.NextAttemptAt = new(instantText(d.NextAttemptAt))
	}
	for i, attempt := range d.Attempts {
		body.Attempts[i] = attemptOf(attempt)
	}
	return body
}

func attemptOf(a store.Attempt) attemptBody {
	body := attemptBody{
		Number: a.Number, Time: instantText(a.At), DurationMS: float64(a.Took.Microseconds()) / 1000, Answer: a.Answer,
	}
	if a.StatusCode != 0 {
		body.Status = &a.StatusCode
	}
	if a.Error != "" {
		body.Error = &a.Error
	}
	return body
}

// showDelivery answers GET /webhook-deliveries/{id}/.
func (a *Admin) showDelivery(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", webhook.ErrNotFound)
	if err != nil {
		return err
	}
	record, err := webhook.Find(r.Context(), a.Store, id)
	if err != nil {
		return err
	}
	return a.writeDelivery(w, r, record)
}

// resendDelivery answers POST /webhook-deliveries/{id}/resend/.
func (a *Admin) resendDelivery(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", webhook.ErrNotFound)
	if err != nil {
		return err
	}
	record, err := webhook.Resend(r.Context(), a.Store, id, a.Real.Now())
	if err != nil {
		return err
	}
	return a.writeDelivery(w, r, record)
}

func (a *Admin) writeDelivery(w http.ResponseWriter, r *http.Request, record listing.DeliveryRecord) error {
	urls, err := a.addresses(r.Context(), []listing.DeliveryRecord{record})
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, deliveryOf(record, urls[record.Endpoint]))
	return nil
}

// resendFailed answers POST /webhook-deliveries/resend/.
func (a *Admin) resendFailed(w http.ResponseWriter, r *http.Request) error {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	in := web.NewReader(object, bad)
	profileID := in.UUID("webhook_profile_id", web.Required)
	failed := store.FailedEvents{From: readFrom(in.Text("from"), bad), Before: readTo(in.Text("to"), bad)}
	if after := in.UUID("after"); after != nil {
		failed.After = *after
	}
	if err := bad.Err(); err != nil {
		return err
	}
	if failed.Endpoint, err = a.endpoint(r.Context(), *profileID); err != nil {
		return err
	}
	resent, err := webhook.ResendFailed(r.Context(), a.Store, failed, a.Real.Now())
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, resent)
	return nil
}

// endpoint finds whose profile it is.
func (a *Admin) endpoint(ctx context.Context, profileID uuid.UUID) (store.Endpoint, error) {
	owner, kind, found, err := a.Store.RecordOwner(ctx, profileID)
	if err != nil {
		return store.Endpoint{}, err
	}
	if !found || kind != "webhook_profile" {
		return store.Endpoint{}, payment.Fields{"webhook_profile_id": "webhook_profile_id is not a webhook profile."}.Err()
	}
	return store.Endpoint{TenantID: owner, ProfileID: profileID}, nil
}

// pathID reads an id of the path; what is none leads nowhere.
func pathID(r *http.Request, name string, otherwise error) (uuid.UUID, error) {
	id, err := uuid.Parse(r.PathValue(name))
	if err != nil {
		return uuid.Nil, otherwise
	}
	return id, nil
}

func readID(query parameters, name string, bad payment.Fields) uuid.UUID {
	text := query.Get(name)
	if text == "" {
		return uuid.Nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		bad.Add(name, name+" must be a UUID.")
	}
	return id
}

func readOneOf[T ~string](query parameters, name string, values []T, bad payment.Fields) T {
	text := T(query.Get(name))
	if text != "" && !slices.Contains(values, text) {
		bad.Add(name, name+" has an unknown value.")
	}
	return text
}

// readFrom reads the beginning of a range: an instant, or a day in UTC.
func readFrom(text string, bad payment.Fields) time.Time {
	at, _ := readBound("from", text, bad)
	return at
}

// readTo reads the end of a range, which belongs to it, and gives the first
// instant beyond.
func readTo(text string, bad payment.Fields) time.Time {
	at, isDay := readBound("to", text, bad)
	switch {
	case at.IsZero():
		return at
	case isDay:
		return at.AddDate(0, 0, 1)
	default:
		return at.Add(time.Microsecond)
	}
}

func readBound(name, text string, bad payment.Fields) (at time.Time, isDay bool) {
	if text == "" {
		return at, false
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, true
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		bad.Add(name, name+" must be an instant such as 2026-03-31T12:00:00Z, or a date.")
	}
	return at.UTC().Truncate(time.Microsecond), false
}
