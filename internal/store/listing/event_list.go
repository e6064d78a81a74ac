package listing

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// EventRecord is an event as an operator sees it, whether it goes to anybody or not.
type EventRecord struct {
	ID, TenantID uuid.UUID
	Kind         payment.EventKind
	// ProfileID is where it goes, nil for nowhere.
	ProfileID *uuid.UUID
	// Status is that of its delivery, "" where it goes nowhere.
	Status        store.DeliveryStatus
	Tries         int
	CreatedAt     time.Time
	NextAttemptAt time.Time // zero unless it waits for another try
	// About is the id of what it tells of: a session, a transaction, a chargeback or a
	// subscription.
	About string
}

// EventSearch says which events are looked for.
type EventSearch struct {
	Common
	Kind      payment.EventKind
	Status    store.DeliveryStatus
	ProfileID uuid.UUID
	// IsWaiting asks for those that are tried again.
	IsWaiting bool
}

// eventAbout is what an event tells of: its key has it behind the kind, word for word as
// it stands in the index.
const eventAbout = `substr(e.event_key, length(e.kind) + 2, 36)`

// aboutFound is the same of events that are looked for by it alone.
var aboutFound = strings.ReplaceAll(eventAbout, "e.", "y.")

var eventSearch = searched[EventRecord]{
	table: "events", name: "e", scan: scanEvent, id: func(e *EventRecord) uuid.UUID { return e.ID },
	query: `SELECT ` + eventColumns + ` FROM events e WHERE e.tenant_id = $1`,
}

var eventColumns = `e.id, e.tenant_id, e.kind, e.webhook_profile_id, ` + deliveryStatus + `,
	CASE WHEN ` + store.EventInLine("e") + ` THEN 0 ELSE e.attempt_count END, e.created_at, e.next_attempt_at, ` + eventAbout

func scanEvent(r db.Rows) (e EventRecord, err error) {
	err = r.Scan(&e.ID, &e.TenantID, &e.Kind, &e.ProfileID, &e.Status, &e.Tries, db.Instant{To: &e.CreatedAt}, db.Instant{To: &e.NextAttemptAt}, &e.About)
	if e.ProfileID == nil {
		e.Status = ""
	}
	return e, err
}

// ways ask for failed deliveries by their index, and for others as they come by.
func (f EventSearch) ways() []conditions {
	c := conditions{passing: slices.Concat(when("e.kind = $%d", string(f.Kind)), period("e.created_at", f.CreatedFrom, f.CreatedBefore))}
	if f.Status == store.DeliveryFailed && f.ProfileID != uuid.Nil {
		c.indexed = append(when("e.webhook_profile_id = $%d", f.ProfileID), condition{text: "e.delivery_status = 'failed'"})
	} else {
		c.passing = slices.Concat(c.passing, when("e.webhook_profile_id = $%d", f.ProfileID),
			onlyIf(f.Status != "", "e.webhook_profile_id IS NOT NULL"), statusIs(f.Status))
	}
	c.passing = append(c.passing, onlyIf(f.IsWaiting, "e.webhook_profile_id IS NOT NULL AND e.next_attempt_at IS NOT NULL")...)
	return waysOf(f.Text, c, func(w words) []conditions {
		about := ""
		if w.ID != uuid.Nil {
			about = w.ID.String()
		}
		return slices.Concat(
			only(when("e.id = $%d", w.ID)),
			only(when(foundIn("e", "events", aboutFound+" = $%d"), about)),
			only(inside(eventsOf(paymentsFound("id")), w.payments())),
			only(inside(eventsOf(paymentsOfLeads), w.leads())),
		)
	})
}

// eventsOf are those that tell of one of the payments that a query finds, which it begins with (see of). A
// value that comes straight from a column SQLite would not look for in the index of an expression.
func eventsOf(found string) string {
	return foundIn("e", found+` f CROSS JOIN events`, aboutFound+` = substr(CAST(f.id AS TEXT), 1)`)
}

// SearchEvents lists events.
func SearchEvents(ctx context.Context, s *store.Store, f EventSearch, at Paging) (Part[EventRecord], error) {
	return eventSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}

// FindEvent reads one event.
func FindEvent(ctx context.Context, t store.Tenant, id uuid.UUID) (EventRecord, error) {
	result, err := t.Query(ctx, eventSearch.query+` AND e.id = $2`, id)
	found, err := db.One(result, err, scanEvent)
	if store.IsNotFound(err) {
		err = store.ErrNoEvent
	}
	return found, err
}

// EventPayload reads what an event says, as it is sent but for a session's token.
func EventPayload(ctx context.Context, t store.Tenant, id uuid.UUID) (string, error) {
	result, err := t.Query(ctx, `SELECT e.payload FROM events e WHERE e.tenant_id = $1 AND e.id = $2`, id)
	text, err := db.One(result, err, func(r db.Rows) (text string, err error) { return text, r.Scan(&text) })
	if store.IsNotFound(err) {
		err = store.ErrNoEvent
	}
	return text, err
}
