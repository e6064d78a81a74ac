// Package clock is the only place that reads the time.
//
// Production uses Real. The sandbox uses a Movable clock: real time plus an
// offset that lies in the database, so that every process of an installation
// agrees (docs/adr/0009). Instants are UTC with microseconds, which is what
// both databases keep, so that a value read back equals the one written.
package clock

import (
	"context"
	"fmt"
	"time"
)

// Clock tells the service's time.
type Clock interface {
	Now() time.Time
}

// Real is the world's time.
type Real struct{}

// Now is the present instant.
func (Real) Now() time.Time { return Instant(time.Now()) }

// Instant brings a time to the form in which it is kept.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// started is when this program began, by both of the machine's clocks.
var started = time.Now()

// Steady is this program's own time, which never jumps: the wall's time when the
// program began, and what has passed since then. It is for comparing instants of
// one process with each other, and says nothing to another process.
func Steady() time.Time { return Instant(started.Add(time.Since(started))) }

// Own is a process's own steady time as a Clock.
type Own struct{}

// Now is the present instant.
func (Own) Now() time.Time { return Steady() }

// Deadline is when a process must have done something that it has promised to
// others. It has passed as soon as either of the machine's clocks says so: the
// steady one stands still while the machine sleeps, and the wall's may be put back.
type Deadline struct {
	own    Clock
	from   time.Time
	wall   time.Time
	within time.Duration
}

// Within begins a deadline now, on a process's own clock.
func Within(own Clock, d time.Duration) Deadline {
	return Deadline{own: own, from: own.Now(), wall: time.Now().Round(0), within: d}
}

// IsSet tells a deadline from none at all.
func (d Deadline) IsSet() bool { return d.own != nil }

// Left is how much time there is still, negative when it has passed.
func (d Deadline) Left() time.Duration {
	return d.within - max(d.own.Now().Sub(d.from), time.Now().Round(0).Sub(d.wall))
}

// Lease is how long a process may rely on an offset it has read. Whoever moves
// the clock waits this long before saying so, and then every process agrees.
const Lease = 200 * time.Millisecond

// Outlast lets a time pass for which other processes may rely on what they have read.
func Outlast(ctx context.Context, lease time.Duration) error {
	timer := time.NewTimer(lease)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readLimit bounds how long the offset is waited for: a database that hangs must
// not stop the clock for good.
const readLimit = time.Second

// Movable is real time plus an offset read from outside.
type Movable struct {
	real Clock
	read func(context.Context) (time.Duration, error)

	// turn is held by whoever looks at the offset. It is no mutex, at which the time of
	// a test's bubble would stand still.
	turn   chan struct{}
	offset time.Duration
	// freshUntil is when the offset is read anew.
	freshUntil time.Time
}

// NewMovable makes a clock that is ahead of the world's by what read gives.
func NewMovable(world Clock, read func(context.Context) (time.Duration, error)) *Movable {
	return &Movable{real: world, read: read, turn: make(chan struct{}, 1)}
}

// Now is the moved time. When the offset cannot be read the last known one is
// kept: the database that cannot be read cannot be written either. Whoever comes while
// the offset is being read shares what is found, if that was fresh when he came:
// otherwise those who wait for a database far away would each read it after the other.
func (c *Movable) Now() time.Time {
	came := time.Now()
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	if came.After(c.freshUntil) {
		_ = c.refresh(context.Background())
	}
	return c.real.Now().Add(c.offset)
}

// OffsetTo is how far ahead of the world's time the clock has to be to show an
// instant now.
func (c *Movable) OffsetTo(at time.Time) time.Duration { return at.Sub(c.real.Now()) }

// Refresh reads the offset now.
func (c *Movable) Refresh(ctx context.Context) error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	return c.refresh(ctx)
}

// refresh counts the lease of a good offset from before it was asked for, since
// it may have been moved while the answer was on its way. After a failure the
// lease is the wait before the next try.
func (c *Movable) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	asked := time.Now()
	offset, err := c.read(ctx)
	if err != nil {
		c.freshUntil = time.Now().Add(Lease)
		return fmt.Errorf("reading the sandbox clock: %w", err)
	}
	c.offset, c.freshUntil = offset, asked.Add(Lease)
	return nil
}
