package db

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// lookLanes is how many groups of looks may be under way. They wait for nothing but their way, so that a second lane
	// would halve the groups and save no time.
	lookLanes = 1
	// lookPatience is how long one may be held up before others are opened beside it.
	lookPatience = 5 * time.Millisecond
)

// planLook is planFor for groups of looks, which keep one plan for groups of any size. PostgreSQL takes an array that it
// does not know for one of ten and finds a plan for five cheaper: left to itself it would make one for each group.
const planLook = planFor + `, set_config('plan_cache_mode', 'force_generic_plan', TRUE)`

// look is a read by a key that goes to PostgreSQL together with those of the same words
// that come at the same time: asking is dearer than finding.
type look struct {
	ctx   context.Context
	args  []any
	found foundRows
	done  chan error
}

// lookLanesOf are where the looks of one text gather, those of each purpose for themselves: a table that
// somebody has locked holds up those who read it, and nobody else.
type lookLanesOf struct{ known sync.Map }

type lookKind struct {
	text    string
	purpose Purpose
}

func (l *lookLanesOf) of(p *postgres, kind lookKind) *gatherer[*look] {
	if lanes, known := l.known.Load(kind); known {
		return lanes.(*gatherer[*look])
	}
	lanes, _ := l.known.LoadOrStore(kind, &gatherer[*look]{
		serve: func(group []*look) { p.lookTogether(kind.text, group) },
		lanes: lookLanes, size: sharedSize, spare: spareLanes, patience: lookPatience,
	})
	return lanes.(*gatherer[*look])
}

func (p *postgres) lookUp(ctx context.Context, text string, args ...any) (Rows, error) {
	text, args = p.clock.write(text, direct(args))
	l := &look{ctx: ctx, args: args, done: make(chan error, 1)}
	p.looks.of(p, lookKind{text, PurposeOf(ctx)}).add(l)
	select {
	case err := <-l.done:
		if errors.Is(err, errGroupGivenUp) {
			return p.query(ctx, text, args...)
		}
		return &l.found, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lookTogether reads for all who are still there.
func (p *postgres) lookTogether(text string, group []*look) {
	group = slices.DeleteFunc(group, func(l *look) bool { return l.ctx.Err() != nil })
	if len(group) == 0 {
		return
	}
	ctx, cancel := patienceOf(group, func(l *look) context.Context { return l.ctx })
	defer cancel()
	err := silence(ctx, p.lookFor(ctx, text, group))
	if len(group) > 1 && wasTakenBack(err) {
		err = errGroupGivenUp
	}
	for _, l := range group {
		l.done <- err
	}
}

func (p *postgres) lookFor(ctx context.Context, text string, group []*look) error {
	berth, err := p.berths.take(ctx)
	if err != nil {
		return err
	}
	defer func() { <-berth }()
	if len(group) == 1 {
		return p.lookAlone(ctx, text, group[0])
	}
	form, err := p.forms.of(ctx, p, statement{sql: text}, text)
	if err != nil {
		return err
	}
	all := set{rows: make([][]any, len(group))}
	for i, l := range group {
		all.rows[i] = l.args
	}
	batch := &pgx.Batch{}
	batch.Queue(planLook, p.shared.rowPatience.String())
	batch.Queue(form, all.columns()...)
	results := p.connections.SendBatch(ctx, batch)
	return errors.Join(share(results, group), results.Close())
}

func (p *postgres) lookAlone(ctx context.Context, text string, l *look) error {
	rows, err := p.connections.Query(ctx, text, l.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if l.found.fields == nil {
			l.found.fields = slices.Clone(rows.FieldDescriptions())
		}
		l.found.keep(l.found.fields, rows.RawValues())
	}
	return rows.Err()
}

// share gives everybody in a group what was found for him.
func share(results pgx.BatchResults, group []*look) error {
	if _, err := results.Exec(); err != nil {
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	var fields []pgconn.FieldDescription // for all rows alike
	for rows.Next() {
		if fields == nil {
			fields = slices.Clone(rows.FieldDescriptions())
		}
		raw := rows.RawValues()
		last := len(raw) - 1
		member, ok := wholeNumber(fields[last].DataTypeOID, raw[last])
		if !ok || member < 1 || int(member) > len(group) {
			return errors.New("db: a row was found for nobody")
		}
		group[member-1].found.keep(fields[:last], raw[:last])
	}
	return rows.Err()
}

// foundRows are the rows of a look, read to their end.
type foundRows struct {
	fields []pgconn.FieldDescription
	rows   [][][]byte
	next   int
}

// keep copies a row: what the driver shows is overwritten by the next one. What is said of the columns the caller has
// copied, once for all rows.
func (r *foundRows) keep(fields []pgconn.FieldDescription, raw [][]byte) {
	size := 0
	for _, value := range raw {
		size += len(value)
	}
	piece, kept := make([]byte, 0, size), make([][]byte, len(raw))
	for i, value := range raw {
		if value != nil {
			from := len(piece)
			piece = append(piece, value...)
			kept[i] = piece[from:len(piece):len(piece)]
		}
	}
	r.fields = fields
	r.rows = append(r.rows, kept)
}

func (r *foundRows) Next() bool {
	r.next++
	return r.next <= len(r.rows)
}

func (r *foundRows) RawValues() [][]byte    { return r.rows[r.next-1] }
func (r *foundRows) Scan(into ...any) error { return scanRow(r.fields, r.RawValues(), into) }
func (r *foundRows) Err() error             { return nil }
func (r *foundRows) Close()                 {}
func (r *foundRows) Cells() Cells           { return &postgresCells{rows: r} }

// lookForMany is a query for many keys. Each row that is found says at its end for whom.
func lookForMany(text, arrays, names string) string {
	return "SELECT found.*, many.member FROM unnest(" + arrays + ") WITH ORDINALITY AS many (" + names + ", member) CROSS JOIN LATERAL (" +
		place.ReplaceAllString(strings.TrimSpace(text), "many.p$1") + ") found"
}
