package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// engine is what PostgreSQL and SQLite do each in their own way.
type engine interface {
	// write runs a unit of work and commits it.
	write(ctx context.Context, at time.Time, work func(*Tx) error) error
	// query reads outside a transaction.
	query(ctx context.Context, sql string, args ...any) (rows, error)
	// migrate brings the schema, ours and the queue's, to this version.
	migrate(ctx context.Context) error
	// pool describes the connections in use.
	pool() PoolStats
	close() error
}

// conversation is one engine's side of an open transaction.
type conversation interface {
	// run executes statements in order, and gives the error of the first
	// requirement that is not met.
	run(ctx context.Context, statements []statement) error
	query(ctx context.Context, sql string, args ...any) (rows, error)
	enqueue(ctx context.Context, job Job, notBefore time.Time) error
	dialect() dialect
	// load writes many rows into a table as fast as the engine can.
	load(ctx context.Context, into string, columns []string, rows []bulkRow) error
}

// dialect is what engines say in words of their own.
type dialect struct {
	// relax is the statement that spares a unit the wait for the disk, "" for none.
	relax string
	// skipLocked ends a query whose rows the unit is about to change: it takes
	// them, and passes over those that another unit has taken.
	skipLocked string
	// analyze begins the statement that counts a table anew for the planner, ""
	// where plans do not depend on it.
	analyze string
	// young names the tables that have grown and were never counted.
	young string
}

// rows is the part of a result that both drivers share.
type rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
	// cells reads the same rows value by value, in place of Next and Scan.
	cells() cells
}

// statement is one change. One with an error in none is a requirement: when it
// touches no row, it ends its unit of work with that error.
type statement struct {
	sql  string
	args []any
	none error
	next continuation
}

// continuation goes on from the row that a statement wrote, which it calls
// "written" and of which it knows the id. PostgreSQL runs both as one statement;
// SQLite cannot write within WITH, and finds the row again by a query.
type continuation struct{ sql, found string }

// separately is the continuation as a statement of its own.
func (c continuation) separately() string { return "WITH written AS (" + c.found + ") " + c.sql }

// together is the continuation in one statement with the one that writes.
func (c continuation) together(writing string) string {
	return "WITH written AS (" + writing + " RETURNING id) " + c.sql
}

// PoolStats is what a metric shows of the connections.
type PoolStats struct {
	Open, InUse, Max int
}

// errNoRow is what a look-up gives that finds nothing.
var errNoRow = errors.New("store: no such row")

// KeyError says that a row would break a unique key. Key is its name in the
// schema: the table, the columns without the tenant, and "key".
type KeyError struct{ Key string }

func (e *KeyError) Error() string { return "store: duplicate value for " + e.Key }

// isKey tells whether err is a violation of the named key.
func isKey(err error, key string) bool {
	violation, ok := errors.AsType[*KeyError](err)
	return ok && violation.Key == key
}

// collect scans every row with scan.
func collect[T any](result rows, err error, scan func(rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer result.Close()
	var all []T
	for result.Next() {
		one, err := scan(result)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, result.Err()
}

// one scans the only row, and gives errNoRow where there is none.
func one[T any](result rows, err error, scan func(rows) (T, error)) (T, error) {
	all, err := collect(result, err, scan)
	var zero T
	switch {
	case err != nil:
		return zero, err
	case len(all) == 0:
		return zero, errNoRow
	case len(all) > 1:
		return zero, fmt.Errorf("store: %d rows where one was expected", len(all))
	}
	return all[0], nil
}
