package people

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/sepa"
	"sepad/internal/store"
)

// Principal is who is asking: an operator in a browser, a program with an operator's
// token, or whoever has the admin token of the settings.
type Principal struct {
	sepa.Masked
	// Operator is the person, nil for the admin token.
	Operator *store.Operator
	// Name is how the trail names who has the admin token, "" for root.
	Name string
	// Token is what the person's program brought, nil in a browser, and SignedInAt when
	// the person came into that.
	Token      *store.OperatorToken
	SignedInAt time.Time
	Role       store.Role
	Tenants    store.TenantSet
}

// Root is whoever has the admin token.
func Root() Principal {
	return Principal{Role: store.Administrator, Tenants: store.TenantSet{All: true}}
}

// principalOf is an operator, with all rights of theirs.
func principalOf(o store.Operator, t *store.OperatorToken) Principal {
	return Principal{Operator: &o, Token: t, Role: o.Role, Tenants: o.Tenants}
}

// Actor is how the audit trail names them.
func (p Principal) Actor() string {
	switch {
	case p.Operator == nil:
		return cmp.Or(p.Name, "root")
	case p.Token != nil:
		return "token:" + p.Token.Name
	default:
		return "operator:" + p.Operator.Email
	}
}

// LogName is how logs name them, which know no addresses of persons.
func (p Principal) LogName() string {
	switch {
	case p.Operator == nil:
		return "root"
	case p.Token != nil:
		return "token:" + p.Token.ID.String()
	default:
		return "operator:" + p.Operator.ID.String()
	}
}

// Enter is a context in which everything is done by them, from an address, and in which
// there are no tenants but theirs.
func (p Principal) Enter(ctx context.Context, address string) context.Context {
	who := store.Actor{Name: p.Actor(), Address: address}
	if p.Operator != nil {
		who.OperatorID = &p.Operator.ID
	}
	ctx = store.WithActor(ctx, who)
	if !p.Tenants.All {
		ctx = store.Within(ctx, p.Tenants.IDs)
	}
	return context.WithValue(ctx, principalKey{}, p)
}

type principalKey struct{}

// Who is asking under a context; false where nobody was let in.
func Who(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// RequestScope is where the keys belong under which whoever asks may repeat a request: to
// the operator, whatever they come by, or to the admin token.
func RequestScope(ctx context.Context) uuid.UUID {
	if p, ok := Who(ctx); ok && p.Operator != nil {
		return p.Operator.ID
	}
	return uuid.Nil
}

// Reader names the person who is asking, whatever they come by, and the tenant among whose people they are; "" where it
// is the admin token, and for whoever works for all tenants. Of several tenants the first speaks for all, so that who
// administers some makes no more readers of them than there are tenants.
func Reader(ctx context.Context) (person, tenant string) {
	p, ok := Who(ctx)
	if !ok || p.Operator == nil {
		return "", ""
	}
	if !p.Tenants.All && len(p.Tenants.IDs) > 0 {
		first := slices.MinFunc(p.Tenants.IDs, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		tenant = "of " + first.String()
	}
	return p.Operator.ID.String(), tenant
}

// MayAs tells that somebody has the role and the tenants of another, who may be themselves a moment ago.
func (p Principal) MayAs(other Principal) bool {
	return p.Role == other.Role && p.Tenants.All == other.Tenants.All && slices.Equal(p.Tenants.IDs, other.Tenants.IDs)
}

// Reaches tells whether a tenant is one of theirs.
func (p Principal) Reaches(tenantID uuid.UUID) bool {
	return p.Tenants.All || slices.Contains(p.Tenants.IDs, tenantID)
}
