package listing

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// SessionFilter says which sessions a merchant's list has; what is empty admits all.
type SessionFilter struct {
	sepa.Masked
	// Statuses are those that readers see at the instant Now.
	Statuses []payment.SessionStatus
	Now      time.Time
	EmailKey string
	// TenantReferenceID is the merchant's own name for a purchase or an attempt.
	TenantReferenceID string
}

// sessionListing finds the places of sessions in the list; the index has all that it
// takes, and the records are read by their ids.
var sessionListing = listing[Position]{
	table: "sessions", instant: "created_at", columns: "id, created_at", spare: &sync.Pool{},
	scan: func(row *listedRow, p *Position) { p.ID, p.At = row.id(), row.instant() },
}

// sessionsOfReference are those that have a reference, or an attempt with its own.
const sessionsOfReference = `(SELECT v.id FROM sessions v WHERE v.tenant_id = $1 AND v.tenant_reference_id = $%[1]d
	UNION ALL SELECT x.session_id FROM transactions x
	WHERE x.tenant_id = $1 AND x.tenant_reference_id = $%[1]d AND NOT x.reference_inherited AND x.session_id IS NOT NULL)`

// filters always name the status, with which the index begins, unless the list is
// one person's or one reference's: then that finds a few, and the index of statuses
// must not be taken, which an expression in place of the column sees to.
func (f SessionFilter) filters() []filter {
	var named []filter
	if f.EmailKey != "" {
		named = append(named, filter{"lead_id = " + leadOf, []any{f.EmailKey}})
	}
	if f.TenantReferenceID != "" {
		named = append(named, filter{"id IN " + sessionsOfReference, []any{f.TenantReferenceID}})
	}
	stored, ranOut := f.stored()
	switch {
	case len(named) == 0:
		return append(ranOut, equal("status", orAll(stored, payment.SessionStatuses)))
	default:
		return slices.Concat(named, ranOut, []filter{equal("COALESCE(status, '')", stored)})
	}
}

// stored are the statuses as they are kept: one whose time has run out is PENDING
// until the sweep comes by, and shown as EXPIRED.
func (f SessionFilter) stored() (statuses []payment.SessionStatus, ranOut []filter) {
	const overdue = "status = 'PENDING' AND open_transaction_id IS NULL AND expires_at <= $%d"
	pending := slices.Contains(f.Statuses, payment.SessionPending)
	expired := slices.Contains(f.Statuses, payment.SessionExpired)
	now := []any{db.Micros(f.Now)}
	switch {
	case pending && !expired:
		return f.Statuses, []filter{{"NOT (" + overdue + ")", now}}
	case expired && !pending:
		return append(slices.Clone(f.Statuses), payment.SessionPending), []filter{{"(status <> 'PENDING' OR " + overdue + ")", now}}
	default:
		return f.Statuses, nil
	}
}

// longestMetadata ends a page before its limit: a session may have forty kilobytes, and a thousand of them are held several
// times over until they are written.
const longestMetadata = 2 << 20

// Sessions lists sessions by the instant of their creation, each with its lead and
// its order. Where they have much metadata a page ends earlier than its limit.
func Sessions(ctx context.Context, t store.Tenant, w Window, f SessionFilter) (page Listed[SessionRecord], err error) {
	places, err := sessionListing.read(ctx, t, w, f.filters())
	if err != nil {
		return page, err
	}
	defer places.Release()
	order, ids := map[uuid.UUID]int{}, make([]any, len(places.Rows))
	for i, place := range places.Rows {
		order[place.ID], ids[i] = i, place.ID
	}
	if w.Backward {
		slices.Reverse(ids) // what is nearest to the place that one comes from is read first
	}
	page = Listed[SessionRecord]{More: places.More, spare: &sync.Pool{}}
	held := 0
	for batch := range db.InBatches(ids) {
		if held > longestMetadata {
			page.More = true
			break
		}
		result, err := t.LaggingQuery(ctx, sessionSearch.query+` AND s.id IN `+db.Placeholders(2, 1, len(batch)), batch...)
		found, err := db.Collect(result, err, scanSessionRecord)
		if err != nil {
			return page, err
		}
		for _, one := range found {
			held += len(one.Options.Metadata)
		}
		page.Rows = append(page.Rows, found...)
	}
	slices.SortFunc(page.Rows, func(a, b SessionRecord) int { return order[a.ID] - order[b.ID] })
	return page, nil
}
