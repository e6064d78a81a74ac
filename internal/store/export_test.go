package store

import (
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

func MigrationFiles() embed.FS { return migrations }

func QueueLogger(o Options) *slog.Logger { return o.queueLogger() }

const GroupSize = groupSize
