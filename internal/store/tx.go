package store

import (
	"context"
	"time"
)

// Tx is a unit of work: the one door to durable effects. It carries the instant
// at which it began, and gathers statements so that an engine can send them
// together; a read in between sends what was gathered so far.
type Tx struct {
	// At is the service's time for everything that this unit writes.
	At time.Time

	ctx       context.Context
	conv      conversation
	pending   []statement
	announced []Endpoint
	// sharedRow is not empty when the unit may commit together with others.
	sharedRow string
	relaxed   bool
}

// Write runs work as one unit: everything it does through tx is committed
// together, or nothing is. Work may be run again when the database asks for
// it, so it must change nothing but tx.
func (s *Store) Write(ctx context.Context, at time.Time, work func(*Tx) error) error {
	var announced []Endpoint
	err := s.engine.write(ctx, at, func(tx *Tx) error {
		err := work(tx)
		announced = tx.announced
		return err
	})
	if err == nil {
		s.tell(announced)
	}
	return err
}

// require adds the statement on which the unit rests: when it touches no row,
// the unit changes nothing and Write gives the error none.
func (tx *Tx) require(none error, sql string, args ...any) {
	tx.pending = append(tx.pending, statement{sql: sql, args: args, none: none})
}

// then adds a statement that may touch any number of rows.
func (tx *Tx) then(sql string, args ...any) {
	tx.pending = append(tx.pending, statement{sql: sql, args: args})
}

// Relax lets the unit survive this process but not the machine. It is for the
// sandbox's memory, which stands for a gateway elsewhere, and for units that a
// later one makes durable: what commits after them in the ordinary way brings
// them to the disk as well.
func (tx *Tx) Relax() {
	tx.relaxed = true
	if sql := tx.conv.dialect().relax; sql != "" {
		tx.then(sql)
	}
}

// share lets the unit commit together with others that come at the same time,
// where that is quicker. Row names what it may have to queue for; a group takes
// such rows in order. It is for short units of statements alone.
func (tx *Tx) share(row string) { tx.sharedRow = row }

// isShared tells whether the unit may commit together with others: never one that
// spares the disk, for its neighbours may not.
func (tx *Tx) isShared() bool { return tx.sharedRow != "" && !tx.relaxed }

// flush sends what was gathered.
func (tx *Tx) flush() error {
	if len(tx.pending) == 0 {
		return nil
	}
	statements := tx.pending
	tx.pending = nil
	return tx.conv.run(tx.ctx, statements)
}

// query reads within the unit.
func (tx *Tx) query(sql string, args ...any) (rows, error) {
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
