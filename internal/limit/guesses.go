package limit

import (
	"context"
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

// judge is what this process knows alone.
func (g *Guesses) judge(key string, isWrong bool, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	recent := g.recent(key, now)
	if len(recent) >= maxGuesses {
		return guessWindow - now.Sub(recent[len(recent)-maxGuesses])
	}
	if isWrong {
		g.count(key, recent, now)
	}
	return 0
}

func (g *Guesses) count(key string, recent []time.Time, now time.Time) {
	if g.wrong == nil {
		g.wrong = map[string][]time.Time{}
	}
	if recent == nil {
		g.makeRoom(now)
	}
	g.wrong[key] = append(recent, now)
}

// makeRoom forgets those whose guesses count no more, or else anybody.
func (g *Guesses) makeRoom(now time.Time) {
	if len(g.wrong) < maxGuessers {
		return
	}
	for other := range g.wrong {
		if g.recent(other, now) == nil {
			delete(g.wrong, other)
		}
	}
	for other := range g.wrong {
		if len(g.wrong) < maxGuessers {
			return
		}
		delete(g.wrong, other)
	}
}

// recent are the guesses of a caller that still count.
func (g *Guesses) recent(key string, now time.Time) []time.Time {
	all := g.wrong[key]
	for i, at := range all {
		if now.Sub(at) < guessWindow {
			return all[i:]
		}
	}
	return nil
}
