package store

import (
	"context"
	"embed"
	"log/slog"
)

// Tests of the engines speak SQL of their own within a unit of work.

func (tx *Tx) Require(none error, sql string, args ...any) { tx.require(none, sql, args...) }

func (tx *Tx) Then(sql string, args ...any) { tx.then(sql, args...) }

// Int reads a number within the unit.
func (tx *Tx) Int(sql string, args ...any) (int64, error) {
	result, err := tx.query(sql, args...)
	return one(result, err, func(r rows) (n int64, err error) { return n, r.Scan(&n) })
}

// MigrateStepwise brings a SQLite database to this version as if it were an old one.
func MigrateStepwise(ctx context.Context, s *Store) error {
	return s.engine.(*sqlite).migrateStepwise(ctx)
}

func MigrationFiles() embed.FS { return migrations }

func QueueLogger(o Options) *slog.Logger { return o.queueLogger() }

const GroupSize = groupSize

const SharedLanes = sharedLanes

// SharedQueue counts PostgreSQL's lanes at work and the units that stand behind them.
func SharedQueue(s *Store) (busy, waiting int) {
	g := &s.engine.(*postgres).shared
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy, len(g.waiting)
}
