package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Copying is what CopyTo is told to do beside copying.
type Copying struct {
	// At is the service's time.
	At time.Time
	// Told hears how many rows of how many were written.
	Told func(table string, done, total int64)
}

// CopyTo copies all rows of ours into a database that has the same schema and holds
// nothing, of either engine, in one unit: everything is there, value by value what
// it was, or nothing is. The queue's tables are left out.
func (d *DB) CopyTo(ctx context.Context, to *DB, how Copying) (sums Tally, err error) {
	err = d.engine.snapshot(ctx, func(read reading) error {
		tables, err := tablesOf(ctx, read, d.engine)
		if err != nil {
			return err
		}
		if sums, err = tally(ctx, read, d.engine.catalog()); err != nil {
			return err
		}
		return to.Write(ctx, how.At, func(tx *Tx) error {
			c := copyist{ctx: ctx, read: read, tx: tx, tables: tables, total: sums.Rows(), told: how.Told}
			if err := c.copy(); err != nil {
				return err
			}
			return c.check(to.engine, sums)
		})
	})
	if err != nil {
		return nil, err
	}
	return sums, to.Write(ctx, how.At, func(tx *Tx) error {
		for name := range sums {
			if !strings.Contains(name, ".") {
				tx.Analyze(name)
			}
		}
		return nil
	})
}

// copiedTable is a table with its columns and what was read of it.
type copiedTable struct {
	name    string
	columns []column
	digest  uint64
}

// tablesOf lists our tables, each behind those that its rows name.
func tablesOf(ctx context.Context, read reading, from engine) ([]*copiedTable, error) {
	all, err := columns(ctx, read, from.catalog())
	if err != nil {
		return nil, err
	}
	var waiting []*copiedTable
	for i, c := range all {
		if i == 0 || all[i-1].table != c.table {
			waiting = append(waiting, &copiedTable{name: c.table})
		}
		last := waiting[len(waiting)-1]
		last.columns = append(last.columns, c)
	}
	result, err := read(ctx, from.references())
	names, err := Collect(result, err, func(r Rows) (n [2]string, err error) { return n, r.Scan(&n[0], &n[1]) })
	if err != nil {
		return nil, err
	}
	var ordered []*copiedTable
	for len(waiting) > 0 {
		at := slices.IndexFunc(waiting, func(t *copiedTable) bool {
			return !slices.ContainsFunc(names, func(n [2]string) bool {
				return n[0] == t.name && n[1] != t.name && slices.ContainsFunc(waiting, func(w *copiedTable) bool { return w.name == n[1] })
			})
		})
		if at < 0 {
			return nil, fmt.Errorf("db: tables name each other in a circle, beginning with %s", waiting[0].name)
		}
		ordered = append(ordered, waiting[at])
		waiting = slices.Delete(waiting, at, at+1)
	}
	return ordered, nil
}

// copyist copies tables one after the other.
type copyist struct {
	ctx    context.Context
	read   reading
	tx     *Tx
	tables []*copiedTable
	done   int64
	total  int64
	told   func(table string, done, total int64)
}

func (c *copyist) copy() error {
	// A new schema has rows of its own, of which the original has its version.
	for _, t := range slices.Backward(c.tables) {
		c.tx.Then(`DELETE FROM ` + t.name)
	}
	for _, t := range c.tables {
		if err := c.copyTable(t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// Rows are written by the thousand, but for long ones.
const (
	copyRows  = 2_000
	copyBytes = 4 << 20
)

func (c *copyist) copyTable(t *copiedTable) error {
	names := make([]string, len(t.columns))
	for i, column := range t.columns {
		names[i] = column.name
	}
	var rows []BulkRow
	var size int
	flush := func() error {
		if err := c.tx.Load(t.name, names, rows); err != nil {
			return err
		}
		c.done += int64(len(rows))
		rows, size = rows[:0], 0
		c.told(t.name, c.done, c.total)
		return c.ctx.Err()
	}
	result, err := c.read(c.ctx, t.selection())
	t.digest, err = walk(result, err, len(t.columns), func(values []any, length int) error {
		rows, size = append(rows, ValueRow(slices.Clone(values))), size+length
		if len(rows) < copyRows && size < copyBytes {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// selection reads a table's rows in the form that both engines write: ids as text,
// flags as numbers.
func (t *copiedTable) selection() string {
	list := make([]string, len(t.columns))
	for i, c := range t.columns {
		switch list[i] = c.name; c.kind {
		case "uuid":
			list[i] = `CAST(` + c.name + ` AS TEXT)`
		case "boolean":
			list[i] = `CAST(CAST(` + c.name + ` AS INTEGER) AS BIGINT)`
		}
	}
	return `SELECT ` + strings.Join(list, ", ") + ` FROM ` + t.name
}

// walk reads rows, and makes a digest of them that does not depend on their order.
func walk(result Rows, err error, columns int, row func(values []any, length int) error) (digest uint64, _ error) {
	if err != nil {
		return 0, err
	}
	defer result.Close()
	values, into := make([]any, columns), make([]any, columns)
	for i := range values {
		into[i] = &values[i]
	}
	for result.Next() {
		if err := result.Scan(into...); err != nil {
			return 0, err
		}
		text := ValueRow(values).AppendCopy(nil)
		sum := fnv.New64a()
		sum.Write(text)
		digest += sum.Sum64()
		if err := row(values, len(text)); err != nil {
			return 0, err
		}
	}
	return digest, result.Err()
}

// check holds the copy against what was read.
func (c *copyist) check(to engine, want Tally) error {
	read := func(_ context.Context, text string, args ...any) (Rows, error) { return c.tx.Query(text, args...) }
	got, err := tally(c.ctx, read, to.catalog())
	if err != nil {
		return err
	}
	if different := want.Differences(got); len(different) > 0 {
		return fmt.Errorf("the copy differs in %s", strings.Join(different, ", "))
	}
	tables, err := tablesOf(c.ctx, read, to)
	if err != nil {
		return err
	}
	for _, t := range c.tables {
		at := slices.IndexFunc(tables, func(copied *copiedTable) bool { return copied.name == t.name })
		copied := &copiedTable{name: t.name, columns: make([]column, len(t.columns))}
		for i, original := range t.columns { // in the order of the original
			found := slices.IndexFunc(tables[at].columns, func(other column) bool { return other.name == original.name })
			copied.columns[i] = tables[at].columns[found]
		}
		result, err := read(c.ctx, copied.selection())
		digest, err := walk(result, err, len(copied.columns), func([]any, int) error { return nil })
		if err != nil {
			return err
		}
		if digest != t.digest {
			return fmt.Errorf("the copy of %s differs from the original", t.name)
		}
	}
	return nil
}

func (p *postgres) snapshot(ctx context.Context, work func(reading) error) error {
	tx, err := p.connections.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was changed
	// It is held open while somebody copies what it shows, however long that takes.
	if _, err := tx.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
		return err
	}
	return work(func(ctx context.Context, text string, args ...any) (Rows, error) {
		result, err := tx.Query(ctx, text, args...)
		return &postgresRows{Rows: result}, err
	})
}

func (s *sqlite) snapshot(ctx context.Context, work func(reading) error) error {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing was changed
	return work(func(ctx context.Context, text string, args ...any) (Rows, error) {
		result, err := tx.QueryContext(ctx, text, args...)
		return sqliteRows{result}, err
	})
}

func (*sqlite) references() string {
	return `SELECT t.name, f."table" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`
}

func (*postgres) references() string {
	return `SELECT a.relname, b.relname FROM pg_constraint c JOIN pg_class a ON a.oid = c.conrelid JOIN pg_class b ON b.oid = c.confrelid
		WHERE c.contype = 'f' AND a.relnamespace = current_schema()::regnamespace`
}

// companions are counted whatever they are called: an address may give a server any name. Who has no user is the
// database's own worker, and a sender of replication writes nothing.
func (p *postgres) companions(ctx context.Context) ([]string, error) {
	result, err := p.query(ctx, `
		SELECT COALESCE(NULLIF(application_name, ''), '?') FROM pg_stat_activity
		WHERE datname = current_database() AND usesysid IS NOT NULL AND COALESCE(backend_type, '') <> 'walsender'
			AND application_name <> current_setting('application_name')
		ORDER BY application_name`)
	return Collect(result, err, func(r Rows) (name string, err error) { return name, r.Scan(&name) })
}

// OpenElsewhere names whoever else has a PostgreSQL database open, once for each connection; of an SQLite file it says
// ErrOpenElsewhere. Whoever asks has opened it under a name of their own.
func (d *DB) OpenElsewhere(ctx context.Context) ([]string, error) { return d.engine.companions(ctx) }

// movingLock is the PostgreSQL advisory lock of whoever moves a database elsewhere.
const movingLock = 0x5e9ae

// LockForMoving keeps every other move of a PostgreSQL database away until it is unlocked, or the process ends. An SQLite
// file is kept by LockForServing.
func (d *DB) LockForMoving(ctx context.Context) (unlock func(), err error) {
	engine, ok := d.engine.(*postgres)
	if !ok {
		return func() {}, nil
	}
	connection, err := engine.connections.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	giveBack := func() {
		_ = connection.Conn().Close(context.WithoutCancel(ctx)) // the lock ends with it, at the latest
		connection.Release()
	}
	isLocked, err := tryLock(ctx, connection.Conn(), movingLock)
	if err == nil && !isLocked {
		err = errors.New("somebody else is moving this database")
	}
	if err != nil {
		giveBack()
		return nil, err
	}
	return func() { unlockNow(ctx, connection.Conn()); giveBack() }, nil
}

// unlockNow lets the lock of tryLock go before its session ends: the server hears of an end a moment after the client has
// left, and would refuse whoever tries again at once.
func unlockNow(ctx context.Context, connection *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = connection.Exec(ctx, "ROLLBACK") // else it goes with the session
}
