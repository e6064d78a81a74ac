package limit

import (
	"context"
	"sync"
	"time"
)

// turnPatience is how long somebody waits for a turn.
const turnPatience = 30 * time.Second

// Turns lets everybody do a few things at a time in this process: what is beyond waits for what
// was begun before. Nobody waits for somebody else. The zero value is ready.
type Turns struct {
	mu    sync.Mutex
	lines map[string]*line
}

// line is of one caller, and forgotten once nobody is in it.
type line struct {
	places chan struct{}
	inside int
}

// Take waits for a turn, and gives what ends it; false where none came in time. Whoever has a key
// always takes as many at once.
func (t *Turns) Take(ctx context.Context, key string, atOnce int) (leave func(), taken bool) {
	l := t.enter(key, atOnce)
	timer := time.NewTimer(turnPatience)
	defer timer.Stop()
	select {
	case l.places <- struct{}{}:
		return func() { <-l.places; t.exit(key, l) }, true
	case <-timer.C:
	case <-ctx.Done():
	}
	t.exit(key, l)
	return nil, false
}

// TakeAtOnce takes a turn where nobody has to be waited for.
func (t *Turns) TakeAtOnce(key string, atOnce int) (leave func(), taken bool) {
	l := t.enter(key, atOnce)
	select {
	case l.places <- struct{}{}:
		return func() { <-l.places; t.exit(key, l) }, true
	default:
		t.exit(key, l)
		return nil, false
	}
}

func (t *Turns) enter(key string, atOnce int) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[key]
	if l == nil {
		if t.lines == nil {
			t.lines = map[string]*line{}
		}
		l = &line{places: make(chan struct{}, atOnce)}
		t.lines[key] = l
	}
	l.inside++
	return l
}

func (t *Turns) exit(key string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.inside--; l.inside == 0 {
		delete(t.lines, key)
	}
}
