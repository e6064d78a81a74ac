package main

import (
	"sync"
	"testing"

	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

// TestBehindAPooler has two servers share a few sessions of PostgreSQL, any of which each of their transactions may
// get. The database is migrated by two at once, and each server is killed once.
func TestBehindAPooler(t *testing.T) {
	t.Parallel()
	database := testenv.PostgresURL(t)
	c := prepareCrash(t, t.TempDir(), testenv.Pooler(t, database), 2)
	migrateTwice(t, c)
	c.start(0)
	c.start(1)
	c.open()
	for victim := range c.servers {
		c.kill(victim)
		c.start(victim)
	}
	c.expectNothingLostOrDoubled()
	expectNoLocks(t, database)
}

func migrateTwice(t *testing.T, c *crash) {
	t.Helper()
	var group sync.WaitGroup
	for range 2 {
		migrate := command(t, c.folder, c.settings, "migrate", "--data", c.folder)
		group.Go(func() {
			if output, err := migrate.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
	group.Wait()
}

// expectNoLocks looks past the pooler: what a session keeps there would hold up whoever comes next.
func expectNoLocks(t *testing.T, database string) {
	t.Helper()
	db := (&storetest.Env{URL: database}).DB(t)
	defer db.Close()
	var locks int
	err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&locks)
	if err != nil || locks != 0 {
		t.Errorf("%d locks are left behind: %v", locks, err)
	}
}
