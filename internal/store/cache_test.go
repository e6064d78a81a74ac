package store

import "testing"

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c cache[int, int]
	for key := range maxCached + 5 {
		c.keep(key, 1)
		c.keep(key, 2)
		if value, _ := c.get(key); value != 2 {
			t.Fatal("what was just kept is gone")
		}
	}
	if len(c.entries) != maxCached {
		t.Errorf("%d entries are kept", len(c.entries))
	}
}
