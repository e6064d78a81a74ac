package db

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// sharedLanes is how many groups may be under way. Fewer make larger groups and
	// less work; with too few nobody goes on while they wait for the disk.
	sharedLanes = 4
	// sharedSize bounds how many units have to run again when one is refused.
	sharedSize = 32
	// sharedPatience is for a database that does not answer any more. No caller's
	// own patience may end the group for the others.
	sharedPatience = 30 * time.Second
)

// sharedUnit is a unit that commits with those that come at the same time.
type sharedUnit struct {
	ctx        context.Context
	statements []statement
	row        string
	done       chan error
}

// errGroupGivenUp tells a unit to run by itself: somebody in its group was refused,
// and PostgreSQL takes all of a group back then.
var errGroupGivenUp = errors.New("db: the group was given up")

// writeShared waits for the unit's group. A caller may go away meanwhile: then
// nobody hears what became of the unit, as with a connection that breaks.
func (p *postgres) writeShared(ctx context.Context, tx *Tx) error {
	u := &sharedUnit{ctx: ctx, statements: tx.pending, row: tx.sharedRow, done: make(chan error, 1)}
	p.shared.add(u)
	select {
	case err := <-u.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// commitTogether sends all units as one pipeline, which PostgreSQL commits as a
// whole. Rows are taken in one order, so that groups of any two processes never
// wait for each other in a circle.
func (p *postgres) commitTogether(units []*sharedUnit) {
	slices.SortStableFunc(units, func(a, b *sharedUnit) int { return cmp.Compare(a.row, b.row) })
	var statements []statement
	for _, u := range units {
		statements = append(statements, u.statements...)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(units[0].ctx), sharedPatience)
	defer cancel()
	results := p.connections.SendBatch(ctx, p.batchOf(statements))
	if len(units) == 1 {
		units[0].done <- pipeline(results, statements)
		return
	}
	err := results.Close()
	if wasTakenBack(err) {
		err = errGroupGivenUp
	}
	for _, u := range units {
		u.done <- err
	}
}

// wasTakenBack tells that PostgreSQL itself refused a statement. After any other
// error nobody knows whether the commit was reached, and nothing may run again.
func wasTakenBack(err error) bool {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refusal.SeverityUnlocalized == "ERROR"
}
