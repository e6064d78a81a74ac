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
	"sync"
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

// Lease is how long a process may rely on an offset it has read. Whoever moves
// the clock waits this long before saying so, and then every process agrees.
const Lease = 200 * time.Millisecond

// readLimit bounds how long the offset is waited for: a database that hangs must
// not stop the clock for good.
const readLimit = time.Second

// Movable is real time plus an offset read from outside.
type Movable struct {
	read func(context.Context) (time.Duration, error)

	mu     sync.Mutex
	offset time.Duration
	// freshUntil is when the offset is read anew.
	freshUntil time.Time
}

// NewMovable makes a clock whose offset is given by read.
func NewMovable(read func(context.Context) (time.Duration, error)) *Movable {
	return &Movable{read: read}
}

// Now is the moved time. When the offset cannot be read the last known one is
// kept: the database that cannot be read cannot be written either.
func (c *Movable) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().After(c.freshUntil) {
		_ = c.refresh(context.Background())
	}
	return Instant(time.Now().Add(c.offset))
}

// Refresh reads the offset now.
func (c *Movable) Refresh(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
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
