package checkout

import (
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"
)

// A record that failed is left alone for a while, and for longer each time: a
// database that was away for a moment delays it little, and one that is broken
// does not flood the log.
const (
	firstAside = time.Minute
	maxAside   = time.Hour
)

// Aside remembers which records could not be worked on. It is a process's own:
// another one that has no trouble with a record may go on with it. The zero value
// holds nothing.
type Aside struct {
	mu     sync.Mutex
	failed map[uuid.UUID]failedRecord
	total  int64
}

type failedRecord struct {
	wait  time.Duration
	until time.Time
}

// put sets a record aside.
func (a *Aside) put(id uuid.UUID, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.failed = map[uuid.UUID]failedRecord{}
	}
	wait := min(max(firstAside, 2*a.failed[id].wait), maxAside)
	a.failed[id] = failedRecord{wait, now.Add(wait)}
	a.total++
}

// done forgets the failures of a record that went through.
func (a *Aside) done(id uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.failed, id)
}

// Holds tells whether a record is set aside.
func (a *Aside) Holds(id uuid.UUID, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	failed, known := a.failed[id]
	return known && now.Before(failed.until)
}

// Len is how many records are set aside.
func (a *Aside) Len(now time.Time) int { return len(a.Held(now)) }

// Held are the records that are set aside. One that has not come again for long is forgotten: somebody else has done it.
func (a *Aside) Held(now time.Time) (held []uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.failed, func(_ uuid.UUID, f failedRecord) bool { return now.Sub(f.until) > maxAside })
	for id, f := range a.failed {
		if now.Before(f.until) {
			held = append(held, id)
		}
	}
	return held
}

// Total is how often a record was set aside since the process started.
func (a *Aside) Total() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}
