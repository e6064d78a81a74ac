package store

import (
	"context"
	"errors"
	"fmt"

	"sepad/internal/db"
	"sepad/internal/merchant"
)

// errNoReplica refuses a database in the place of a replica.
var errNoReplica = errors.New("SEPAD_DATABASE_REPLICA_URL: the database there is no replica of this one")

const environmentQuestion = `SELECT environment FROM deployment WHERE id = 1`

// CheckReplica refuses a replica that is none of this database: another environment's, one that was moved, or the standby
// of one that was lost and restored since. What is read there would be believed, and often tenants have the same ids in a
// sandbox and in production. One that is away is asked for its environment over each connection that is made later.
func (s *Store) CheckReplica(ctx context.Context, environment merchant.Environment) error {
	if !s.HasReplica() {
		return nil
	}
	admits := func(owner string) error {
		if owner != string(environment) {
			return fmt.Errorf("%w: it belongs to the environment %q", errNoReplica, owner)
		}
		return nil
	}
	result, err := s.LaggingQuery(ctx, environmentQuestion)
	owner, err := db.One(result, err, scanText)
	s.GuardReplica(environmentQuestion, admits)
	switch {
	case db.NoSuchTable(err):
		return fmt.Errorf("%w: it has no schema", errNoReplica)
	case err != nil:
		return nil //nolint:nilerr // whoever reads from it hears of that
	}
	if err := admits(owner); err != nil {
		return err
	}
	return errors.Join(
		s.checkShared(ctx, "its audit trail begins otherwise", `SELECT id FROM audit_entries WHERE place = 1`),
		s.checkShared(ctx, "it does not know of the last restore", `SELECT id FROM audit_entries WHERE action = 'database.restore' ORDER BY id DESC LIMIT 1`),
	)
}

// checkShared refuses a replica that lacks an entry of the audit trail that we have.
func (s *Store) checkShared(ctx context.Context, reason, ours string) error {
	result, err := s.Query(ctx, ours)
	id, err := db.One(result, err, scanID)
	if IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	result, err = s.LaggingQuery(ctx, `SELECT id FROM audit_entries WHERE id = $1`, id)
	if _, err = db.One(result, err, scanID); IsNotFound(err) {
		return fmt.Errorf("%w: %s", errNoReplica, reason)
	}
	return nil
}
