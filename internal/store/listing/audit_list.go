package listing

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// AuditSearch says which entries of the audit trail are looked for.
type AuditSearch struct {
	sepa.Masked
	Common
	Actor, Action, ObjectType, ObjectID string
}

// SearchAudit lists entries of the audit trail, newest first. Who works for some tenants
// sees those of these alone, and none of the installation's own.
func SearchAudit(ctx context.Context, st *store.Store, f AuditSearch, at Paging) (part Part[store.AuditEntry], err error) {
	conditions := slices.Concat(at.beyond("id"), when("tenant_id = $%d", f.TenantID), when("actor = $%d", f.Actor), when("action = $%d", f.Action),
		when("object_type = $%d", f.ObjectType), when("object_id = $%d", f.ObjectID), period("at", f.CreatedFrom, f.CreatedBefore))
	if tenants, bound := store.Reach(ctx); bound {
		conditions = append(conditions, among("tenant_id", tenants))
	}
	where, args := and(conditions)
	// Nobody knows before whether anything is there: to find out may mean to read all of it.
	result, err := st.Browse(ctx, "the trail", `SELECT `+store.AuditEntries.List("")+` FROM audit_entries WHERE id IS NOT NULL`+where+at.order("id")+` LIMIT $1`,
		append([]any{at.Limit}, args...)...)
	part.Rows, err = db.Collect(result, err, store.ScanAuditEntry)
	if at.Back {
		slices.Reverse(part.Rows)
	}
	return part, err
}

// among is a condition on an id: one of some.
func among(column string, ids []uuid.UUID) condition {
	if len(ids) == 0 {
		return condition{text: column + " IS NULL AND " + column + " IS NOT NULL"} // none of none
	}
	c := condition{text: column + " IN (" + strings.TrimSuffix(strings.Repeat("$%d, ", len(ids)), ", ") + ")"}
	for _, id := range ids {
		c.args = append(c.args, id)
	}
	return c
}
