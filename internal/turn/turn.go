// Package turn has people wait for themselves, and for nobody else: each has a few places at a time in this process,
// whether they read lists, ask with keys that nobody knows or go through a database at length.
package turn

import (
	"context"
	"sync"
)

// Turns lets everybody do a few things at a time in this process: what is beyond waits for what
// was begun before. Nobody waits for somebody else. The zero value is ready.
type Turns[Key comparable] struct {
	mu    sync.Mutex
	lines map[Key]*line
}

// line is of one caller, and forgotten once nobody is in it.
type line struct {
	places chan struct{}
	inside int
}

// Take takes a turn, for which it waits as long as the context lasts, and gives what ends it. Whoever has a key always
// takes as many at once.
func (t *Turns[Key]) Take(ctx context.Context, key Key, atOnce int) (leave func(), hasWaited bool, err error) {
	l := t.enter(key, atOnce)
	leave = func() { <-l.places; t.exit(key, l) }
	select {
	case l.places <- struct{}{}:
		return leave, false, nil
	default:
	}
	select {
	case l.places <- struct{}{}:
		return leave, true, nil
	case <-ctx.Done():
		t.exit(key, l)
		return nil, true, ctx.Err()
	}
}

func (t *Turns[Key]) enter(key Key, atOnce int) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[key]
	if l == nil {
		if t.lines == nil {
			t.lines = map[Key]*line{}
		}
		l = &line{places: make(chan struct{}, atOnce)}
		t.lines[key] = l
	}
	l.inside++
	return l
}

func (t *Turns[Key]) exit(key Key, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.inside--; l.inside == 0 {
		delete(t.lines, key)
	}
}
