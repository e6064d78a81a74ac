package turn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turns Turns[string]
		take := func(key string) (leave func(), hasWaited bool) {
			t.Helper()
			leave, hasWaited, err := turns.Take(t.Context(), key, 2)
			if err != nil {
				t.Fatal(err)
			}
			return leave, hasWaited
		}
		first, _ := take("one")
		second, hasWaited := take("one")
		other, _ := take("other")
		if hasWaited {
			t.Error("there was room, and it was not taken at once")
		}
		patient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if _, _, err := turns.Take(patient, "one", 2); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("a third one: %v after %v", err, time.Since(began))
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := turns.Take(gone, "one", 2); !errors.Is(err, context.Canceled) {
			t.Errorf("who had gone: %v", err)
		}
		time.AfterFunc(time.Second, first)
		began = time.Now()
		third, hasWaited := take("one")
		if waited := time.Since(began); waited != time.Second || !hasWaited {
			t.Errorf("a turn that was left was taken after %v, waited %t", waited, hasWaited)
		}
		second()
		third()
		other()
		if len(turns.lines) != 0 {
			t.Errorf("%d lines are kept in which nobody is", len(turns.lines))
		}
	})
}

// TestTurnsOfMany has many come at once where one is let in at a time.
func TestTurnsOfMany(t *testing.T) {
	t.Parallel()
	var turns Turns[string]
	var inside, most, done atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			leave, _, err := turns.Take(t.Context(), "one", 1)
			if err != nil {
				t.Error(err)
				return
			}
			if now := inside.Add(1); now > most.Load() {
				most.Store(now)
			}
			done.Add(1)
			inside.Add(-1)
			leave()
		})
	}
	all.Wait()
	if most.Load() != 1 || done.Load() != 50 || len(turns.lines) != 0 {
		t.Errorf("%d were let in, %d at a time, %d lines are left", done.Load(), most.Load(), len(turns.lines))
	}
}
