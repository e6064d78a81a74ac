package limit

import (
	"sync"
	"time"
)

const (
	// maxGuesses is how many wrong credentials a caller may bring in guessWindow.
	maxGuesses  = 20
	guessWindow = time.Minute
	// maxGuessers bounds the memory. Whoever has more addresses than this at once
	// is held up by the length of the token.
	maxGuessers = 10_000
)

// Guesses count wrong credentials. A caller that has brought too many waits,
// whatever it brings next: otherwise the right one would tell itself. Each process
// counts for itself. The zero value is ready to use.
type Guesses struct {
	mu    sync.Mutex
	wrong map[string][]time.Time // by caller, the oldest first
}

// Wait is how long a caller has to wait before it is heard, 0 for not at all.
func (g *Guesses) Wait(caller string, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if recent := g.recent(caller, now); len(recent) >= maxGuesses {
		return guessWindow - now.Sub(recent[len(recent)-maxGuesses])
	}
	return 0
}

// Wrong counts a wrong credential.
func (g *Guesses) Wrong(caller string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wrong == nil {
		g.wrong = map[string][]time.Time{}
	}
	if len(g.wrong) >= maxGuessers {
		for other := range g.wrong {
			if g.recent(other, now) == nil {
				delete(g.wrong, other)
			}
		}
	}
	if recent := g.recent(caller, now); len(g.wrong) < maxGuessers || recent != nil {
		g.wrong[caller] = append(recent, now)
	}
}

// recent are the guesses of a caller that still count.
func (g *Guesses) recent(caller string, now time.Time) []time.Time {
	all := g.wrong[caller]
	for i, at := range all {
		if now.Sub(at) < guessWindow {
			return all[i:]
		}
	}
	return nil
}
