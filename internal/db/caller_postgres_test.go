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
	env := storetest.Postgres(t)
	process := env.ReopenWith(t, store.Options{Vault: env.Vault, Options: db.Options{MaxConnections: 4}})
	const read = "SELECT 1 FROM service_clock"
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
		if err := <-paid; !errors.Is(err, db.ErrSilent) && !errors.Is(err, context.DeadlineExceeded) {
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
