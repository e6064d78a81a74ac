package listing

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Position is a place in a listing: that of the record with this instant and id,
// whether or not there is one.
type Position struct {
	At time.Time
	ID uuid.UUID
}

// Below and Above are the positions next to one, with nothing in between: a page
// that begins at one of them has the record at the position itself.

func (p Position) Below() Position {
	for i := len(p.ID) - 1; i >= 0; i-- {
		p.ID[i]--
		if p.ID[i] != math.MaxUint8 {
			return p
		}
	}
	p.At = p.At.Add(-time.Microsecond)
	return p
}

func (p Position) Above() Position {
	for i := len(p.ID) - 1; i >= 0; i-- {
		p.ID[i]++
		if p.ID[i] != 0 {
			return p
		}
	}
	p.At = p.At.Add(time.Microsecond)
	return p
}

// Window is the stretch of a listing that a page shows. A listing begins with
// the newest record, and of those of one instant with the highest id.
type Window struct {
	// From is the first instant of the listing, Before the first one beyond.
	From, Before time.Time
	// ByUpdate orders by when records last changed instead.
	ByUpdate bool
	// Beyond is the place after which the page begins, nil for the beginning.
	Beyond *Position
	// Backward takes the records that lead up to Beyond instead.
	Backward bool
	Limit    int
}

// Listed is a page of a listing.
type Listed[T any] struct {
	Rows []T
	// More tells that the listing goes on in the direction that was read.
	More bool

	spare *sync.Pool
}

// Release gives the rows back for another page to use. Whoever keeps one of them
// does not call it.
func (l Listed[T]) Release() {
	clear(l.Rows)
	l.spare.Put(&l.Rows)
}

// listing is a table that is listed, by a column of instants.
type listing[T any] struct {
	table, instant, columns string
	scan                    func(*listedRow, *T)
	// spare are rows of pages that were written: a page is nearly a megabyte, and
	// making it anew each time would keep the garbage collector busy.
	spare *sync.Pool
}

// rows gives room for a page, all zero.
func (l listing[T]) rows(limit int) []T {
	if rows, ok := l.spare.Get().(*[]T); ok && cap(*rows) >= limit {
		return (*rows)[:0]
	}
	return make([]T, 0, limit)
}

// filter is a condition of a listing. Its text has a %d for the number of its
// argument, which it takes from a single value or from several.
type filter struct {
	condition string
	values    []any
}

// equal filters by the values of a column; none means that all are wanted.
func equal[V any](column string, values []V) (f filter) {
	f.condition = column + " = $%d"
	for _, v := range values {
		f.values = append(f.values, v)
	}
	return f
}

// read reads a page. Every combination of the filters' values is a range of an
// index that is in the listing's order, and the database merges the ranges: so
// a page costs what its rows cost, however many others there are.
func (l listing[T]) read(ctx context.Context, t store.Tenant, w Window, filters []filter) (page Listed[T], err error) {
	text, args := l.query(w, filters)
	result, err := t.LaggingQuery(ctx, text, args...)
	if err != nil {
		return page, err
	}
	defer result.Close()
	row := listedRow{Cells: result.Cells()}
	page.Rows, page.spare = l.rows(w.Limit), l.spare
	for row.next() {
		if len(page.Rows) == w.Limit {
			page.More = true
			break
		}
		page.Rows = page.Rows[:len(page.Rows)+1]
		l.scan(&row, &page.Rows[len(page.Rows)-1])
	}
	if w.Backward {
		slices.Reverse(page.Rows)
	}
	return page, row.Err()
}

// query writes the statement. Its first arguments are the tenant, the position,
// the other end of the listing and one row more than the page has.
func (l listing[T]) query(w Window, filters []filter) (text string, args []any) {
	instant, combinations := l.instant, combine
	if w.ByUpdate {
		// One index has this order, and what it is narrowed by is read from its rows.
		instant, combinations = "updated_at", together(l.instant+" IS NOT NULL")
	}
	compare, bound, direction := "<", instant+" >= $4", "DESC"
	beyond, end := Position{At: w.Before}, w.From
	if w.Backward {
		compare, bound, direction = ">", instant+" < $4", "ASC"
		end = w.Before
	}
	if w.Beyond != nil {
		beyond = *w.Beyond
	}
	args = []any{beyond.At.UnixMicro(), beyond.ID, end.UnixMicro(), w.Limit + 1}
	order := fmt.Sprintf(" ORDER BY %s %s, id %s", instant, direction, direction)
	var ranges []string
	for _, conditions := range combinations(filters, &args) {
		ranges = append(ranges, fmt.Sprintf("SELECT %s FROM %s WHERE tenant_id = $1 AND (%s, id) %s ($2, $3) AND %s%s%s",
			l.columns, l.table, instant, compare, bound, conditions, order))
	}
	if len(ranges) == 1 {
		return ranges[0] + " LIMIT $5", args
	}
	// PostgreSQL merges ranges only where each says its order itself.
	return "SELECT * FROM (SELECT * FROM (" + strings.Join(ranges, ") AS r UNION ALL SELECT * FROM (") + ") AS r) AS listed" +
		order + " LIMIT $5", args
}

// combine gives the conditions of every combination of values, and appends the
// values to the arguments behind the tenant.
func combine(filters []filter, args *[]any) []string {
	combinations := []string{""}
	for _, f := range filters {
		if len(f.values) == 0 {
			continue
		}
		var next []string
		for _, value := range f.values {
			*args = append(*args, value)
			condition := " AND " + fmt.Sprintf(f.condition, len(*args)+1)
			for _, so := range combinations {
				next = append(next, so+condition)
			}
		}
		combinations = next
	}
	return combinations
}

// together gives one condition that holds for all values of the filters, and for
// another one.
func together(condition string) func(filters []filter, args *[]any) []string {
	return func(filters []filter, args *[]any) []string {
		text := " AND " + condition
		for _, f := range filters {
			var anyOf []string
			for _, value := range f.values {
				*args = append(*args, value)
				anyOf = append(anyOf, fmt.Sprintf(f.condition, len(*args)+1))
			}
			if len(anyOf) > 0 {
				text += " AND (" + strings.Join(anyOf, " OR ") + ")"
			}
		}
		return []string{text}
	}
}

// listedRow takes the columns of a row one after the other.
type listedRow struct {
	db.Cells
	column int
	ids    []uuid.UUID
}

func (r *listedRow) next() bool {
	r.column = -1
	return r.Cells.Next()
}

func (r *listedRow) text() string {
	r.column++
	text, _ := r.Cells.Text(r.column)
	return text
}

func (r *listedRow) textIfAny() *string {
	r.column++
	text, known := r.Cells.Text(r.column)
	if !known {
		return nil
	}
	return new(text) // text itself would be allocated for every row
}

func (r *listedRow) number() int64 {
	r.column++
	number, _ := r.Cells.Number(r.column)
	return number
}

func (r *listedRow) minor() payment.Minor { return payment.Minor(r.number()) }

func (r *listedRow) minorIfAny() *payment.Minor {
	r.column++
	number, known := r.Cells.Number(r.column)
	if !known {
		return nil
	}
	return new(payment.Minor(number))
}

func (r *listedRow) instant() time.Time {
	r.column++
	micros, known := r.Cells.Number(r.column)
	if !known {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func (r *listedRow) date() (d payment.Date) {
	if text := r.text(); text != "" {
		d, _ = payment.ParseDate(text)
	}
	return d
}

func (r *listedRow) id() uuid.UUID {
	r.column++
	id, _ := r.Cells.ID(r.column)
	return id
}

// idIfAny keeps ids in pieces of memory that many of them share.
func (r *listedRow) idIfAny() *uuid.UUID {
	const pieceSize = 512
	r.column++
	id, known := r.Cells.ID(r.column)
	if !known {
		return nil
	}
	if len(r.ids) == cap(r.ids) {
		r.ids = make([]uuid.UUID, 0, pieceSize)
	}
	r.ids = append(r.ids, id)
	return &r.ids[len(r.ids)-1]
}
