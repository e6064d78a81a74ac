package store_test

import (
	"errors"
	"testing"
	"time"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgertest"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestSandboxLedger(t *testing.T) {
	t.Parallel()
	newKey := func(*testing.T, sandbox.Ledger) sandbox.Key {
		return sandbox.Key{TenantID: payment.NewID(), AccountID: payment.NewID(), MerchantTransactionID: "TXN-20260302-ABCDEFGH"}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		ledgertest.Run(t, func(t *testing.T) sandbox.Ledger { return storetest.SQLite(t).Store.SandboxLedger() }, newKey)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		ledgertest.Run(t, func(t *testing.T) sandbox.Ledger { return storetest.Postgres(t).Store.SandboxLedger() }, newKey)
	})
}

func TestSandboxLedgerListsItsEntries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		ledger := env.Store.SandboxLedger()
		entry := sandbox.Entry{
			Key:   sandbox.Key{TenantID: payment.NewID(), AccountID: payment.NewID(), MerchantTransactionID: "TXN-1"},
			State: sandbox.StateApproved, AmountMinor: 1, ReceivedAt: env.Now,
		}
		if _, _, err := ledger.Insert(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
		entries, err := env.Reopen(t).SandboxLedger().Entries(t.Context())
		if err != nil || len(entries) != 1 || entries[0] != entry {
			t.Errorf("got %+v, error %v", entries, err)
		}
	})
}

func TestClockOffset(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		second := env.Reopen(t)
		want := time.Duration(0)
		for _, offset := range []time.Duration{0, time.Hour, time.Minute, -time.Hour, 24 * 400 * time.Hour, 24*400*time.Hour + time.Microsecond} {
			env.Write(t, func(tx *store.Tx) error {
				tx.SetClockOffset(offset)
				return nil
			})
			want = max(want, offset)
			if got, err := second.ClockOffset(t.Context()); err != nil || got != want {
				t.Errorf("after a move to %s the clock is %s ahead (error %v), want %s", offset, got, err, want)
			}
		}
	})
}

type wakeUp struct{ Name string }

func (wakeUp) Kind() string { return "wake_up" }

func TestEnqueue(t *testing.T) {
	t.Parallel()

	t.Run("a job is there with the rows of its unit", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			env.Write(t, func(tx *store.Tx) error {
				addNote(tx, "before")
				if err := tx.Enqueue(wakeUp{"now"}, time.Time{}); err != nil {
					return err
				}
				addNote(tx, "after")
				return tx.Enqueue(wakeUp{"later"}, time.Now().Add(time.Hour))
			})
			wantNotes(t, env, 2)
			depth, err := env.Reopen(t).QueueDepth(t.Context())
			if err != nil || depth["available"] != 1 || depth["scheduled"] != 1 || len(depth) != 2 {
				t.Errorf("the queue holds %v, error %v", depth, err)
			}
		})
	})

	t.Run("a unit that is taken back leaves no job", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			for _, end := range []func(tx *store.Tx) error{
				func(*store.Tx) error { return errUnmet },
				func(tx *store.Tx) error {
					requireNothing(tx)
					return nil
				},
			} {
				err := env.TryWrite(t, func(tx *store.Tx) error {
					addNote(tx, "note")
					if err := tx.Enqueue(wakeUp{}, time.Time{}); err != nil {
						return err
					}
					return end(tx)
				})
				if !errors.Is(err, errUnmet) || env.Count(t, "river_job") != 0 {
					t.Errorf("%d jobs are there after %v", env.Count(t, "river_job"), err)
				}
			}
			wantNotes(t, env, 0)
		})
	})

	t.Run("nothing is enqueued where the requirement before it is not met", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			err := env.TryWrite(t, func(tx *store.Tx) error {
				requireNothing(tx)
				return tx.Enqueue(wakeUp{}, time.Time{})
			})
			if !errors.Is(err, errUnmet) || env.Count(t, "river_job") != 0 {
				t.Errorf("%d jobs are there after %v", env.Count(t, "river_job"), err)
			}
		})
	})
}
