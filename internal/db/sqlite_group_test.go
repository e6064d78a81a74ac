package db_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"sepad/internal/db"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// crowd is a store whose writer is held up by a first unit until Release, so
// that every unit begun meanwhile waits behind it.
type crowd struct {
	*storetest.Env
	release chan struct{}
	group   sync.WaitGroup
	first   error
}

// inCrowd runs a test in a bubble, where "everybody waits" can be waited for.
func inCrowd(t *testing.T, test func(t *testing.T, c *crowd)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{Env: storetest.SQLite(t), release: make(chan struct{})}
		c.group.Go(func() {
			c.first = c.TryWrite(t, func(tx *store.Tx) error {
				<-c.release
				addNote(tx, "first")
				return nil
			})
		})
		synctest.Wait()
		test(t, c)
	})
}

// join begins a unit that waits for its turn; its answer goes to err.
func (c *crowd) join(ctx context.Context, err *error, work func(tx *store.Tx) error) {
	c.group.Go(func() { *err = c.Store.Write(ctx, c.Now, work) })
	synctest.Wait()
}

// run lets everybody go and waits for all answers.
func (c *crowd) run() {
	close(c.release)
	c.group.Wait()
}

func note(name string) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		addNote(tx, name)
		return nil
	}
}

func TestGroupCommit(t *testing.T) {
	t.Parallel()

	t.Run("units that wait together share one commit", func(t *testing.T) {
		inCrowd(t, testSharedCommit)
	})
	t.Run("a group is bounded, units that fail included", func(t *testing.T) {
		inCrowd(t, testGroupBound)
	})

	t.Run("a failing unit does not touch its neighbours", func(t *testing.T) {
		inCrowd(t, func(t *testing.T, c *crowd) {
			var before, failed, broken, after error
			c.join(t.Context(), &before, note("before"))
			c.join(t.Context(), &failed, func(tx *store.Tx) error {
				addNote(tx, "failed")
				requireNothing(tx)
				return nil
			})
			c.join(t.Context(), &broken, func(tx *store.Tx) error {
				tx.Then("INSERT INTO no_such_table VALUES (1)")
				return nil
			})
			c.join(t.Context(), &after, note("after"))
			c.run()
			if c.first != nil || before != nil || after != nil || !errors.Is(failed, errUnmet) || broken == nil {
				t.Errorf("answers: %v, %v, %v, %v, %v", c.first, before, failed, broken, after)
			}
			wantNotes(t, c.Env, 3)
		})
	})

	t.Run("a panicking unit fails alone", func(t *testing.T) {
		inCrowd(t, func(t *testing.T, c *crowd) {
			var panicked, after error
			c.join(t.Context(), &panicked, func(tx *store.Tx) error {
				addNote(tx, "panicked")
				_, _ = tx.Int("SELECT 1")
				panic("out of order")
			})
			c.join(t.Context(), &after, note("after"))
			c.run()
			if c.first != nil || after != nil || panicked == nil || !strings.Contains(panicked.Error(), "out of order") {
				t.Errorf("answers: %v, %v, %v", c.first, panicked, after)
			}
			wantNotes(t, c.Env, 2)
		})
	})
}

func TestGroupCommitCallers(t *testing.T) {
	t.Parallel()

	t.Run("a caller who goes away while waiting leaves no trace", func(t *testing.T) {
		inCrowd(t, func(t *testing.T, c *crowd) {
			ctx, cancel := context.WithCancel(t.Context())
			var gone, after error
			c.join(ctx, &gone, func(*store.Tx) error {
				t.Error("the unit of a caller who left was run")
				return nil
			})
			c.join(t.Context(), &after, note("after"))
			cancel()
			synctest.Wait()
			c.run()
			if c.first != nil || after != nil || !errors.Is(gone, context.Canceled) {
				t.Errorf("answers: %v, %v, %v", c.first, gone, after)
			}
			wantNotes(t, c.Env, 2)
		})
	})

	t.Run("a caller who goes away during the unit takes nothing back, and learns the truth", func(t *testing.T) {
		inCrowd(t, func(t *testing.T, c *crowd) {
			ctx, cancel := context.WithCancel(t.Context())
			var left, after error
			c.join(ctx, &left, func(tx *store.Tx) error {
				cancel()
				addNote(tx, "left")
				_, err := tx.Int("SELECT 1")
				return err
			})
			c.join(t.Context(), &after, note("after"))
			c.run()
			if c.first != nil || left != nil || after != nil {
				t.Errorf("answers: %v, %v, %v", c.first, left, after)
			}
			wantNotes(t, c.Env, 3)
		})
	})

	t.Run("a store that closes answers everybody who waits", func(t *testing.T) {
		inCrowd(t, testCloseUnderWay)
	})
}

// testSharedCommit looks from outside while each unit runs: as long as nothing
// is committed, all belong to one transaction.
func testSharedCommit(t *testing.T, c *crowd) {
	var outside atomic.Int32
	answers := make([]error, db.GroupSize-1)
	for i := range answers {
		c.join(t.Context(), &answers[i], func(tx *store.Tx) error {
			addNote(tx, fmt.Sprint(i))
			outside.Add(int32(notes(t, c.Env)))
			return nil
		})
	}
	c.run()
	if err := errors.Join(append(answers, c.first)...); err != nil {
		t.Error(err)
	}
	if outside.Load() != 0 {
		t.Error("a unit of the group was committed before the last one ran")
	}
	wantNotes(t, c.Env, db.GroupSize)
}

func testGroupBound(t *testing.T, c *crowd) {
	var committedAt atomic.Int32
	answers := make([]error, 2*db.GroupSize)
	var ran atomic.Int32
	for i := range answers {
		var first sync.Once
		c.join(t.Context(), &answers[i], func(*store.Tx) error {
			first.Do(func() { ran.Add(1) })
			position := ran.Load() + 1 // the first unit came before
			if notes(t, c.Env) == 1 {
				committedAt.CompareAndSwap(0, position)
			}
			return errUnmet
		})
	}
	c.run()
	if got := int(committedAt.Load()); got != db.GroupSize+1 {
		t.Errorf("the first unit was seen to be committed by unit %d, want %d", got, db.GroupSize+1)
	}
}

func testCloseUnderWay(t *testing.T, c *crowd) {
	answers := make([]error, 10)
	for i := range answers {
		c.join(t.Context(), &answers[i], note(fmt.Sprint(i)))
	}
	var closing error
	c.group.Go(func() { closing = c.Store.Close() })
	synctest.Wait()
	c.run()
	taken := 1
	for _, err := range answers {
		if err == nil {
			taken++
		}
	}
	if c.first != nil || closing != nil {
		t.Errorf("answers: %v, %v", c.first, closing)
	}
	wantNotes(t, c.Env, taken)
}

func TestSQLiteTakesAnyPath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "böse Daten?#%20&mode=ro.db")
	opened, err := store.Open(t.Context(), "sqlite:"+path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if err := opened.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "b*.db")); len(found) != 1 || found[0] != path {
		t.Errorf("made the files %q", found)
	}
}

func TestSQLiteNamesAFileThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "sepad.db")
	if _, err := store.Open(t.Context(), "sqlite:"+path, store.Options{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func TestOneServerPerFile(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	unlock, err := env.Store.LockForServing()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.Reopen(t).LockForServing(); !errors.Is(err, db.ErrInUse) {
		t.Errorf("a second server got %v", err)
	}
	unlock()
	again, err := env.Reopen(t).LockForServing()
	if err != nil {
		t.Fatalf("after the first server ended: %v", err)
	}
	again()
}
