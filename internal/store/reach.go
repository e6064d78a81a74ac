package store

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

type reachKey struct{}

// Within bounds a call to some tenants: whatever it reads through Tenant and through
// the look-ups that begin without one, other tenants' rows are not there. The bound is
// set where a caller is let in, and held here, so that no handler can forget it.
func Within(ctx context.Context, tenants []uuid.UUID) context.Context {
	return context.WithValue(ctx, reachKey{}, tenants)
}

// Beyond lifts the bound, for rules that hold between tenants: what is found of another one
// decides, and is not shown.
func Beyond(ctx context.Context) context.Context {
	return context.WithValue(ctx, reachKey{}, nil)
}

// errForeign is the answer for the rows of a tenant that a call does not reach: there
// are none.
var errForeign = errors.Join(db.ErrNoRow, &payment.Error{Kind: payment.NotFound, Detail: "Not found"})

// Reach gives the tenants that a call is bound to, false where it is bound to none.
func Reach(ctx context.Context) (tenants []uuid.UUID, bound bool) {
	tenants, bound = ctx.Value(reachKey{}).([]uuid.UUID)
	return tenants, bound
}

// reaches tells whether a call may see a tenant's rows; one without a bound sees all.
func reaches(ctx context.Context, tenantID uuid.UUID) bool {
	tenants, bound := Reach(ctx)
	return !bound || slices.Contains(tenants, tenantID)
}

// reached are those rows that a call may see.
func reached[T any](ctx context.Context, rows []T, err error, owner func(T) uuid.UUID) ([]T, error) {
	return slices.DeleteFunc(rows, func(row T) bool { return !reaches(ctx, owner(row)) }), err
}
