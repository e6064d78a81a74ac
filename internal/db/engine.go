package db

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// engine is what PostgreSQL and SQLite do each in their own way.
type engine interface {
	lasting
	copying
	querying
	// write runs a unit of work and commits it.
	write(ctx context.Context, at time.Time, work func(*Tx) error) error
}

// querying is how an engine reads.
type querying interface {
	// query reads outside a transaction.
	query(ctx context.Context, sql string, args ...any) (Rows, error)
	// lookUp is query for few rows that are found by a key. Those of the same words that come at the same
	// time may be read together.
	lookUp(ctx context.Context, sql string, args ...any) (Rows, error)
	// browse is query for what reads at length, and whose records these are.
	browse(ctx context.Context, whose any, sql string, args ...any) (Rows, error)
}

// lasting is what an engine does between its opening and its end.
type lasting interface {
	// migrate brings the schema, ours and the queue's, to this version.
	migrate(ctx context.Context, schema Schema) error
	// pool describes the connections in use.
	pool() PoolStats
	// hasRoom looks whether the disk takes more.
	hasRoom(ctx context.Context) error
	close() error
}

// copying is an engine's part in backups and moves.
type copying interface {
	// dump writes a copy of everything as it is at one moment.
	dump(ctx context.Context, scratch string, begin Begin) error
	// snapshot runs reads that all see the database as it is at one moment.
	snapshot(ctx context.Context, work func(reading) error) error
	// catalog is a query for the columns of all tables, with their types.
	catalog() string
	// references is a query for the tables that name rows of others, and those.
	references() string
	// companions names whoever else has the database open.
	companions(ctx context.Context) ([]string, error)
}

// conversation is one engine's side of an open transaction.
type conversation interface {
	// run executes statements in order, and gives the error of the first
	// requirement that is not met.
	run(ctx context.Context, statements []statement) error
	query(ctx context.Context, sql string, args ...any) (Rows, error)
	enqueue(ctx context.Context, job Job, notBefore time.Time) error
	dialect() dialect
	// load writes many rows into a table as fast as the engine can.
	load(ctx context.Context, into string, columns []string, rows []BulkRow) error
}

// dialect is what engines say in words of their own.
type dialect struct {
	// relax is the statement that spares a unit the wait for the disk, "" for none.
	relax string
	// rowID is what a row is called within its table, for as long as nobody changes it.
	rowID string
	// skipLocked ends a query that takes rows of a TABLE and passes over those that
	// another unit has taken, "" where there is one writer.
	skipLocked string
	// shareLocked ends a query that keeps others from changing rows of a TABLE, "" where
	// there is one writer.
	shareLocked string
	// analyze begins the statement that counts a table anew for the planner, ""
	// where plans do not depend on it.
	analyze string
	// listed reads the values of a list, "value" each, which is the parameter PLACE, a text in JSON.
	listed string
	// young names the tables that have grown and were never counted, or are twice as large since.
	young string
}

// Rows is the part of a result that both drivers share.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
	// Cells reads the same rows value by value, in place of Next and Scan.
	Cells() Cells
}

// statement is one change. One with an error in none is a requirement: when it
// touches no row, it ends its unit of work with that error. What one with a read
// gives back is read.
type statement struct {
	sql  string
	args []any
	none error
	next Continuation
	read func(Rows) error
}

// Continuation goes on from the row that a statement wrote, which it calls
// "written" and of which it knows the columns Knows. PostgreSQL runs both as one
// statement; SQLite cannot write within WITH, and finds the row again by a query.
type Continuation struct{ SQL, Knows, Found string }

// Separately is the continuation as a statement of its own.
func (c Continuation) Separately() string { return "WITH written AS (" + c.Found + ") " + c.SQL }

// together is the continuation in one statement with the one that writes.
func (c Continuation) together(writing string) string {
	return "WITH " + c.written(writing) + " " + c.SQL
}

func (c Continuation) written(writing string) string {
	return "written AS (" + writing + " RETURNING " + c.Knows + ")"
}

// PoolStats is what a metric shows of the connections.
type PoolStats struct {
	Open, InUse, Max int
	// Waits counts how often somebody had to wait for a connection, Waiting for
	// how long in all.
	Waits   int64
	Waiting time.Duration
}

// ErrNoRow is what a look-up gives that finds nothing.
var ErrNoRow = errors.New("db: no such row")

// KeyError says that a row would break a unique key. Key is its name in the
// schema: the table, the columns without the tenant, and "key".
type KeyError struct{ Key string }

func (e *KeyError) Error() string { return "db: duplicate value for " + e.Key }

// IsKey tells whether err is a violation of the named key.
func IsKey(err error, key string) bool {
	violation, ok := errors.AsType[*KeyError](err)
	return ok && violation.Key == key
}

// Collect scans every row with scan.
func Collect[T any](result Rows, err error, scan func(Rows) (T, error)) ([]T, error) {
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

// One scans the only row, and gives ErrNoRow where there is none.
func One[T any](result Rows, err error, scan func(Rows) (T, error)) (T, error) {
	var one, zero T
	if err != nil {
		return zero, err
	}
	defer result.Close()
	rows := 0
	for ; result.Next(); rows++ {
		if rows == 0 {
			if one, err = scan(result); err != nil {
				return zero, err
			}
		}
	}
	switch err := result.Err(); {
	case err != nil:
		return zero, err
	case rows == 0:
		return zero, ErrNoRow
	case rows > 1:
		return zero, fmt.Errorf("db: %d rows where one was expected", rows)
	}
	return one, nil
}
