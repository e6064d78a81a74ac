package store

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// Tenant is the database as one tenant sees it: every read names the tenant.
type Tenant struct {
	// ID is the tenant's.
	ID    uuid.UUID
	store *Store
}

// Tenant scopes reads to a tenant.
func (s *Store) Tenant(id uuid.UUID) Tenant { return Tenant{store: s, ID: id} }

// Query reads with the tenant as the first argument.
func (t Tenant) Query(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	if !reaches(ctx, t.ID) {
		return nil, errForeign
	}
	return t.store.Query(ctx, sql, append([]any{t.ID}, args...)...)
}

// LaggingQuery is Query for reads at length that may be a little behind: they go to the
// replica, where there is one, and are in nobody's way.
func (t Tenant) LaggingQuery(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	if !reaches(ctx, t.ID) {
		return nil, errForeign
	}
	return t.store.LaggingQuery(ctx, sql, append([]any{t.ID}, args...)...)
}

// Browse is Query for reads at length of what was only just written: they are in nobody's way but the tenant's own.
func (t Tenant) Browse(ctx context.Context, sql string, args ...any) (db.Rows, error) {
	if !reaches(ctx, t.ID) {
		return nil, errForeign
	}
	return t.store.Browse(ctx, t.ID, sql, append([]any{t.ID}, args...)...)
}
