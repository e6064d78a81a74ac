// Package cache remembers what was read or made, for readers who can prove that it still holds: the key names a version,
// or the database is asked.
package cache

import "sync"

// Cache holds at most Most entries.
type Cache[K comparable, V any] struct {
	Most int

	mu      sync.RWMutex
	entries map[K]V
}

// Get gives an entry, if it is there.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	value, known := c.entries[key]
	return value, known
}

// Keep lets go of another entry when there are many: one that is still used comes
// back with its next call.
func (c *Cache[K, V]) Keep(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[K]V{}
	}
	if _, known := c.entries[key]; !known && len(c.entries) >= c.Most {
		for other := range c.entries {
			delete(c.entries, other)
			break
		}
	}
	c.entries[key] = value
}

// Forget lets an entry go.
func (c *Cache[K, V]) Forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}
