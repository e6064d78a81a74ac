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
		if owner != "" && owner != string(environment) { // a new one may not have heard yet whose it is
			return fmt.Errorf("%w: it belongs to the environment %q", errNoReplica, owner)
		}
		return nil
	}
	result, err := s.ReplicaQuery(ctx, environmentQuestion)
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
	const first = `SELECT id FROM audit_entries WHERE place = 1`
	const restored = `SELECT id FROM audit_entries WHERE action = 'database.restore' ORDER BY id DESC LIMIT 1`
	return errors.Join(
		checkShared(ctx, "its audit trail begins otherwise", first, s.Query, s.ReplicaQuery),
		checkShared(ctx, "it has an audit trail that is not ours", first, s.ReplicaQuery, s.Query),
		checkShared(ctx, "it does not know of the last restore", restored, s.Query, s.ReplicaQuery),
	)
}

// checkShared refuses a replica where an entry of the audit trail at the one is not known at the other. What cannot be asked
// now refuses nothing.
func checkShared(ctx context.Context, reason, entry string, one, other func(context.Context, string, ...any) (db.Rows, error)) error {
	result, err := one(ctx, entry)
	id, err := db.One(result, err, scanID)
	if err != nil {
		return nil //nolint:nilerr // there is none, or nobody says
	}
	result, err = other(ctx, `SELECT id FROM audit_entries WHERE id = $1`, id)
	if _, err = db.One(result, err, scanID); IsNotFound(err) {
		return fmt.Errorf("%w: %s", errNoReplica, reason)
	}
	return nil
}
