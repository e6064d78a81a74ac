package db

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestAVictimLeavesTheOtherTheWay runs a unit that PostgreSQL sacrifices every
// time. The survivor of a deadlock has to wake up before it holds what it waited
// for: who comes back at once locks both of them again, until no try is left.
func TestAVictimLeavesTheOtherTheWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs []time.Time
		err := (&postgres{}).write(t.Context(), time.Time{}, func(*Tx) error {
			runs = append(runs, time.Now())
			return &pgconn.PgError{Code: pgDeadlock}
		})
		if !hasCode(err, pgDeadlock) || len(runs) != writeTries {
			t.Errorf("after %d runs: %v", len(runs), err)
		}
		for i, least := 1, wayPause; i < len(runs); i, least = i+1, 2*least {
			if pause := runs[i].Sub(runs[i-1]); pause < least || pause >= 2*least {
				t.Errorf("pause %d is %v, want %v or up to twice that", i, pause, least)
			}
		}
	})
}

func TestACallerWhoLeavesEndsThePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		began, runs := time.Now(), 0
		err := (&postgres{}).write(ctx, time.Time{}, func(*Tx) error {
			runs++
			leave()
			return &pgconn.PgError{Code: pgSerialization}
		})
		if !hasCode(err, pgSerialization) || runs != 1 || time.Since(began) > 0 {
			t.Errorf("after %d runs and %v: %v", runs, time.Since(began), err)
		}
	})
}
