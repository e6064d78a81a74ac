package store

import (
	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// EventRow is an event ready to be written: its payload is the very text that
// will be signed and sent, and its profile is where it goes, nil for nowhere.
type EventRow struct {
	payment.Event
	Payload          string
	WebhookProfileID *uuid.UUID
}

const eventColumns = `tenant_id, id, event_key, kind, webhook_profile_id, payload, created_at`

// insertEvent writes an event with the change that it reports.
func (tx *Tx) insertEvent(tenantID uuid.UUID, e EventRow) {
	tx.Then(`INSERT INTO events (`+eventColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)`, tx.eventValues(tenantID, e)...)
	tx.announceEvent(tenantID, e)
}

// eventValues are those of eventColumns.
func (tx *Tx) eventValues(tenantID uuid.UUID, e EventRow) []any {
	return []any{tenantID, e.ID, e.Key, string(e.Kind), e.WebhookProfileID, e.Payload, db.Micros(tx.At)}
}

func (tx *Tx) announceEvent(tenantID uuid.UUID, e EventRow) {
	if e.WebhookProfileID != nil {
		tx.announce(Endpoint{tenantID, *e.WebhookProfileID})
	}
}
