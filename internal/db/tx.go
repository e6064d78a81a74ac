package db

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Tx is a unit of work: the one door to durable effects. It carries the instant
// at which it began, and gathers statements so that an engine can send them
// together; a read in between sends what was gathered so far.
type Tx struct {
	// At is the service's time for everything that this unit writes.
	At time.Time

	ctx     context.Context
	conv    conversation
	pending []statement
	// sharedKind and sharedRow are not empty when the unit may commit together with
	// others.
	sharedKind, sharedRow string
	relaxed, apart        bool
}

// Require adds the statement on which the unit rests: when it touches no row,
// the unit changes nothing and Write gives the error none.
func (tx *Tx) Require(none error, sql string, args ...any) {
	tx.pending = append(tx.pending, statement{sql: sql, args: args, none: none})
}

// Then adds a statement that may touch any number of rows.
func (tx *Tx) Then(sql string, args ...any) {
	tx.pending = append(tx.pending, statement{sql: sql, args: args})
}

// ThenRead adds a statement whose rows are read when the unit is sent, and not before as those of Query: a unit that
// needs no more than that is one exchange. What was read holds once the unit is written.
func (tx *Tx) ThenRead(sql string, read func(Rows) error, args ...any) {
	tx.pending, tx.apart = append(tx.pending, statement{sql: sql, args: args, read: read}), true
}

// Continue adds a statement that another one goes on from. With an error in none
// it is a requirement.
func (tx *Tx) Continue(none error, sql string, next Continuation, args ...any) {
	tx.pending = append(tx.pending, statement{sql: sql, args: args, none: none, next: next})
}

// SkipLocked ends a query whose rows the unit is about to change: it takes those
// of a table, and passes over what another unit has taken.
func (tx *Tx) SkipLocked(table string) string {
	return strings.ReplaceAll(tx.conv.dialect().skipLocked, "TABLE", table)
}

// RowID is what the rows of a table are called that nobody else changes meanwhile.
func (tx *Tx) RowID() string { return tx.conv.dialect().rowID }

// ShareLocked ends a query on whose rows the unit rests: until it ends nobody changes
// those of a table, and others may rest on them as well.
func (tx *Tx) ShareLocked(table string) string {
	return strings.ReplaceAll(tx.conv.dialect().shareLocked, "TABLE", table)
}

// NotAmong is the condition that a column has none of some ids, which are one argument, at a place. Of a parameter for each
// SQLite would look for every name among all the others.
func (tx *Tx) NotAmong(column string, ids []uuid.UUID, place int) (condition string, arg any) {
	list, err := json.Marshal(ids)
	if err != nil {
		panic(err) // an id can be written
	}
	listed := strings.ReplaceAll(tx.conv.dialect().listed, "PLACE", Place(place))
	return `CAST(` + column + ` AS text) NOT IN (SELECT value FROM ` + listed + `)`, string(list)
}

// Analyze has a table counted anew, where plans depend on it.
func (tx *Tx) Analyze(table string) {
	if analyze := tx.conv.dialect().analyze; analyze != "" {
		tx.Then(analyze + table)
	}
}

// Relax lets the unit survive this process but not the machine. It is for the
// sandbox's memory, which stands for a gateway elsewhere, and for units that a
// later one makes durable: what commits after them in the ordinary way brings
// them to the disk as well. Where a standby takes over from the machine, it has them.
func (tx *Tx) Relax() {
	tx.relaxed = true
	if sql := tx.conv.dialect().relax; sql != "" {
		tx.Then(sql)
	}
}

// Share lets the unit commit together with others of its kind that come at the same
// time, where that is quicker. Kind is the table whose row it may have to queue for; a
// group takes such rows in order, and writes what its units say in the same words as
// one statement. It is for short units of statements alone, none of which changes one row
// twice in the same words.
func (tx *Tx) Share(kind, row string) { tx.sharedKind, tx.sharedRow = kind, row }

// Apart keeps the unit to itself: it takes rows in an order of its own.
func (tx *Tx) Apart() { tx.apart = true }

// isShared tells whether the unit may commit together with others: never one that
// spares the disk, for its neighbours may not.
func (tx *Tx) isShared() bool { return tx.sharedRow != "" && !tx.relaxed && !tx.apart }

// flush sends what was gathered.
func (tx *Tx) flush() error {
	if len(tx.pending) == 0 {
		return nil
	}
	statements := tx.pending
	tx.pending = nil
	return tx.conv.run(tx.ctx, statements)
}

// Query reads within the unit.
func (tx *Tx) Query(sql string, args ...any) (Rows, error) {
	if err := tx.flush(); err != nil {
		return nil, err
	}
	return tx.conv.query(tx.ctx, sql, args...)
}

// Job is work for the queue: it is run at least once after the unit commits.
type Job interface{ Kind() string }

// Enqueue hands work to the queue together with the unit's rows, to be done not
// before an instant of real time.
func (tx *Tx) Enqueue(job Job, notBefore time.Time) error {
	if err := tx.flush(); err != nil {
		return err
	}
	return tx.conv.enqueue(tx.ctx, job, notBefore)
}
