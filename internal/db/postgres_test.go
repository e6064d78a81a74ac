package db_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/db"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// withSetting is an address whose sessions have a server setting changed.
func withSetting(url, setting string) string {
	if strings.Contains(url, "?") {
		return url + "&" + setting
	}
	return url + "?" + setting
}

// TestDeadlockVictimsAreRunAgain has two units take the same two rows in
// opposite order; PostgreSQL sacrifices one, and it must come through all the
// same.
func TestDeadlockVictimsAreRunAgain(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	env.URL = withSetting(env.URL, "deadlock_timeout=50")
	process := env.Reopen(t)
	one, other := env.Tenant(t), env.Tenant(t)
	const take = `UPDATE tenants SET setup_version = setup_version + 100 WHERE id = $1`

	var runs atomic.Int32
	var bothHold, group sync.WaitGroup
	bothHold.Add(2)
	for _, order := range [][]any{{one.ID, other.ID}, {other.ID, one.ID}} {
		var once sync.Once
		group.Go(func() {
			err := process.Write(t.Context(), env.Now, func(tx *store.Tx) error {
				runs.Add(1)
				tx.Then(take, order[0])
				if _, err := tx.Int("SELECT 1"); err != nil {
					return err
				}
				once.Do(func() { bothHold.Done(); bothHold.Wait() })
				tx.Then(take, order[1])
				return nil
			})
			if err != nil {
				t.Errorf("a unit was given up: %v", err)
			}
		})
	}
	group.Wait()
	if runs.Load() < 3 {
		t.Errorf("the two units were run %d times in all: nobody was sacrificed", runs.Load())
	}
	for _, tenant := range []string{one.ID.String(), other.ID.String()} {
		if version := storetest.Scalar[int](t, env, "SELECT setup_version FROM tenants WHERE id = $1", tenant); version != 201 {
			t.Errorf("the units together made version %d", version)
		}
	}
}

func TestCancelledUnit(t *testing.T) {
	t.Parallel()

	t.Run("a caller who leaves between two statements takes all of the unit back", func(t *testing.T) {
		t.Parallel()
		env := storetest.FreshPostgres(t)
		ctx, cancel := context.WithCancel(t.Context())
		err := env.Store.Write(ctx, env.Now, func(tx *store.Tx) error {
			addNote(tx, "one")
			if _, err := tx.Int("SELECT 1"); err != nil {
				return err
			}
			cancel()
			addNote(tx, "two")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		wantNotes(t, env, 0)
		wantHealthy(t, env)
	})

	t.Run("a caller who leaves while a pipeline waits for a lock leaves all of it or nothing", func(t *testing.T) {
		t.Parallel()
		env := storetest.FreshPostgres(t)
		testCancelledPipeline(t, env)
		wantHealthy(t, env)
	})
}

func testCancelledPipeline(t *testing.T, env *storetest.Env) {
	db := env.DB(t)
	holder, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec("UPDATE service_clock SET offset_us = 1"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() {
		answer <- env.Store.Write(ctx, env.Now, func(tx *store.Tx) error {
			addNote(tx, "one")
			tx.Then("UPDATE service_clock SET offset_us = 2")
			addNote(tx, "two")
			return nil
		})
	}()
	for waiting := 0; waiting == 0; {
		row := db.QueryRow("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
		if err := row.Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := holder.Commit(); err != nil {
		t.Fatal(err)
	}
	if left := notes(t, env); left != 0 && left != 2 {
		t.Errorf("half of the unit is there: %d rows of 2", left)
	}
}

// TestALeaverBreaksNoConnection: whoever leaves while a read is under way costs nobody a
// connection.
func TestALeaverBreaksNoConnection(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	admin := env.DB(t)
	holder, err := admin.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec("LOCK TABLE service_clock IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() {
		result, err := env.Store.Query(ctx, "SELECT offset_us FROM service_clock")
		_, err = db.One(result, err, func(r db.Rows) (offset int64, err error) { return offset, r.Scan(&offset) })
		answer <- err
	}()
	var backend int
	for err = sql.ErrNoRows; errors.Is(err, sql.ErrNoRows); {
		err = admin.QueryRow("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()").Scan(&backend)
	}
	if err != nil {
		t.Fatal(err)
	}
	leave()
	if err := holder.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Errorf("what was under way ends with %v", err)
	}
	wantHealthy(t, env)
	if left := storetest.Scalar[int](t, env, "SELECT COUNT(*) FROM pg_stat_activity WHERE pid = $1", backend); left != 1 {
		t.Error("the connection was closed")
	}
	if _, err := env.Store.Query(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("for whoever has left before something is begun: %v", err)
	}
}

// wantHealthy expects no connection to be lost to a unit, and the store to work.
func wantHealthy(t *testing.T, env *storetest.Env) {
	t.Helper()
	for range 2 * env.Store.Pool().Max {
		env.Write(t, func(tx *store.Tx) error {
			tx.Then("UPDATE service_clock SET offset_us = offset_us + 1")
			return nil
		})
	}
	// A connection that a caller has left is cleared away behind his back.
	patience := time.After(time.Minute)
	for look := time.NewTicker(5 * time.Millisecond); env.Store.Pool().InUse != 0; {
		select {
		case <-look.C:
		case <-patience:
			t.Fatalf("%d connections are still taken", env.Store.Pool().InUse)
		}
	}
}

func TestOneConnectionIsEnough(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	process := env.ReopenWith(t, store.Options{Vault: env.Vault, Options: db.Options{MaxConnections: 1}})
	if err := process.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := process.Write(t.Context(), env.Now, func(tx *store.Tx) error {
		addNote(tx, "one")
		if _, err := tx.Int("SELECT 1"); err != nil {
			return err
		}
		return tx.Enqueue(wakeUp{}, env.Now)
	})
	if err != nil {
		t.Error(err)
	}
}
