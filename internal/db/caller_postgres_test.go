package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sepad/internal/db"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestALockStopsNobodyElse has somebody lock a table that payments write. They wait, as long as their callers do; what
// others want of the database goes on.
func TestALockStopsNobodyElse(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	process := env.ReopenWith(t, store.Options{Vault: env.Vault, Options: db.Options{MaxConnections: 4}})
	const read = "SELECT 1 FROM service_clock"
	// Every connection knows the statement already: it is sent, and fails while its rows are waited for.
	var held []db.Rows
	for _, purpose := range []db.Purpose{db.Ordinary, db.Ordinary, db.Listing, db.Listing} {
		rows, err := process.Query(db.Attend(t.Context(), purpose, time.Minute), "SELECT 1 FROM transactions LIMIT 1")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, rows)
	}
	for _, rows := range held {
		rows.Close()
	}
	locked, unlock, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- env.Store.Write(t.Context(), env.Now, func(tx *store.Tx) error {
			tx.Then("LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE")
			if _, err := tx.Int(read); err != nil {
				return err
			}
			close(locked)
			<-unlock
			return nil
		})
	}()
	<-locked

	const payers = 12
	paid := make(chan error, payers)
	for range payers {
		go func() {
			ctx := db.Attend(t.Context(), db.Paying, 2*time.Second)
			result, err := process.Query(ctx, "SELECT 1 FROM transactions LIMIT 1")
			_, err = db.Collect(result, err, func(db.Rows) (int, error) { return 0, nil })
			paid <- err
		}()
	}
	for range 20 {
		ctx := db.Attend(t.Context(), db.Ordinary, time.Minute)
		result, err := process.Query(ctx, read)
		if _, err := db.One(result, err, func(db.Rows) (int, error) { return 0, nil }); err != nil {
			t.Errorf("somebody else is held up: %v", err)
		}
	}
	for range payers {
		if err := <-paid; !errors.Is(err, db.ErrSilent) {
			t.Errorf("a payer hears %v", err)
		}
	}
	close(unlock)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	ctx := db.Attend(t.Context(), db.Paying, time.Minute)
	result, err := process.Query(ctx, "SELECT 1 FROM transactions LIMIT 1")
	if _, err := db.Collect(result, err, func(db.Rows) (int, error) { return 0, nil }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestWhatIsSentRunsToItsEnd has a caller leave while his unit waits for a row: it was sent, and is committed.
func TestWhatIsSentRunsToItsEnd(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	shop := env.Tenant(t)
	const take = `UPDATE tenants SET setup_version = setup_version + 100 WHERE id = $1`
	holds, release, released := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		released <- env.Store.Write(t.Context(), env.Now, func(tx *store.Tx) error {
			tx.Then(take, shop.ID)
			if _, err := tx.Int("SELECT 1"); err != nil {
				return err
			}
			close(holds)
			<-release
			return nil
		})
	}()
	<-holds
	ctx, leave := context.WithCancel(db.Attend(t.Context(), db.Ordinary, time.Minute))
	written := make(chan error, 1)
	go func() {
		written <- env.Store.Write(ctx, env.Now, func(tx *store.Tx) error {
			tx.Then(take, shop.ID)
			return nil
		})
	}()
	for look := time.NewTicker(5 * time.Millisecond); storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0; {
		<-look.C
	}
	leave()
	close(release)
	for _, ended := range []chan error{released, written} {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if version := storetest.Scalar[int](t, env, `SELECT MAX(setup_version) FROM tenants`); version < 200 {
		t.Errorf("the row is at %d: a unit is missing", version)
	}
}
