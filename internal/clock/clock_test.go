package clock_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sepad/internal/clock"
)

// offsets stands for the database: it counts reads and can fail or hang.
type offsets struct {
	value time.Duration
	err   error
	hangs bool
	reads int
}

func (o *offsets) read(ctx context.Context) (time.Duration, error) {
	o.reads++
	if o.hangs {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return o.value, o.err
}

// pass lets the bubble's time go by.
func pass(d time.Duration) { <-time.After(d) }

func wantAhead(t *testing.T, c clock.Clock, want time.Duration) {
	t.Helper()
	if ahead := time.Until(c.Now()); ahead != want {
		t.Errorf("the clock is %s ahead, want %s", ahead, want)
	}
}

func wantReads(t *testing.T, o *offsets, want int) {
	t.Helper()
	if o.reads != want {
		t.Errorf("the offset was read %d times, want %d", o.reads, want)
	}
}

// inBubble runs a test on a movable clock in a time of its own.
func inBubble(t *testing.T, test func(t *testing.T, c *clock.Movable, o *offsets)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &offsets{value: time.Hour}
		test(t, clock.NewMovable(clock.Real{}, o.read), o)
	})
}

func TestMovable(t *testing.T) {
	t.Parallel()

	t.Run("an offset is relied on for one lease and then read again", func(t *testing.T) {
		inBubble(t, func(t *testing.T, c *clock.Movable, o *offsets) {
			wantAhead(t, c, time.Hour)
			o.value = 2 * time.Hour
			pass(clock.Lease)
			wantAhead(t, c, time.Hour)
			wantReads(t, o, 1)
			pass(time.Microsecond)
			wantAhead(t, c, 2*time.Hour)
			wantReads(t, o, 2)
		})
	})

	t.Run("a refresh does not wait for the lease", func(t *testing.T) {
		inBubble(t, func(t *testing.T, c *clock.Movable, o *offsets) {
			wantAhead(t, c, time.Hour)
			o.value = 2 * time.Hour
			if err := c.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantAhead(t, c, 2*time.Hour)
			wantReads(t, o, 2)
		})
	})

	t.Run("a refresh that fails says so", func(t *testing.T) {
		inBubble(t, func(t *testing.T, c *clock.Movable, o *offsets) {
			o.err = errors.New("no database")
			if err := c.Refresh(t.Context()); !errors.Is(err, o.err) {
				t.Errorf("got %v", err)
			}
		})
	})

	t.Run("a failing read keeps the last offset and is tried once a lease", func(t *testing.T) {
		inBubble(t, func(t *testing.T, c *clock.Movable, o *offsets) {
			wantAhead(t, c, time.Hour)
			o.err = errors.New("no database")
			pass(clock.Lease + time.Microsecond)
			for range 3 {
				wantAhead(t, c, time.Hour)
			}
			wantReads(t, o, 2)
			pass(clock.Lease + time.Microsecond)
			wantAhead(t, c, time.Hour)
			wantReads(t, o, 3)
		})
	})

	t.Run("a read that hangs is given up after a second and not begun again at once", func(t *testing.T) {
		inBubble(t, func(t *testing.T, c *clock.Movable, o *offsets) {
			o.hangs = true
			began := time.Now()
			wantAhead(t, c, 0)
			if took := time.Since(began); took != time.Second {
				t.Errorf("the clock stood for %s", took)
			}
			wantAhead(t, c, 0)
			wantReads(t, o, 1)
		})
	})
}

// TestAClockFarFromItsDatabase has many ask while a read takes longer than its offset
// may be relied on.
func TestAClockFarFromItsDatabase(t *testing.T) {
	t.Parallel()
	const far, askers, every = 3 * clock.Lease, 200, 10 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var moved atomic.Int64
		reads, began := 0, time.Now()
		c := clock.NewMovable(clock.Real{}, func(context.Context) (time.Duration, error) {
			reads++
			found := moved.Load()
			pass(far)
			return time.Duration(found), nil
		})
		var asking sync.WaitGroup
		for i := range askers {
			asking.Go(func() {
				pass(time.Duration(i) * every)
				came := time.Now()
				seen := time.Until(c.Now())
				if waited := time.Since(came); waited > 2*far {
					t.Errorf("one who came after %s waited %s", came.Sub(began), waited)
				}
				if came.Sub(began) > time.Second+clock.Lease && seen != time.Hour {
					t.Errorf("one who came after %s, when the clock had been moved, sees %s", came.Sub(began), seen)
				}
			})
		}
		pass(time.Second)
		moved.Store(int64(time.Hour))
		asking.Wait()
		if most := int(time.Since(began)/far) + 1; reads > most {
			t.Errorf("%d reads, want %d at most", reads, most)
		}
	})
}

func TestInstant(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("CET", 3600)
	got := clock.Instant(time.Date(2026, 3, 2, 1, 0, 0, 123456789, berlin))
	if want := time.Date(2026, 3, 2, 0, 0, 0, 123456000, time.UTC); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
