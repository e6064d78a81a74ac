package limit

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/testenv"
)

// patiences are one that counts alone, and two that count together.
func patiences(t *testing.T) map[string][]*Patience {
	t.Helper()
	url := testenv.RedisURL(t)
	var together []*Patience
	for range 2 {
		var p Patience
		p.Share(byOurTime(newLimiter(t, Settings{RedisURL: url, patience: unhurried})), Scope(t.Name()))
		together = append(together, &p)
	}
	return map[string][]*Patience{"one process": {{}}, "two processes on one Redis": together}
}

func TestWaitsGrowAndEnd(t *testing.T) {
	t.Parallel()
	for name, processes := range patiences(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := 0
			attempt := func(now time.Time) time.Duration {
				turn++ // a proxy sends each try elsewhere
				return processes[turn%len(processes)].Attempt(t.Context(), "pair", now)
			}
			now, last := start, time.Duration(0)
			for i := range 40 {
				wait := attempt(now)
				if (i < FreeGuesses) != (wait == 0) {
					t.Fatalf("guess %d waits %s", i, wait)
				}
				if wait > 0 {
					if wait < last || wait > longestWait {
						t.Errorf("guess %d waits %s after %s", i, wait, last)
					}
					last = wait
					now = now.Add(wait)
					if attempt(now) != 0 {
						t.Error("the wait does not end")
					}
				}
			}
			if last != longestWait {
				t.Errorf("the longest wait is %s", last)
			}
			if wait := processes[0].Attempt(t.Context(), "another", now); wait != 0 {
				t.Errorf("another one waits %s", wait)
			}
			if wait := attempt(now.Add(forgottenAfter + time.Second)); wait != 0 {
				t.Errorf("after an hour it still waits %s", wait)
			}
		})
	}
}

func TestWhoWasRightBeginsAnew(t *testing.T) {
	t.Parallel()
	for name, processes := range patiences(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range FreeGuesses {
				processes[0].Attempt(t.Context(), "pair", start)
			}
			if processes[len(processes)-1].Attempt(t.Context(), "pair", start) == 0 {
				t.Fatal("nobody waits")
			}
			processes[0].Forget(t.Context(), "pair", start)
			for i := range FreeGuesses {
				if wait := processes[i%len(processes)].Attempt(t.Context(), "pair", start); wait != 0 {
					t.Errorf("guess %d afterwards waits %s", i, wait)
				}
			}
		})
	}
}

func TestGuessesAtOnceAreAllCounted(t *testing.T) {
	t.Parallel()
	for name, processes := range patiences(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heard atomic.Int64
			var guessing sync.WaitGroup
			for i := range 40 {
				guessing.Go(func() {
					if processes[i%len(processes)].Attempt(t.Context(), "pair", start) == 0 {
						heard.Add(1)
					}
				})
			}
			guessing.Wait()
			if heard.Load() != FreeGuesses {
				t.Errorf("%d guesses at once were heard", heard.Load())
			}
		})
	}
}

func TestWhoGuessesIsCountedAmongMany(t *testing.T) {
	t.Parallel()
	var p Patience
	for i := range maxGuessers {
		p.Attempt(t.Context(), strconv.Itoa(i), start)
	}
	for range FreeGuesses {
		p.Attempt(t.Context(), "pair", start)
	}
	if p.Attempt(t.Context(), "pair", start) == 0 {
		t.Error("among many, one more does not wait")
	}
	if len(p.guesses) != maxGuessers {
		t.Errorf("%d are kept", len(p.guesses))
	}
}

func TestWaitsHoldWithoutRedis(t *testing.T) {
	t.Parallel()
	door := newDoor(t, testenv.RedisURL(t))
	var p Patience
	p.Share(byOurTime(newLimiter(t, Settings{RedisURL: "redis://" + door.address})), Scope(t.Name()))
	for range FreeGuesses {
		p.Attempt(t.Context(), "pair", start)
	}
	door.shut()
	if p.Attempt(t.Context(), "pair", start) == 0 {
		t.Error("without Redis somebody begins anew")
	}
}
