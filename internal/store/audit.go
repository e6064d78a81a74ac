package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// Actor is who does something: a person, a program of a merchant's, or the service.
type Actor struct {
	sepa.Masked
	// Name is operator:EMAIL, token:NAME, key:ID of an API key, cli:USER of this
	// machine, root for the admin token, or service.
	Name string
	// OperatorID is the person behind it, nil where that is not one of ours.
	OperatorID *uuid.UUID
	// Address is where the call came from, "" for nowhere else.
	Address string
}

// service is who acts where nobody has called.
const service = "service"

type actorKey struct{}

// WithActor says who whatever is done under a context is done by.
func WithActor(ctx context.Context, who Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, who)
}

// ActorOf is who acts under a context.
func ActorOf(ctx context.Context) Actor {
	if who, ok := ctx.Value(actorKey{}).(Actor); ok {
		return who
	}
	return Actor{Name: service}
}

// Deed is what somebody did, to what. Before and After are what it changed, as JSON
// shows them, nil for nothing; secrets and whatever names a payer stay out of them, for
// an entry is never changed again.
type Deed struct {
	// Action is such as refund.create.
	Action string
	// ObjectType and ObjectID are what it was done to.
	ObjectType, ObjectID string
	// TenantID is whose that is, Nil for the installation's own.
	TenantID      uuid.UUID
	Before, After any
}

// Audit writes entries of the audit trail in the unit of what they tell of. Their places
// in the chain are given after the commit (ChainAudit), so that no two units wait for each
// other.
func (tx *Tx) Audit(deeds ...Deed) {
	for _, d := range deeds {
		tx.Then(insertEntry+` VALUES (`+entryPlaces+`)`, tx.entryValues(d)...)
	}
}

const (
	insertEntry = `INSERT INTO audit_entries (id, at, actor, operator_id, address, action, object_type, object_id, tenant_id, was, became)`
	entryPlaces = `$1, db_now(), $2, $3, $4, $5, $6, $7, $8, $9, $10`
)

func (tx *Tx) entryValues(d Deed) []any {
	return []any{
		payment.NewID(), tx.actor.Name, idOrNull(tx.actor.OperatorID), tx.actor.Address, d.Action, d.ObjectType, d.ObjectID, idOrNull(d.tenant()),
		auditText(d.Before), auditText(d.After),
	}
}

// tenant is whose deed it is, nil for nobody's.
func (d Deed) tenant() *uuid.UUID {
	if d.TenantID == uuid.Nil {
		return nil
	}
	return &d.TenantID
}

func idOrNull(id *uuid.UUID) any {
	if id == nil {
		return nil
	}
	return *id
}

// Note writes an entry about something that changes nothing in the database, such as a
// look at evidence. Of a tenant that a call does not reach there is nothing to look at.
func (s *Store) Note(ctx context.Context, d Deed) error {
	if d.TenantID != uuid.Nil && !reaches(ctx, d.TenantID) {
		return errForeign
	}
	return s.Write(ctx, time.Time{}, func(tx *Tx) error {
		tx.Audit(d)
		return nil
	})
}

// auditText is a value as an entry keeps it: NULL for none.
func auditText(value any) any {
	if value == nil {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("store: an audit entry cannot be written: %v", err)) // it is made of texts and numbers
	}
	return string(text)
}

// AuditEntry is an entry as it lies in the trail.
type AuditEntry struct {
	ID uuid.UUID
	At time.Time
	Actor
	Action, ObjectType, ObjectID string
	TenantID                     *uuid.UUID
	// Before and After are JSON, nil for none.
	Before, After *string
	// Place is its number in the chain, nil before it has one, and Hash covers it and
	// the entry before.
	Place *int64
	Hash  string
}

// AuditEntries are their rows.
var AuditEntries = db.Table[AuditEntry]{Name: "audit_entries", Columns: []db.Column[AuditEntry]{
	db.Field("id", func(e *AuditEntry) *uuid.UUID { return &e.ID }),
	db.Time("at", func(e *AuditEntry) *time.Time { return &e.At }),
	db.Field("actor", func(e *AuditEntry) *string { return &e.Actor.Name }),
	db.Optional("operator_id", func(e *AuditEntry) **uuid.UUID { return &e.OperatorID }),
	db.Field("address", func(e *AuditEntry) *string { return &e.Address }),
	db.Field("action", func(e *AuditEntry) *string { return &e.Action }),
	db.Field("object_type", func(e *AuditEntry) *string { return &e.ObjectType }),
	db.Field("object_id", func(e *AuditEntry) *string { return &e.ObjectID }),
	db.Optional("tenant_id", func(e *AuditEntry) **uuid.UUID { return &e.TenantID }),
	db.Optional("was", func(e *AuditEntry) **string { return &e.Before }),
	db.Optional("became", func(e *AuditEntry) **string { return &e.After }),
	db.Optional("place", func(e *AuditEntry) **int64 { return &e.Place }),
	db.Field("hash", func(e *AuditEntry) *string { return &e.Hash }),
}}

// ScanAuditEntry reads a row of AuditEntries.
func ScanAuditEntry(r db.Rows) (e AuditEntry, err error) {
	return e, r.Scan(AuditEntries.Fields(&e)...)
}
