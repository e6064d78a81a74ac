package limit

import (
	"context"
	"maps"
	"sync"
	"time"
)

const (
	// maxGuesses is how many wrong credentials a caller may bring in guessWindow.
	maxGuesses  = 20
	guessWindow = time.Minute
	// maxGuessers bounds the memory. Beyond it somebody else is forgotten: who guesses
	// now is always counted.
	maxGuessers = 10_000
	// guessScope is what their keys in Redis begin with.
	guessScope Scope = "guess"
)

// Guesses count wrong credentials. A caller that has brought too many waits,
// whatever it brings next: otherwise the right one would tell itself. Processes
// that share a Redis count together; each counts for itself as well, so that while
// Redis is away nobody begins anew. The zero value counts alone.
type Guesses struct {
	shared *shared

	mu    sync.Mutex
	wrong map[string][]time.Time // by caller, the oldest first
	// sweptAt is when those whose guesses count no more were last looked for.
	sweptAt time.Time
}

// Guesses count where the limiter does.
func (l *Limiter) Guesses() *Guesses { return &Guesses{shared: l.shared} }

// Judge is how long a caller has to wait before it is heard, 0 for not at all; a
// wrong credential of one that is heard is counted. It is one step, so that many
// guesses at once do not all pass before the first is counted.
func (g *Guesses) Judge(ctx context.Context, key string, isWrong bool, now time.Time) time.Duration {
	if wait := g.judge(key, isWrong, now); wait > 0 || g.shared == nil {
		return wait
	}
	wait, _ := g.shared.slide(ctx, caller{guessScope, key}, maxGuesses, guessWindow, isWrong, now)
	return wait
}

// Forgive takes a caller's last guess back: it was counted before anybody knew that it
// was right.
func (g *Guesses) Forgive(ctx context.Context, key string, now time.Time) {
	if g.shared != nil {
		g.shared.forgive(ctx, caller{guessScope, key}, now)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if counted := g.wrong[key]; len(counted) > 1 {
		g.wrong[key] = counted[:len(counted)-1]
	} else {
		delete(g.wrong, key)
	}
}

// judge is what this process knows alone.
func (g *Guesses) judge(key string, isWrong bool, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	counted := recent(g.wrong[key], now)
	if len(counted) >= maxGuesses {
		return guessWindow - now.Sub(counted[len(counted)-maxGuesses])
	}
	if isWrong {
		g.count(key, counted, now)
	}
	return 0
}

func (g *Guesses) count(key string, counted []time.Time, now time.Time) {
	if g.wrong == nil {
		g.wrong = map[string][]time.Time{}
	}
	if counted == nil {
		makeRoom(g.wrong, &g.sweptAt, now, func(all []time.Time) bool { return recent(all, now) == nil })
	}
	g.wrong[key] = append(counted, now)
}

// recent are those of a caller's guesses that still count.
func recent(all []time.Time, now time.Time) []time.Time {
	for i, at := range all {
		if now.Sub(at) < guessWindow {
			return all[i:]
		}
	}
	return nil
}

// sweepEvery is how often a full memory is looked through for those whose time is over. Strangers
// who come with a new name each time would otherwise have all of it looked through for every one.
const sweepEvery = time.Second

// makeRoom lets one more into a memory: those whose time is over go, or else anybody. To fill
// it costs a stranger as many guesses as it holds.
func makeRoom[V any](memory map[string]V, sweptAt *time.Time, now time.Time, isOver func(V) bool) {
	if len(memory) < maxGuessers {
		return
	}
	if now.Sub(*sweptAt).Abs() >= sweepEvery { // either way: a clock may be set back
		*sweptAt = now
		maps.DeleteFunc(memory, func(_ string, v V) bool { return isOver(v) })
	}
	for other := range memory {
		if len(memory) < maxGuessers {
			return
		}
		delete(memory, other)
	}
}
