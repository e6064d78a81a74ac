package limit

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

const (
	window     = time.Second
	shardCount = 64
	// generation is longer than a window, because concurrent callers bring
	// instants that are a little out of order.
	generation = 2 * window
)

// memory keeps the windows of one process, in shards so that callers seldom
// wait for each other.
//
// Windows nobody uses must not pile up, or a flood of addresses would fill the
// memory. Each shard therefore has two generations: windows in use move to the
// young one, and once per generation the old one is thrown away as a whole,
// with the room that its map had grown to.
type memory struct {
	seed   maphash.Seed
	shards [shardCount]shard
	turned atomic.Int64 // when the generations last changed, in nanoseconds
}

type shard struct {
	mu    sync.Mutex
	young map[caller]*instants
	old   map[caller]*instants
}

func newMemory() *memory {
	m := &memory{seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].young = map[caller]*instants{}
	}
	return m
}

// admit counts a call, or gives the wait until one would be counted.
func (m *memory) admit(who caller, rate int, now time.Time) time.Duration {
	m.turn(now)
	s := &m.shards[maphash.Comparable(m.seed, who)%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(who).admit(rate, now.UnixNano())
}

// wait is what admit would give, and counts nothing. After a clock was set back nobody
// waits for what it remembers.
func (m *memory) wait(who caller, rate int, now time.Time) time.Duration {
	s := &m.shards[maphash.Comparable(m.seed, who)%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, windows := range []map[caller]*instants{s.young, s.old} {
		if w := windows[who]; w != nil {
			if wait := w.wait(rate, now.UnixNano()); wait <= window {
				return wait
			}
		}
	}
	return 0
}

// turn makes the young generation the old one when its time is over, or when
// the clock was set back that far. A window that is thrown away has thus been
// unused for longer than it remembers.
func (m *memory) turn(now time.Time) {
	last, at := m.turned.Load(), now.UnixNano()
	elapsed := time.Duration(at - last).Abs()
	if elapsed < generation || !m.turned.CompareAndSwap(last, at) {
		return
	}
	for i := range m.shards {
		m.shards[i].turn()
	}
}

func (s *shard) turn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old, s.young = s.young, map[caller]*instants{}
}

func (s *shard) find(who caller) *instants {
	if w := s.young[who]; w != nil {
		return w
	}
	w := s.old[who]
	if w == nil {
		w = &instants{}
	}
	s.young[who] = w
	return w
}

// instants are the accepted calls of the last second, oldest first, in
// nanoseconds. The slice grows with use, up to about twice the rate.
type instants struct {
	at   []int64
	head int // what lies before it has passed
}

func (w *instants) admit(rate int, now int64) time.Duration {
	if n := len(w.at); n > 0 && now < w.at[n-1] {
		now = w.afterStepBack(now)
	}
	if wait := w.wait(rate, now); wait > 0 {
		return wait
	}
	if 2*w.head >= len(w.at) {
		w.at, w.head = append(w.at[:0], w.at[w.head:]...), 0
	}
	w.at = append(w.at, now)
	return 0
}

// wait forgets what has passed and gives the time until there is room.
func (w *instants) wait(rate int, now int64) time.Duration {
	for w.head < len(w.at) && now-w.at[w.head] >= int64(window) {
		w.head++
	}
	if len(w.at)-w.head >= rate {
		return time.Duration(w.at[len(w.at)-rate] + int64(window) - now)
	}
	return 0
}

// afterStepBack treats a time that lies before the last accepted call. A little
// is the order in which goroutines came here, and they count as simultaneous;
// more is a clock that was set back, and what it remembers would lock callers
// out until it has caught up.
func (w *instants) afterStepBack(now int64) int64 {
	last := w.at[len(w.at)-1]
	if last-now < int64(window) {
		return last
	}
	w.at, w.head = w.at[:0], 0
	return now
}
