package store

import (
	"context"

	"github.com/google/uuid"
)

// Tenant is the database as one tenant sees it: every read names the tenant.
type Tenant struct {
	store *Store
	id    uuid.UUID
}

// Tenant scopes reads to a tenant.
func (s *Store) Tenant(id uuid.UUID) Tenant { return Tenant{store: s, id: id} }

// query reads with the tenant as the first argument.
func (t Tenant) query(ctx context.Context, sql string, args ...any) (rows, error) {
	return t.store.engine.query(ctx, sql, append([]any{t.id}, args...)...)
}

// laggingQuery is query for reads that may be a little behind: they go to the
// replica, where there is one.
func (t Tenant) laggingQuery(ctx context.Context, sql string, args ...any) (rows, error) {
	return t.store.lagging.query(ctx, sql, append([]any{t.id}, args...)...)
}
