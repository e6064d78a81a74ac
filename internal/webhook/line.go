package webhook

import (
	"sync"
	"time"

	"sepad/internal/clock"
	"sepad/internal/store"
)

// line holds deliveries in order of creation between the drain, which fills it,
// and its senders. A sender that was successful takes the next one by itself, so
// that a healthy receiver is kept busy however long the drain has to wait for
// the database. Whatever else happens is for the drain to judge.
type line struct {
	clock clock.Clock

	mu      sync.Mutex
	items   []store.Delivery
	to      *target
	senders int // under way
	limit   int // how many there may be
}

// next takes the first delivery. A sender that gets none has ended.
func (l *line) next() (d store.Delivery, to *target, began time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.items) == 0 || l.senders > l.limit {
		l.senders--
		return d, nil, began, false
	}
	d = l.items[0]
	l.items = l.items[1:]
	return d, l.to, l.clock.Now(), true
}

// leave ends a sender that had a failure.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.senders--
}

// add puts deliveries at the end.
func (l *line) add(more []store.Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, more...)
}

// clear empties the line and gives what was in it.
func (l *line) clear() []store.Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	items := l.items
	l.items = nil
	return items
}

// aim sets where deliveries go from now on.
func (l *line) aim(to *target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}

// state is how many wait and how many senders there are.
func (l *line) state() (waiting, senders int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.items), l.senders
}

// hire sets how many senders there may be, and tells how many are to be started:
// no more than have something to do.
func (l *line) hire(limit int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = limit
	more := max(0, min(limit-l.senders, len(l.items)))
	l.senders += more
	return more
}
