package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	sqlitedriver "modernc.org/sqlite"
)

// Schema is what a database is to hold: the tables of its owner, and beside them
// those of the queue.
type Schema struct {
	// Version is the newest that this program knows.
	Version int64
	// Migrations has a folder of steps for each engine, "postgres" and "sqlite".
	Migrations fs.FS
	// WholeSQLite is what all steps together make of an empty SQLite database, the
	// queue's tables included. SQLite reads its schema anew for every changed table,
	// so that step by step a first start would take twice as long.
	WholeSQLite string
}

// migrationLock is the PostgreSQL advisory lock under which one process at a
// time migrates; others wait and then find nothing to do.
const migrationLock = 0x5e9ad

// schemaVersions is what a database says of itself.
type schemaVersions struct{ current, oldest int64 }

// check refuses a database that this program must not use.
func (v schemaVersions) check(known int64) error {
	if v.oldest > known {
		return fmt.Errorf("the database has schema %d, which needs a sepad that knows schema %d or newer; this one knows %d",
			v.current, v.oldest, known)
	}
	if v.current < known {
		return fmt.Errorf("the database has schema %d and needs %d: run sepad migrate", v.current, known)
	}
	return nil
}

// schemaVersions reads both numbers in one go.
func (d *DB) schemaVersions(ctx context.Context) (schemaVersions, error) {
	result, err := d.engine.query(ctx, `
		SELECT (SELECT MAX(version_id) FROM goose_db_version), oldest_version FROM schema_compatibility`)
	return One(result, err, func(r Rows) (v schemaVersions, err error) {
		return v, r.Scan(&v.current, &v.oldest)
	})
}

// NoSuchTable tells either engine's complaint that a table is not there.
func NoSuchTable(err error) bool {
	if sqliteErr, ok := errors.AsType[*sqlitedriver.Error](err); ok {
		return strings.Contains(sqliteErr.Error(), "no such table")
	}
	return hasCode(err, pgUndefinedTable)
}

func (p *postgres) migrate(ctx context.Context, schema Schema) error {
	// The lock has a connection of its own: a pool of one connection is left for the
	// migrations themselves.
	connection, err := pgx.ConnectConfig(ctx, p.connections.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	if err := p.lockMigrations(ctx, connection); err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(p.connections)
	defer db.Close()
	if err := gooseUp(ctx, goose.DialectPostgres, db, schema, "postgres"); err != nil {
		return err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(p.connections), nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// lockMigrations waits for the lock by asking again: a statement that waits holds a
// snapshot, and an index that is built beside writers waits until all snapshots that
// are older have ended. The lock is a transaction's, which a pooler leaves to one
// session; it ends with the connection whatever happens.
func (p *postgres) lockMigrations(ctx context.Context, connection *pgx.Conn) error {
	const pause, silence = 100 * time.Millisecond, 20
	for try := 0; ; try++ {
		if try == silence {
			p.logger.InfoContext(ctx, "waiting for another process that is migrating this database")
		}
		if isLocked, err := tryLock(ctx, connection, migrationLock); err != nil || isLocked {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("another process is migrating this database: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

// tryLock leaves a transaction open that holds an advisory lock, or none.
func tryLock(ctx context.Context, connection *pgx.Conn, lock int64) (isLocked bool, err error) {
	// Whatever the database has set, it keeps no snapshot between statements.
	tx, err := connection.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return false, err
	}
	// It has nothing to do for as long as the work takes.
	if _, err := tx.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
		return false, err
	}
	// Asked in the simple way, whose snapshot ends with the answer; otherwise it lasts until the next question, and an
	// index that is built beside writers would wait for it.
	err = tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", pgx.QueryExecModeSimpleProtocol, lock).Scan(&isLocked)
	if err != nil || isLocked {
		return isLocked, err
	}
	return false, tx.Rollback(ctx)
}

func (s *sqlite) migrate(ctx context.Context, schema Schema) error {
	unlock, err := s.flock(".migrate", syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer unlock()
	isNew, secure, err := s.hurryWhileEmpty(ctx)
	if err != nil {
		return err
	}
	defer secure()
	if isNew && schema.WholeSQLite != "" {
		return s.makeWhole(ctx, schema.WholeSQLite)
	}
	return s.migrateStepwise(ctx, schema)
}

// makeWhole gives a new database its schema at once.
func (s *sqlite) makeWhole(ctx context.Context, whole string) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, whole); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// migrateStepwise brings a database that holds data to this version.
func (s *sqlite) migrateStepwise(ctx context.Context, schema Schema) error {
	// The queue's tables come first: its migrations rename tables, for which
	// SQLite reads the whole schema anew, and ours would double the time.
	migrator, err := rivermigrate.New(riversqlite.New(s.writer), nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return gooseUp(ctx, goose.DialectSQLite3, s.writer, schema, "sqlite")
}

// hurryWhileEmpty spares a new database the wait for the disk at each step: what
// a power cut takes from it is made again at the next start. One that holds data
// could be torn by the same, and is migrated with every care.
func (s *sqlite) hurryWhileEmpty(ctx context.Context) (isEmpty bool, secure func(), err error) {
	var tables int
	err = s.writer.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_schema").Scan(&tables)
	if err != nil || tables > 0 {
		return false, func() {}, err
	}
	_, err = s.writer.ExecContext(ctx, "PRAGMA synchronous = OFF")
	return true, func() {
		ctx := context.WithoutCancel(ctx)
		_, _ = s.writer.ExecContext(ctx, "PRAGMA synchronous = FULL")
		_, _ = s.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		_, _ = s.writer.ExecContext(ctx, "PRAGMA shrink_memory") // a megabyte of pages, which nobody asks for again
	}, err
}

// gooseUp applies what is missing. A database from a newer program is left
// alone here: whether it can be used is for check to say.
func gooseUp(ctx context.Context, dialect goose.Dialect, db *sql.DB, schema Schema, folder string) error {
	files, err := fs.Sub(schema.Migrations, folder)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db, files, goose.WithAllowOutofOrder(false))
	if err != nil {
		return err
	}
	current, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	if current >= schema.Version {
		return nil
	}
	if _, err := provider.Up(ctx); err != nil {
		return errors.Join(errors.New("the database could not be brought to this version"), err)
	}
	return nil
}
