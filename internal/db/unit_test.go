package db_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// addNote is a row of the plainest kind: units of work need something to write.
func addNote(tx *store.Tx, note string) {
	tx.Then(`INSERT INTO idempotency_keys (tenant_id, key, request_hash, session_id, expires_at) VALUES ($1, $2, '', $3, 0)`,
		noteTenant, note, noteTenant)
}

var noteTenant = payment.NewID()

func notes(t *testing.T, env *storetest.Env) int {
	t.Helper()
	return env.Count(t, "idempotency_keys")
}

func wantNotes(t *testing.T, env *storetest.Env, want int) {
	t.Helper()
	if got := notes(t, env); got != want {
		t.Errorf("%d rows are there, want %d", got, want)
	}
}

var errUnmet = errors.New("the requirement is not met")

// requireNothing is a requirement that no row meets.
func requireNothing(tx *store.Tx) {
	tx.Require(errUnmet, `UPDATE service_clock SET offset_us = 5 WHERE id = 99`)
}

func TestUnit(t *testing.T) {
	t.Parallel()

	t.Run("a unit whose requirement is not met changes nothing, before or after it", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			err := env.TryWrite(t, func(tx *store.Tx) error {
				addNote(tx, "before")
				requireNothing(tx)
				addNote(tx, "after")
				return nil
			})
			if !errors.Is(err, errUnmet) {
				t.Errorf("got %v", err)
			}
			wantNotes(t, env, 0)
		})
	})

	t.Run("the same holds for a unit that reads in between", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			err := env.TryWrite(t, func(tx *store.Tx) error {
				addNote(tx, "before")
				if n, err := tx.Int(`SELECT COUNT(*) FROM idempotency_keys`); err != nil || n != 1 {
					return fmt.Errorf("the unit sees %d rows of its own: %w", n, err)
				}
				addNote(tx, "between")
				requireNothing(tx)
				addNote(tx, "after")
				return nil
			})
			if !errors.Is(err, errUnmet) {
				t.Errorf("got %v", err)
			}
			wantNotes(t, env, 0)
		})
	})

	t.Run("requirements that are met let all of the unit through", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			env.Write(t, func(tx *store.Tx) error {
				tx.Require(errUnmet, `UPDATE service_clock SET offset_us = 5 WHERE id = $1`, 1)
				addNote(tx, "one")
				tx.Require(errUnmet, `UPDATE service_clock SET offset_us = offset_us + $1`, 2)
				addNote(tx, "two")
				return nil
			})
			wantNotes(t, env, 2)
			if offset := storetest.Scalar[int](t, env, "SELECT offset_us FROM service_clock"); offset != 7 {
				t.Errorf("the required statements made %d", offset)
			}
		})
	})
}

func TestUnitErrors(t *testing.T) {
	t.Parallel()

	t.Run("a unit that gives an error changes nothing", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			mine := errors.New("mine")
			err := env.TryWrite(t, func(tx *store.Tx) error {
				addNote(tx, "one")
				_, _ = tx.Int(`SELECT 1`)
				return mine
			})
			if !errors.Is(err, mine) {
				t.Errorf("got %v", err)
			}
			wantNotes(t, env, 0)
		})
	})

	t.Run("a unit without statements is no error", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			env.Write(t, func(*store.Tx) error { return nil })
		})
	})

	t.Run("a broken key has the same name on both engines and leaves nothing of its unit", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testBrokenKey)
	})

	t.Run("a unit carries the instant at which it was begun", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			env.Write(t, func(tx *store.Tx) error {
				if !tx.At.Equal(env.Now) {
					t.Errorf("the unit's time is %s", tx.At)
				}
				return nil
			})
		})
	})
}

func testBrokenKey(t *testing.T, env *storetest.Env) {
	err := env.TryWrite(t, func(tx *store.Tx) error {
		addNote(tx, "other")
		addNote(tx, "same")
		addNote(tx, "same")
		return nil
	})
	broken, ok := errors.AsType[*db.KeyError](err)
	if !ok || broken.Key != "idempotency_keys_key_key" {
		t.Errorf("got %v", err)
	}
	wantNotes(t, env, 0)
}

func TestManyWriters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		const writers, each = 16, 20
		second := env.Reopen(t)
		var group sync.WaitGroup
		for w := range writers {
			process := env.Store
			if w%2 == 1 {
				process = second
			}
			group.Go(func() {
				for i := range each {
					err := process.Write(t.Context(), env.Now, func(tx *store.Tx) error {
						addNote(tx, fmt.Sprint(w, "-", i))
						return nil
					})
					if err != nil {
						t.Errorf("writer %d: %v", w, err)
					}
				}
			})
		}
		group.Wait()
		wantNotes(t, env, writers*each)
	})
}

func TestClosedStoreRefusesWrites(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		closed := env.Reopen(t)
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
		err := closed.Write(t.Context(), env.Now, func(tx *store.Tx) error {
			addNote(tx, "late")
			return nil
		})
		if err == nil {
			t.Error("a closed store took a write")
		}
		wantNotes(t, env, 0)
	})
}

func TestOpenRefusesAnAddressOfNoEngine(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "mysql://root@localhost/sepad", "sepad.db"} {
		if _, err := store.Open(t.Context(), address, store.Options{}); err == nil {
			t.Errorf("%q was opened", address)
		}
	}
}
