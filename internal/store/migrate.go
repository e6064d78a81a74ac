package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	sqlitedriver "modernc.org/sqlite"
)

//go:embed migrations
var migrations embed.FS

// SchemaVersion is the newest schema that this program knows. A test holds it
// to the newest migration.
const SchemaVersion = 8

// migrationLock is the PostgreSQL advisory lock under which one process at a
// time migrates; others wait and then find nothing to do.
const migrationLock = 0x5e9ad

// schemaVersions is what a database says of itself.
type schemaVersions struct{ current, oldest int64 }

// check refuses a database that this program must not use.
func (v schemaVersions) check() error {
	if v.oldest > SchemaVersion {
		return fmt.Errorf("the database has schema %d, which needs a sepad that knows schema %d or newer; this one knows %d",
			v.current, v.oldest, SchemaVersion)
	}
	if v.current < SchemaVersion {
		return fmt.Errorf("the database has schema %d and needs %d: run sepad migrate", v.current, SchemaVersion)
	}
	return nil
}

// schemaVersions reads both numbers in one go.
func (s *Store) schemaVersions(ctx context.Context) (schemaVersions, error) {
	result, err := s.engine.query(ctx, `
		SELECT (SELECT MAX(version_id) FROM goose_db_version), oldest_version FROM schema_compatibility`)
	return one(result, err, func(r rows) (v schemaVersions, err error) {
		return v, r.Scan(&v.current, &v.oldest)
	})
}

// noSuchTable tells either engine's complaint that a table is not there.
func noSuchTable(err error) bool {
	if sqliteErr, ok := errors.AsType[*sqlitedriver.Error](err); ok {
		return strings.Contains(sqliteErr.Error(), "no such table")
	}
	return hasCode(err, pgUndefinedTable)
}

func (p *postgres) migrate(ctx context.Context) error {
	// The lock has a connection of its own: it ends with it whatever happens, and
	// a pool of one connection is left for the migrations themselves.
	lock, err := pgx.ConnectConfig(ctx, p.connections.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close(context.WithoutCancel(ctx)) }()
	if _, err := lock.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(p.connections)
	defer db.Close()
	if err := gooseUp(ctx, goose.DialectPostgres, db, "migrations/postgres"); err != nil {
		return err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(p.connections), nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func (s *sqlite) migrate(ctx context.Context) error {
	unlock, err := lockFile(s.path + ".migrate")
	if err != nil {
		return err
	}
	defer unlock()
	isNew, secure, err := s.hurryWhileEmpty(ctx)
	if err != nil {
		return err
	}
	defer secure()
	if isNew {
		return s.makeWhole(ctx)
	}
	return s.migrateStepwise(ctx)
}

// wholeSchema is what all migrations together make of an empty SQLite database,
// written from such a database by a test that also holds it to them. SQLite reads
// its schema anew for every changed table, so that step by step a developer's
// first start would take twice as long.
//
//go:embed migrations/sqlite_whole.sql
var wholeSchema string

// makeWhole gives a new database its schema at once.
func (s *sqlite) makeWhole(ctx context.Context) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, wholeSchema); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// migrateStepwise brings a database that holds data to this version.
func (s *sqlite) migrateStepwise(ctx context.Context) error {
	// The queue's tables come first: its migrations rename tables, for which
	// SQLite reads the whole schema anew, and ours would double the time.
	migrator, err := rivermigrate.New(riversqlite.New(s.writer), nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return gooseUp(ctx, goose.DialectSQLite3, s.writer, "migrations/sqlite")
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
	}, err
}

// gooseUp applies what is missing. A database from a newer program is left
// alone here: whether it can be used is for check to say.
func gooseUp(ctx context.Context, dialect goose.Dialect, db *sql.DB, folder string) error {
	files, err := fs.Sub(migrations, folder)
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
	if current >= SchemaVersion {
		return nil
	}
	if _, err := provider.Up(ctx); err != nil {
		return errors.Join(errors.New("the database could not be brought to this version"), err)
	}
	return nil
}
