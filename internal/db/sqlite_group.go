package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/riverqueue/river"
)

// groupSize bounds how many units of work share one commit.
const groupSize = 64

// errStoreClosed is the answer to a write after the store was closed.
var errStoreClosed = errors.New("db: closed")

// unit is somebody's work waiting for its turn, and their answer.
type unit struct {
	ctx  context.Context
	at   time.Time
	work func(*Tx) error
	// refusal is why the unit was taken back, nil where it was not.
	refusal error
	done    chan error
}

// groupCommit runs concurrent units of work in one transaction, because a sync
// to disk costs more than all else: each is answered after the one commit. When
// one is refused they run once more, each under a savepoint of its own. The
// closures run here, on one goroutine, since the connection may only be used by
// one.
type groupCommit struct {
	writer *sql.DB
	queue  *river.Client[*sql.Tx]
	clock  *sharedClock
	// intact tells that what is written can be found again.
	intact func() error
	turns  *turns
	units  chan *unit

	stopOnce sync.Once
	stopping chan struct{}
	stopped  chan struct{}
}

func newGroupCommit(writer *sql.DB, queue *river.Client[*sql.Tx], shared *sharedClock, intact func() error, among *turns) *groupCommit {
	g := &groupCommit{
		writer: writer, queue: queue, clock: shared, intact: intact, turns: among, units: make(chan *unit),
		stopping: make(chan struct{}), stopped: make(chan struct{}),
	}
	go g.loop()
	return g
}

// do waits until the unit is committed or refused. A caller may go away while it
// queues; once begun, a unit runs to its end and its answer is the truth.
func (g *groupCommit) do(ctx context.Context, at time.Time, work func(*Tx) error) error {
	u := &unit{ctx: ctx, at: at, work: work, done: make(chan error, 1)}
	select {
	case g.units <- u:
	case <-ctx.Done():
		return ctx.Err()
	case <-g.stopping:
		return errStoreClosed
	}
	return <-u.done
}

func (g *groupCommit) stop() {
	g.stopOnce.Do(func() { close(g.stopping) })
	<-g.stopped
}

func (g *groupCommit) loop() {
	defer close(g.stopped)
	for {
		select {
		case first := <-g.units:
			g.commit(first)
		case <-g.stopping:
			return
		}
	}
}

// commit runs the first unit and those that wait behind it, then answers all.
func (g *groupCommit) commit(first *unit) {
	// A unit's own context must not reach the shared transaction: cancelling
	// one would roll back all of them.
	ctx := context.Background()
	units, tx, err := g.runTogether(ctx, first)
	if err == nil && tx == nil && len(units) > 1 {
		units, tx, err = g.runApart(ctx, units)
	}
	if err == nil && tx != nil {
		err = g.finish(tx)
	}
	answer(units, err)
}

// runTogether runs units without savepoints, for which SQLite would keep a copy of
// every page that they touch. When one is refused all are taken back, and there is no
// transaction any more.
func (g *groupCommit) runTogether(ctx context.Context, first *unit) (ran []*unit, tx *sql.Tx, err error) {
	if tx, err = g.begin(ctx); err != nil {
		return []*unit{first}, nil, err
	}
	for u := first; u != nil; u = g.next(len(ran)) {
		ran = append(ran, u)
		if u.refusal = u.ctx.Err(); u.refusal != nil {
			continue
		}
		if u.refusal = g.attempt(ctx, tx, u); u.refusal != nil {
			_ = tx.Rollback() // it may have been rolled back already, as when the disk is full
			return ran, nil, nil
		}
	}
	return ran, tx, nil
}

// runApart runs units of which one was refused, and those that wait behind them, each
// under a savepoint of its own.
func (g *groupCommit) runApart(ctx context.Context, again []*unit) (ran []*unit, tx *sql.Tx, err error) {
	if tx, err = g.begin(ctx); err != nil {
		return again, nil, err
	}
	for u := again[0]; u != nil; {
		ran = append(ran, u)
		u.refusal = g.runUnit(ctx, tx, u)
		if lost, ok := errors.AsType[*lostTransactionError](u.refusal); ok {
			_ = tx.Rollback()
			return append(ran, again[min(len(ran), len(again)):]...), nil, lost
		}
		if len(ran) < len(again) {
			u = again[len(ran)]
		} else {
			u = g.next(len(ran))
		}
	}
	return ran, tx, nil
}

func (g *groupCommit) begin(ctx context.Context) (*sql.Tx, error) {
	begun := g.turns.take()
	defer begun()
	tx, err := g.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("db: begin: %w", err)
	}
	return tx, nil
}

func (g *groupCommit) finish(tx *sql.Tx) error {
	err := tx.Commit()
	if err == nil {
		err = g.intact()
	}
	if err != nil {
		_ = tx.Rollback()
		return fmt.Errorf("db: commit: %w", err)
	}
	return nil
}

// next gives a unit that is already waiting, or nil. Units that failed count
// too: a stream of them must not keep the others from being committed.
func (g *groupCommit) next(ran int) *unit {
	if ran >= groupSize {
		return nil
	}
	select {
	case u := <-g.units:
		return u
	default:
		return nil
	}
}

// answer tells every unit what became of it, those that were refused too, and
// only now: a refusal rests on what its neighbours wrote, and whoever hears of
// it must be able to read that.
func answer(units []*unit, lost error) {
	for _, u := range units {
		if lost != nil {
			u.done <- lost
		} else {
			u.done <- u.refusal
		}
	}
}

// lostTransactionError is a failure that takes every unit of the group with it.
type lostTransactionError struct{ cause error }

func (e *lostTransactionError) Error() string { return "db: transaction lost: " + e.cause.Error() }
func (e *lostTransactionError) Unwrap() error { return e.cause }

// runUnit runs one unit under a savepoint and takes it back when it fails.
func (g *groupCommit) runUnit(ctx context.Context, tx *sql.Tx, u *unit) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT unit"); err != nil {
		return &lostTransactionError{err}
	}
	failure := g.attempt(ctx, tx, u)
	if failure != nil {
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO unit"); err != nil {
			return &lostTransactionError{errors.Join(failure, err)}
		}
	}
	if _, err := tx.ExecContext(ctx, "RELEASE unit"); err != nil {
		return &lostTransactionError{errors.Join(failure, err)}
	}
	return failure
}

// attempt runs the closure; one that panics fails alone.
func (g *groupCommit) attempt(ctx context.Context, tx *sql.Tx, u *unit) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("db: unit of work panicked: %v", cause)
		}
	}()
	unitTx := &Tx{At: u.at, ctx: ctx, conv: sqliteConversation{tx: tx, queue: g.queue, clock: g.clock}}
	if err := u.work(unitTx); err != nil {
		return err
	}
	return unitTx.flush()
}
