package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// sharedLanes is how many groups of one kind may be under way. Fewer make larger
	// groups and less work; with one nobody goes on while it waits for the disk.
	sharedLanes = 2
	// spareLanes are opened for a while when all others are held up for lanePatience.
	spareLanes   = 2
	lanePatience = 20 * time.Millisecond
	// sharedSize bounds how many units have to run again when one is refused.
	sharedSize = 32
	// sharedPatience is for a database that does not answer any more, where somebody
	// in a group has no deadline of his own.
	sharedPatience = 30 * time.Second
	// rowPatience is how long a group waits for a row that somebody holds. Then its
	// units run by themselves, and the one that needs the row waits alone.
	rowPatience = 100 * time.Millisecond
)

// sharedUnit is a unit that commits with those that come at the same time.
type sharedUnit struct {
	ctx        context.Context
	statements []statement
	row        string
	// isBegun is set by whoever comes first: the group that takes the unit on, or a
	// caller who leaves before.
	isBegun atomic.Bool
	done    chan error
}

// errGroupGivenUp tells a unit to run by itself: somebody in its group was refused,
// and PostgreSQL takes all of a group back then.
var errGroupGivenUp = errors.New("db: the group was given up")

// sharedLanesOf are the lanes of each kind of unit, which is the table that they queue
// for: those of one kind never wait for another's.
type sharedLanesOf struct {
	// rowPatience is 0 for as long as it takes.
	rowPatience time.Duration

	mu     sync.Mutex
	byKind map[string]*gatherer[*sharedUnit]
}

func (p *postgres) lanesOf(kind string) *gatherer[*sharedUnit] {
	p.shared.mu.Lock()
	defer p.shared.mu.Unlock()
	lanes, known := p.shared.byKind[kind]
	if !known {
		lanes = &gatherer[*sharedUnit]{
			serve: p.commitTogether, lanes: sharedLanes, size: sharedSize, spare: spareLanes, patience: lanePatience,
		}
		p.shared.byKind[kind] = lanes
	}
	return lanes
}

// writeShared waits for the unit's group. A caller may leave while he queues; once
// the group is sent, only a deadline ends his wait, as with statements of his own.
func (p *postgres) writeShared(ctx context.Context, tx *Tx) error {
	u := &sharedUnit{ctx: ctx, statements: tx.pending, row: tx.sharedRow, done: make(chan error, 1)}
	p.lanesOf(tx.sharedKind).add(u)
	select {
	case err := <-u.done:
		return err
	case <-ctx.Done():
		if u.isBegun.CompareAndSwap(false, true) {
			return ctx.Err()
		}
	}
	within, cancel := toTheEnd(ctx)
	defer cancel()
	select {
	case err := <-u.done:
		return err
	case <-within.Done():
		return within.Err()
	}
}

// commitTogether sends all units as one pipeline, which PostgreSQL commits as a
// whole. Rows are taken in one order, so that groups of any two processes never
// wait for each other in a circle.
func (p *postgres) commitTogether(units []*sharedUnit) {
	units = slices.DeleteFunc(units, func(u *sharedUnit) bool { return !u.isBegun.CompareAndSwap(false, true) })
	if len(units) == 0 {
		return
	}
	slices.SortStableFunc(units, func(a, b *sharedUnit) int { return cmp.Compare(a.row, b.row) })
	ctx, cancel := patienceOf(units, func(u *sharedUnit) context.Context { return u.ctx })
	defer cancel()
	err := silence(ctx, p.commit(ctx, units))
	for _, u := range units {
		u.done <- err
	}
}

func (p *postgres) commit(ctx context.Context, units []*sharedUnit) error {
	if len(units) == 1 {
		return p.commitAlone(ctx, units[0])
	}
	batch, err := p.batchOfGroup(ctx, units)
	if err == nil {
		err = p.connections.SendBatch(ctx, batch).Close()
	}
	if wasTakenBack(err) {
		return errGroupGivenUp
	}
	return err
}

// commitAlone is for one that found nobody beside it. It hears its own refusal.
func (p *postgres) commitAlone(ctx context.Context, u *sharedUnit) error {
	statements := append([]statement{{sql: `SELECT set_config('lock_timeout', $1, TRUE)`, args: []any{p.shared.rowPatience.String()}}}, u.statements...)
	err := pipeline(p.connections.SendBatch(ctx, p.batchOf(statements)), statements)
	if hasCode(err, pgLockNotAvailable) {
		return errGroupGivenUp
	}
	return err
}

// patienceOf lasts as long as that of the last of a group: beyond it nobody hears the answer, and a lane that waits for a
// dead connection keeps others from one that works.
func patienceOf[T any](group []T, of func(T) context.Context) (context.Context, context.CancelFunc) {
	within := context.WithoutCancel(of(group[0]))
	var last time.Time
	for _, member := range group {
		deadline, bounded := of(member).Deadline()
		if !bounded {
			return context.WithTimeout(within, sharedPatience)
		}
		if deadline.After(last) {
			last = deadline
		}
	}
	return context.WithDeadline(within, last)
}

// silence names the end of a group's patience. It is that of its last member too, who must not have to look at a clock
// of his own that may be a moment behind.
func silence(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return err
}

// wasTakenBack tells that PostgreSQL itself refused a statement. After any other
// error nobody knows whether the commit was reached, and nothing may run again.
func wasTakenBack(err error) bool {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refusal.SeverityUnlocalized == "ERROR"
}
