package store

import (
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// EventRow is an event ready to be written: its payload is the very text that
// will be signed and sent, but for a session's token, and its profile is where it
// goes, nil for nowhere.
type EventRow struct {
	payment.Event
	Payload          string
	WebhookProfileID *uuid.UUID
	sealedToken      string // see NewEvent
}

// storedEvent is an event as it lies in its table.
type storedEvent struct {
	EventRow
	tenantID     uuid.UUID
	createdAt    time.Time
	status       DeliveryStatus
	attemptCount int
}

// events are the columns that an event is written with; the others of its delivery
// have values to begin with.
var events = db.Table[storedEvent]{Name: "events", Columns: []db.Column[storedEvent]{
	db.Field("tenant_id", func(e *storedEvent) *uuid.UUID { return &e.tenantID }),
	db.Field("id", func(e *storedEvent) *uuid.UUID { return &e.ID }),
	db.Field("event_key", func(e *storedEvent) *string { return &e.Key }),
	db.Field("kind", func(e *storedEvent) *payment.EventKind { return &e.Kind }),
	db.Optional("webhook_profile_id", func(e *storedEvent) **uuid.UUID { return &e.WebhookProfileID }),
	db.Field("payload", func(e *storedEvent) *string { return &e.Payload }),
	db.Field("token_sealed", func(e *storedEvent) *string { return &e.sealedToken }),
	db.Time("created_at", func(e *storedEvent) *time.Time { return &e.createdAt }),
	db.Field("delivery_status", func(e *storedEvent) *DeliveryStatus { return &e.status }),
	db.Field("attempt_count", func(e *storedEvent) *int { return &e.attemptCount }),
}}

var insertEvent = events.Insert()

// insertEvents writes events with the change that they report. Their places in line come
// behind all of them, so that units that commit together write each table once.
func (tx *Tx) insertEvents(tenantID uuid.UUID, events []EventRow) {
	for _, e := range events {
		tx.Then(insertEvent, tx.eventValues(tenantID, e)...)
		tx.announceEvent(tenantID, e)
	}
	for _, e := range events {
		if tx.linesUp(e) {
			tx.Then(insertInLine, tx.lineValues(tenantID, e)...)
		}
	}
}

func (tx *Tx) eventValues(tenantID uuid.UUID, e EventRow) []any {
	stored := storedEvent{EventRow: e, tenantID: tenantID, createdAt: tx.At, status: DeliveryPending}
	if tx.linesUp(e) {
		stored.status, stored.attemptCount = DeliveryDelivered, 1
	}
	return events.Values(&stored)
}

func (tx *Tx) announceEvent(tenantID uuid.UUID, e EventRow) {
	if e.WebhookProfileID != nil {
		tx.announce(Endpoint{tenantID, *e.WebhookProfileID})
	}
}
