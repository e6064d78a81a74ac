package listing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/store"
)

// Paging is a part of an operator's list, which begins with the newest record:
// Limit records beyond the one with the id, towards older ones, or towards newer
// ones when it is turned back. A zero id is the list's beginning.
type Paging struct {
	Beyond uuid.UUID
	Back   bool
	Limit  int
}

// Part is what was found on the way, newest first.
type Part[T any] struct {
	Rows []T
	// Reached is the id at which the search stopped before it had found as many
	// records as it may: the list goes on there. It is zero otherwise.
	Reached uuid.UUID
}

// searchDepth is how many records are looked at for one page. Conditions without
// an index of their own would otherwise read a whole table for what is rare, and
// an index for each would make every payment dearer. What is frequent is found at
// firstDepth already.
const (
	firstDepth  = 500
	searchDepth = 5_000
)

// searched is a table in which operators look for something, in the order of its
// ids: they begin with their time, so that the primary key serves every list.
type searched[T any] struct {
	// query reads records of the table, under a name of one letter, of tenant $1.
	query       string
	table, name string
	scan        func(db.Rows) (T, error)
	id          func(*T) uuid.UUID
}

// condition has a %d for the number of each of its arguments.
type condition struct {
	text string
	args []any
	// found are the ways within it that lead no further than to the newest mostFound.
	found []string
}

// when is a condition on a value, and none where the value is zero.
func when[V comparable](text string, value V) []condition {
	var none V
	if value == none {
		return nil
	}
	return []condition{{text: text, args: []any{value}}}
}

// onlyIf is a condition that is asked for or not.
func onlyIf(asked bool, text string) []condition {
	if !asked {
		return nil
	}
	return []condition{{text: text}}
}

// period is a condition on an instant: from one on, and before another one.
func period(column string, from, before time.Time) (within []condition) {
	if !from.IsZero() {
		within = append(within, condition{text: column + " >= $%d", args: []any{db.Micros(from)}})
	}
	if !before.IsZero() {
		within = append(within, condition{text: column + " < $%d", args: []any{db.Micros(before)}})
	}
	return within
}

// and writes conditions behind one on the tenant, who is the first argument.
func and(all []condition) (text string, args []any) {
	var written strings.Builder
	for _, c := range all {
		text, more := numbered(len(args), c)
		written.WriteString(" AND " + text)
		args = append(args, more...)
	}
	return written.String(), args
}

// numbered is a condition behind so many arguments, and the tenant.
func numbered(before int, c condition) (text string, args []any) {
	numbers := make([]any, len(c.args))
	for i := range numbers {
		numbers[i] = before + 2 + i
	}
	return fmt.Sprintf(c.text, numbers...), c.args
}

// beyond is where a page begins by a column of ids, upTo where it ends, and
// order how it is read.

func (s Paging) beyond(id string) []condition {
	if s.Back {
		return when(id+" > $%d", s.Beyond)
	}
	return when(id+" < $%d", s.Beyond)
}

func (s Paging) upTo(id string, end uuid.UUID) []condition {
	if s.Back {
		return when(id+" <= $%d", end)
	}
	return when(id+" >= $%d", end)
}

func (s Paging) order(id string) string {
	if s.Back {
		return " ORDER BY " + id
	}
	return " ORDER BY " + id + " DESC"
}

// conditions are what a search asks for. Those in indexed find their records by
// an index of their own, or have the primary key's order to themselves; those in
// passing are held against one record after the other.
type conditions struct{ indexed, passing []condition }

// read reads a page of a tenant's list. What has no index of its own is looked for among
// a few records first, and then among more.
func (l searched[T]) read(ctx context.Context, t store.Tenant, s Paging, c conditions) (part Part[T], err error) {
	if len(c.passing) == 0 {
		return l.readTo(ctx, t, s, c, 0)
	}
	part, err = l.readTo(ctx, t, s, c, firstDepth)
	if err != nil || part.Reached == uuid.Nil {
		return part, err
	}
	return l.readTo(ctx, t, s, c, searchDepth)
}

// readTo reads a page from so many records, 0 for all.
func (l searched[T]) readTo(ctx context.Context, t store.Tenant, s Paging, c conditions, depth int) (part Part[T], err error) {
	id := l.name + ".id"
	within := slices.Concat(c.indexed, s.beyond(id))
	if depth > 0 {
		if part.Reached, err = l.reach(ctx, t, s, depth, within); err != nil {
			return part, err
		}
		within = slices.Concat(within, s.upTo(id, part.Reached), c.passing)
	}
	text, args := l.statement(s, within)
	result, err := t.LaggingQuery(ctx, text, args...)
	part.Rows, err = db.Collect(result, err, l.scan)
	if len(part.Rows) == s.Limit {
		part.Reached = uuid.Nil // it was found before that
	}
	if s.Back {
		slices.Reverse(part.Rows)
	}
	return part, err
}

func (l searched[T]) statement(s Paging, all []condition) (text string, args []any) {
	where, args := and(all)
	return l.query + where + s.order(l.name+".id") + " LIMIT " + strconv.Itoa(s.Limit), args
}

func scanID(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) }

// reach is the last record that may be looked at, so many beyond where it begins, zero
// where the list ends before.
func (l searched[T]) reach(ctx context.Context, t store.Tenant, s Paging, depth int, within []condition) (uuid.UUID, error) {
	where, args := and(within)
	result, err := t.LaggingQuery(ctx, fmt.Sprintf(`SELECT %s.id FROM %s %s WHERE %s.tenant_id = $1%s%s LIMIT 1 OFFSET %d`,
		l.name, l.table, l.name, l.name, where, s.order(l.name+".id"), depth-1), args...)
	id, err := db.One(result, err, scanID)
	if errors.Is(err, db.ErrNoRow) {
		return uuid.Nil, nil
	}
	return id, err
}

// of reads the list of one tenant, or that of all where none is named. It has the
// records that any of the ways leads to.
func (l searched[T]) of(ctx context.Context, st *store.Store, tenantID uuid.UUID, s Paging, ways ...conditions) (Part[T], error) {
	if tenantID != uuid.Nil {
		return l.along(ctx, st.Tenant(tenantID), s, ways)
	}
	return acrossTenants(ctx, st, s, l.id, func(t store.Tenant) (Part[T], error) { return l.along(ctx, t, s, ways) })
}

// along reads a page of a tenant's list by all ways. Each is read by itself, from an
// index of its own: a database that is given all of them at once reads the table.
func (l searched[T]) along(ctx context.Context, t store.Tenant, s Paging, ways []conditions) (Part[T], error) {
	parts := make([]Part[T], len(ways))
	for i, way := range ways {
		part, err := l.read(ctx, t, s, way)
		if err != nil {
			return part, err
		}
		parts[i] = part
	}
	return merge(s, l.id, parts), nil
}

// acrossTenants puts the lists of all tenants together. Each tenant's part comes
// from its own rows, so that no index has to serve all tenants at once.
func acrossTenants[T any](ctx context.Context, st *store.Store, s Paging, id func(*T) uuid.UUID, read func(store.Tenant) (Part[T], error)) (all Part[T], err error) {
	tenants, err := st.Tenants(ctx)
	if err != nil {
		return all, err
	}
	parts := make([]Part[T], len(tenants))
	for i, tenant := range tenants {
		if parts[i], err = read(st.Tenant(tenant.ID)); err != nil {
			return all, err
		}
	}
	return merge(s, id, parts), nil
}

// merge makes one part of several that were read with the same paging; what more than
// one of them has is in it once.
func merge[T any](s Paging, id func(*T) uuid.UUID, parts []Part[T]) (all Part[T]) {
	if len(parts) == 1 {
		return parts[0]
	}
	for _, part := range parts {
		all.Rows = append(all.Rows, part.Rows...)
		if part.Reached != uuid.Nil && (all.Reached == uuid.Nil || s.isBefore(part.Reached, all.Reached)) {
			all.Reached = part.Reached
		}
	}
	// Beyond where the first search has stopped, something may be missing.
	if all.Reached != uuid.Nil {
		all.Rows = slices.DeleteFunc(all.Rows, func(row T) bool { return s.isBefore(all.Reached, id(&row)) })
	}
	slices.SortFunc(all.Rows, func(a, b T) int { return compareIDs(id(&b), id(&a)) })
	all.Rows = slices.CompactFunc(all.Rows, func(a, b T) bool { return id(&a) == id(&b) })
	if more := len(all.Rows) - s.Limit; more >= 0 {
		all.Reached = uuid.Nil
		if s.Back {
			all.Rows = all.Rows[more:]
		}
		all.Rows = all.Rows[:s.Limit]
	}
	return all
}

// isBefore tells which of two ids the page comes to first.
func (s Paging) isBefore(a, b uuid.UUID) bool { return compareIDs(a, b) > 0 != s.Back && a != b }

func compareIDs(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
