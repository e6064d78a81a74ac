package store

import "sync"

// maxCached bounds the memory that tenants and keys take who are seldom seen.
const maxCached = 10_000

// cache remembers what was read, never for longer than its reader can prove that
// it still holds. Its zero value is empty.
type cache[K comparable, V any] struct {
	mu      sync.RWMutex
	entries map[K]V
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	value, known := c.entries[key]
	return value, known
}

// keep lets go of another entry when there are many: one that is still used comes
// back with its next call.
func (c *cache[K, V]) keep(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[K]V{}
	}
	if _, known := c.entries[key]; !known && len(c.entries) >= maxCached {
		for other := range c.entries {
			delete(c.entries, other)
			break
		}
	}
	c.entries[key] = value
}

func (c *cache[K, V]) forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}
