package webhook

import (
	"sync"
	"time"

	"sepad/internal/clock"
	"sepad/internal/store"
)

// backlog holds deliveries in order of creation between the drain, which fills it,
// and its senders. A sender that was successful takes the next one by itself, so
// that a healthy receiver is kept busy however long the drain has to wait for
// the database. Whatever else happens is for the drain to judge.
type backlog struct {
	clock clock.Clock

	mu      sync.Mutex
	items   []store.Delivery
	to      *target
	senders int // under way
	limit   int // how many there may be
}

// next takes the first delivery. A sender that gets none has ended.
func (b *backlog) next() (d store.Delivery, to *target, began time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items) == 0 || b.senders > b.limit {
		b.senders--
		return d, nil, began, false
	}
	d = b.items[0]
	b.items = b.items[1:]
	return d, b.to, b.clock.Now(), true
}

// leave ends a sender that had a failure.
func (b *backlog) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.senders--
}

// add puts deliveries at the end.
func (b *backlog) add(more []store.Delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = append(b.items, more...)
}

// clear empties it and gives what was in it.
func (b *backlog) clear() []store.Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	items := b.items
	b.items = nil
	return items
}

// setTarget sets where deliveries go from now on.
func (b *backlog) setTarget(to *target) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.to = to
}

// state is how many wait and how many senders there are.
func (b *backlog) state() (waiting, senders int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.items), b.senders
}

// allowSenders sets how many senders there may be, and tells how many are to be started:
// no more than have something to do.
func (b *backlog) allowSenders(limit int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = limit
	more := max(0, min(limit-b.senders, len(b.items)))
	b.senders += more
	return more
}
