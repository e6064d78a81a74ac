package db_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestACommandHasItsTurnBesideABusyServer has one write without a break, as a server under load, and another process come
// with one unit. Who waits for a lock of SQLite's looks for it every tenth of a second, and would have to meet the moment
// between two commits.
func TestACommandHasItsTurnBesideABusyServer(t *testing.T) {
	t.Parallel()
	server := storetest.SQLite(t)
	command := server.Reopen(t)
	isWriting, ended := make(chan struct{}, 1), make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case isWriting <- struct{}{}:
			default:
			}
			if err := server.TryWrite(t, longUnit); err != nil {
				t.Errorf("the server: %v", err)
				return
			}
		}
	}()
	<-isWriting
	if err := command.Write(t.Context(), server.Now, note("command")); err != nil {
		t.Errorf("the command: %v", err)
	}
	close(over)
	<-ended
}

// longUnit takes some tens of milliseconds, nearly all of them within its transaction.
func longUnit(tx *store.Tx) error {
	result, err := tx.Query(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT COUNT(*) FROM n`)
	if err != nil {
		return err
	}
	defer result.Close()
	for result.Next() {
		addNote(tx, payment.NewID().String())
	}
	return result.Err()
}

// TestWhoStandsStillInItsTurnStopsNobody has somebody take the turn and do nothing with it. It is waited for once, and not at
// each of a hundred writes.
func TestWhoStandsStillInItsTurnStopsNobody(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	_, path, _ := strings.Cut(env.URL, ":")
	file, err := os.Open(path + ".turn")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	const patience = 20 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i := range 100 {
		if err := env.Store.Write(ctx, env.Now, note(payment.NewID().String())); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
	}
}
