package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sepad/internal/db"
	"sepad/internal/merchant"
)

// movedMark stands before the environment of a database that was moved elsewhere.
// Every program that ever knew environments refuses such a one.
const movedMark = "moved/"

// errMoved is the answer of a database that was moved.
var errMoved = errors.New("the database was moved elsewhere by sepad move, or is being moved; nothing was done. If the move was broken off, run it again; if this database is to be used after all, and the other one never again, run sepad move --release")

// IsMoved tells whether a database of an environment was moved, or is being.
func (s *Store) IsMoved(ctx context.Context, environment merchant.Environment) (bool, error) {
	result, err := s.Query(ctx, environmentQuestion)
	owner, err := db.One(result, err, scanText)
	return owner == movedMark+string(environment), err
}

// Move marks the database as moved: from now on no program uses it.
func (s *Store) Move(ctx context.Context, environment merchant.Environment, now time.Time) error {
	return s.setEnvironment(ctx, movedMark+string(environment), now)
}

// Unmove takes the mark back.
func (s *Store) Unmove(ctx context.Context, environment merchant.Environment, now time.Time) error {
	return s.setEnvironment(ctx, string(environment), now)
}

func (s *Store) setEnvironment(ctx context.Context, to string, now time.Time) error {
	own := strings.TrimPrefix(to, movedMark)
	return s.Write(ctx, now, func(tx *Tx) error {
		tx.Require(errors.New("SEPAD_ENVIRONMENT: the database belongs to a deployment of another environment; nothing was done"),
			`UPDATE deployment SET environment = $1 WHERE id = 1 AND environment IN ($2, $3)`, to, own, movedMark+own)
		tx.Audit(databaseDeed("database.move", map[string]any{"environment": to}))
		return nil
	})
}

// Reserve gives a database that is about to be filled the mark of its original, so that nobody begins to use it.
func (s *Store) Reserve(ctx context.Context, environment merchant.Environment, now time.Time) error {
	return s.beOf(ctx, movedMark+string(environment), now)
}

// Settle makes a complete copy, which has the mark of its original, the database of its environment.
func (s *Store) Settle(ctx context.Context, environment merchant.Environment, now time.Time) error {
	return s.beOf(ctx, string(environment), now)
}

func (s *Store) beOf(ctx context.Context, owner string, now time.Time) error {
	return s.Write(ctx, now, func(tx *Tx) error {
		tx.Then(`UPDATE deployment SET environment = $1 WHERE id = 1`, owner)
		return nil
	})
}

// CheckUnused refuses a database in which anything lies. One that has a schema and
// nothing else is what a move that was broken off has left.
func (s *Store) CheckUnused(ctx context.Context) error {
	sums, err := s.Tally(ctx)
	if err != nil {
		return fmt.Errorf("the new database cannot be used: %w", err)
	}
	for _, ofItsOwn := range []string{"service_clock", "schema_compatibility", "deployment"} {
		delete(sums, ofItsOwn)
	}
	if rows := sums.Rows(); rows > 0 {
		return fmt.Errorf("the new database holds %d rows: move into an empty one", rows)
	}
	return nil
}
