package db_test

import (
	"errors"
	"testing"
	"time"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

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
