package people

import (
	"sync"
	"time"
)

const (
	// freeGuesses are wrong passwords that cost nothing: people mistype.
	freeGuesses = 5
	firstWait   = time.Second
	longestWait = 15 * time.Minute
	// forgottenAfter ends the memory of wrong passwords.
	forgottenAfter = time.Hour
	// maxGuessers bounds the memory. Beyond it somebody else is forgotten: who guesses
	// now is always counted.
	maxGuessers = 10_000
)

// patience lets whoever guesses wait longer with every wrong guess.
type patience struct {
	mu      sync.Mutex
	guesses map[string]guesses
}

type guesses struct {
	wrong int
	last  time.Time
}

// until is when a pair is heard again.
func (g guesses) until() time.Time {
	if g.wrong < freeGuesses {
		return g.last
	}
	const doublings = 10 // beyond the longest
	wait := firstWait << min(g.wrong-freeGuesses, doublings)
	return g.last.Add(min(wait, longestWait))
}

// attempt counts a guess, and is how long its maker has to wait before one is heard, 0
// for not at all. It counts before anybody knows whether the guess is right, so that
// many at once do not all pass before the first is counted; forget takes them back.
func (p *patience) attempt(key string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.guesses[key]
	if now.Sub(g.last) > forgottenAfter {
		g = guesses{}
	}
	if wait := g.until().Sub(now); wait > 0 {
		return wait
	}
	if p.guesses == nil {
		p.guesses = map[string]guesses{}
	}
	if _, known := p.guesses[key]; !known {
		p.makeRoom(now)
	}
	p.guesses[key] = guesses{g.wrong + 1, now}
	return 0
}

// forget ends the memory of a pair whose guess was right.
func (p *patience) forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.guesses, key)
}

// makeRoom forgets those whose time is over, or else anybody: to fill the memory costs a
// stranger as many guesses as it holds.
func (p *patience) makeRoom(now time.Time) {
	if len(p.guesses) < maxGuessers {
		return
	}
	for other, g := range p.guesses {
		if now.Sub(g.last) > forgottenAfter {
			delete(p.guesses, other)
		}
	}
	for other := range p.guesses {
		if len(p.guesses) < maxGuessers {
			return
		}
		delete(p.guesses, other)
	}
}
