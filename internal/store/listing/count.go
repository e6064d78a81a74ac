package listing

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/store"
)

const (
	// mostCounted is how many records are counted: beyond it the exact figure helps
	// nobody, and counting has to cost the same in every list.
	mostCounted = 500
	// countDepth is how many records are looked at to count those that fit.
	countDepth = 2500
)

// Count is how many records a list has, or at least has.
type Count struct {
	N int
	// AtLeast tells that counting stopped before the end.
	AtLeast bool
}

// count counts what of reads, each record once.
func (l searched[T]) count(ctx context.Context, st *store.Store, tenantID uuid.UUID, ways ...conditions) (n Count, err error) {
	tenants := []uuid.UUID{tenantID}
	if tenantID == uuid.Nil {
		all, err := st.Tenants(ctx)
		if err != nil {
			return n, err
		}
		tenants = nil
		for _, tenant := range all {
			tenants = append(tenants, tenant.ID)
		}
	}
	seen := map[uuid.UUID]bool{}
	for _, id := range tenants {
		for _, way := range ways {
			atLeast, err := l.countWay(ctx, st.Tenant(id), way, seen)
			if err != nil {
				return n, err
			}
			n.AtLeast = n.AtLeast || atLeast
			if len(seen) > mostCounted {
				return Count{mostCounted, true}, nil
			}
		}
	}
	n.N = len(seen)
	return n, nil
}

// countWay notes the records of one way, and tells whether it did not come to its end.
func (l searched[T]) countWay(ctx context.Context, t store.Tenant, way conditions, seen map[uuid.UUID]bool) (atLeast bool, err error) {
	all, newestFirst := way.indexed, Paging{}
	if len(way.passing) > 0 {
		reached, err := l.reach(ctx, t, newestFirst, countDepth, way.indexed)
		if err != nil {
			return false, err
		}
		all, atLeast = slices.Concat(all, newestFirst.upTo(l.name+".id", reached), way.passing), reached != uuid.Nil
	}
	if !atLeast {
		if atLeast, err = foundMost(ctx, t, way.indexed); err != nil {
			return false, err
		}
	}
	where, args := and(all)
	result, err := t.LaggingQuery(ctx, fmt.Sprintf(`SELECT %s.id FROM %s %s WHERE %s.tenant_id = $1%s%s LIMIT %d`,
		l.name, l.table, l.name, l.name, where, newestFirst.order(l.name+".id"), mostCounted+1), args...)
	ids, err := db.Collect(result, err, scanID)
	for _, id := range ids {
		seen[id] = true
	}
	return atLeast, err
}

// foundMost tells whether a way ended at the newest that it may lead to.
func foundMost(ctx context.Context, t store.Tenant, all []condition) (bool, error) {
	for _, c := range all {
		for _, found := range c.found {
			text, args := numbered(0, condition{text: found, args: c.args})
			result, err := t.LaggingQuery(ctx, `SELECT COUNT(*) FROM `+text+` AS found`, args...)
			n, err := db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
			if err != nil || n == mostFound {
				return true, err
			}
		}
	}
	return false, nil
}

// The lists that are counted.

func CountSessions(ctx context.Context, s *store.Store, f SessionSearch) (Count, error) {
	return sessionSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountTransactions(ctx context.Context, s *store.Store, f TransactionSearch) (Count, error) {
	return transactionSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountChargebacks(ctx context.Context, s *store.Store, f ChargebackSearch) (Count, error) {
	return chargebackSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountSubscriptions(ctx context.Context, s *store.Store, f SubscriptionSearch) (Count, error) {
	return subscriptionSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountLeads(ctx context.Context, s *store.Store, f LeadSearch) (Count, error) {
	return leadSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountMandates(ctx context.Context, s *store.Store, f MandateSearch) (Count, error) {
	return mandateSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountEvents(ctx context.Context, s *store.Store, f EventSearch) (Count, error) {
	return eventSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountImports(ctx context.Context, s *store.Store, f ImportSearch) (Count, error) {
	return importSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountBankFiles(ctx context.Context, s *store.Store, f BankFileSearch) (Count, error) {
	return bankFileSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountBankStatements(ctx context.Context, s *store.Store, f BankStatementSearch) (Count, error) {
	return bankStatementSearch.count(ctx, s, f.TenantID, f.ways()...)
}

func CountBankLines(ctx context.Context, s *store.Store, f BankLineSearch) (Count, error) {
	return bankLineSearch.count(ctx, s, f.TenantID, f.ways()...)
}
