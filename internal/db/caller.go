package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sepad/internal/clock"
)

// Purpose is what somebody who waits for an answer wants of the database. Each one has a queue and a part of the
// connections of its own, so that none can hold up the others: a table that somebody has locked stops payments, and
// nothing else.
type Purpose int8

const (
	// Unattended is work that nobody waits for: jobs and commands take the time that they take.
	Unattended Purpose = iota
	Ordinary
	Paying
	Listing
	purposes
)

// ErrBusy tells that a piece of work was not begun: it could not have been done in time.
var ErrBusy = errors.New("db: more work than can be done in time")

// ErrSilent tells that the database did not answer in time. Nobody knows what became of a write.
var ErrSilent = errors.New("db: the database does not answer in time")

// caller is somebody who waits.
type caller struct {
	purpose  Purpose
	patience time.Duration
	// admitted is set with the first piece of work: what was begun is brought to its end.
	admitted atomic.Bool
}

type callerKey struct{}

// Attend marks work for which somebody waits, with as much patience for each step as is given.
func Attend(ctx context.Context, purpose Purpose, patience time.Duration) context.Context {
	return context.WithValue(ctx, callerKey{}, &caller{purpose: purpose, patience: patience})
}

func callerOf(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// PurposeOf is what somebody wants.
func PurposeOf(ctx context.Context) Purpose {
	if c := callerOf(ctx); c != nil {
		return c.purpose
	}
	return Unattended
}

// Admit tells somebody at the door, before anything is done for him, whether his work would be begun. What is refused
// costs nothing but this look, and lists are refused while payments wait.
func (d *DB) Admit(ctx context.Context) error {
	c := callerOf(ctx)
	if c == nil || !d.IsFull(c.purpose) && (c.purpose != Listing || !d.queues[Paying].isPressed()) {
		return nil
	}
	return ErrBusy
}

// IsFull tells that no work for a purpose would be begun now.
func (d *DB) IsFull(purpose Purpose) bool { return !d.queues[purpose].hasRoom() }

// begin admits a step of somebody's work and bounds it; end must be called after it.
func (d *DB) begin(ctx context.Context) (within context.Context, end func(), err error) {
	c := callerOf(ctx)
	if c == nil {
		return ctx, func() {}, nil
	}
	queue := &d.queues[c.purpose]
	if !queue.enter(c.admitted.Load()) {
		return ctx, nil, ErrBusy
	}
	c.admitted.Store(true)
	within, cancel := context.WithTimeout(ctx, c.patience)
	return within, func() { cancel(); queue.leave(clock.Steady()) }, nil
}

// toTheEnd is for statements that commit by themselves. A caller may leave while he queues; once they are sent nobody
// could tell whether they were committed, so that only the deadline ends them.
func toTheEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if callerOf(ctx) == nil || !bounded {
		return ctx, func() {}
	}
	return context.WithDeadline(context.WithoutCancel(ctx), deadline)
}

// late names what our own deadline has cut off, or a new connection that was not answered in time. A caller who has left is
// no fault of the database's.
func late(ctx, within context.Context, err error) error {
	if err != nil && ctx.Err() == nil && (errors.Is(within.Err(), context.DeadlineExceeded) || isUnanswered(err)) {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return err
}

// attendedRows ends a step when its rows are closed.
type attendedRows struct {
	Rows
	ctx, within context.Context
	once        sync.Once
	end         func()
}

// Err is where a query fails that was sent and not answered in time.
func (r *attendedRows) Err() error { return late(r.ctx, r.within, r.Rows.Err()) }

func (r *attendedRows) Close() {
	r.Rows.Close()
	r.once.Do(r.end)
}

const (
	// alwaysAdmitted may be under way whatever was measured: a first rush finds nothing measured yet.
	alwaysAdmitted = 256
	// stepTime is how long a step may take that is admitted, by how many were done lately. A payment has four.
	stepTime = 250 * time.Millisecond
	// measured is how long steps are counted for.
	measured = 100 * time.Millisecond
)

// turnstile lets as many steps in as can be done in time. What is under way divided by what ends in a second is how
// long a newcomer would wait; beyond the limit it is told so at once, and the work is not begun.
type turnstile struct {
	mu        sync.Mutex
	inside    int
	ended     int
	since     time.Time
	perSecond float64
}

// room is how many may be inside before newcomers are refused.
func (t *turnstile) room() int { return max(alwaysAdmitted, int(t.perSecond*stepTime.Seconds())) }

func (t *turnstile) hasRoom() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inside < t.room()
}

// isPressed tells that half of the room is taken: soon somebody will have to be refused.
func (t *turnstile) isPressed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return 2*t.inside >= t.room()
}

func (t *turnstile) enter(begun bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !begun && t.inside >= t.room() {
		return false
	}
	t.inside++
	return true
}

func (t *turnstile) leave(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inside--
	t.ended++
	if took := now.Sub(t.since); took >= measured {
		t.perSecond = (t.perSecond + float64(t.ended)/took.Seconds()) / 2
		t.since, t.ended = now, 0
	}
}

// berths are the connections that each purpose may hold at a time: no kind of work gets all of them.
type berths struct {
	of [purposes]chan struct{}
	// waits counts those who did not get one at once, waited their time.
	waits, waited atomic.Int64
}

// moor makes the berths, for half of the connections each.
func (b *berths) moor(connections int) {
	for purpose := range b.of {
		b.of[purpose] = make(chan struct{}, max(1, connections/2))
	}
}

// take waits for a berth, which is left by receiving from it.
func (b *berths) take(ctx context.Context) (chan struct{}, error) {
	berth := b.of[PurposeOf(ctx)]
	select {
	case berth <- struct{}{}:
		return berth, nil
	default:
	}
	began := clock.Steady()
	b.waits.Add(1)
	defer func() { b.waited.Add(int64(clock.Steady().Sub(began))) }()
	select {
	case berth <- struct{}{}:
		return berth, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
