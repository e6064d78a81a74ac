package cache

import "testing"

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := Cache[int, int]{Most: 10}
	for key := range c.Most + 5 {
		c.Keep(key, 1)
		c.Keep(key, 2)
		if value, _ := c.Get(key); value != 2 {
			t.Fatal("what was just kept is gone")
		}
	}
	if len(c.entries) != c.Most {
		t.Errorf("%d entries are kept", len(c.entries))
	}
	last := c.Most + 4
	if c.Forget(last); len(c.entries) != c.Most-1 {
		t.Error("what was to be forgotten is kept")
	}
}
