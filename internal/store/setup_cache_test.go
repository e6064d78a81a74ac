package store

import (
	"testing"

	"github.com/google/uuid"
)

func TestSetupCacheIsBounded(t *testing.T) {
	t.Parallel()
	cache := setupCache{tenants: map[uuid.UUID]versionedSetup{}}
	for range maxCachedSetups + 5 {
		id := uuid.New()
		cache.keep(id, versionedSetup{version: 1})
		cache.keep(id, versionedSetup{version: 2})
		if cache.tenants[id].version != 2 {
			t.Fatal("the copy that was just read is gone")
		}
	}
	if len(cache.tenants) != maxCachedSetups {
		t.Errorf("%d copies are kept", len(cache.tenants))
	}
}
