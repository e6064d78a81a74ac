package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// auditBody is an entry of the audit trail.
type auditBody struct {
	ID         uuid.UUID       `json:"id"`
	At         string          `json:"at"`
	Actor      string          `json:"actor"`
	OperatorID *uuid.UUID      `json:"operator_id"`
	Address    *string         `json:"address"`
	Action     string          `json:"action"`
	ObjectType string          `json:"object_type"`
	ObjectID   string          `json:"object_id"`
	TenantID   *uuid.UUID      `json:"tenant_id"`
	Before     json.RawMessage `json:"before"`
	After      json.RawMessage `json:"after"`
	Place      *int64          `json:"place"`
	Hash       *string         `json:"hash"`
}

func auditOf(e store.AuditEntry) auditBody {
	return auditBody{
		ID: e.ID, At: instantText(e.At), Actor: e.Actor.Name, OperatorID: e.OperatorID, Address: payment.Given(e.Address), Action: e.Action,
		ObjectType: e.ObjectType, ObjectID: e.ObjectID, TenantID: e.TenantID, Before: rawOrNull(e.Before), After: rawOrNull(e.After),
		Place: e.Place, Hash: payment.Given(e.Hash),
	}
}

func rawOrNull(text *string) json.RawMessage {
	if text == nil {
		return json.RawMessage("null")
	}
	return json.RawMessage(*text)
}

// listAudit answers GET /audit/.
func (a *Admin) listAudit(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.AuditSearch{
		Common: q.common(), Actor: q.text("actor"), Action: q.text("action"), ObjectType: q.text("object_type"), ObjectID: q.text("object_id"),
	}
	if err := q.bad.Err(); err != nil {
		return err
	}
	if err := a.People.Chain(r.Context()); err != nil {
		return err
	}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[store.AuditEntry], error) {
		return listing.SearchAudit(ctx, a.Store, search, s)
	}, func(e store.AuditEntry) uuid.UUID { return e.ID }, auditOf)
}
