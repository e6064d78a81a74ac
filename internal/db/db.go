package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// DB is the database of one installation.
type DB struct {
	engine engine
	// replica serves reads that may be behind; nil for none.
	replica     *replica
	schema      Schema
	queueLogger *slog.Logger
	queues      [purposes]turnstile
}

// Options say how a database is opened.
type Options struct {
	// ReplicaURL is a PostgreSQL standby for reads that may lag, "" for none.
	ReplicaURL string
	// ReplicaLag is how far it may be behind, 0 for half a minute.
	ReplicaLag time.Duration
	// MaxConnections bounds the PostgreSQL pool; 0 means a sensible number.
	MaxConnections int
	// Tracer takes the spans of statements; nil makes none.
	Tracer trace.TracerProvider
	// Name is by which the server knows this process, "" for sepad.
	Name string
	// Logger takes what the queue has to say, and what a start waits for; nil drops it.
	Logger *slog.Logger
	// Clock is the database's time. Nil means PostgreSQL's own, and for SQLite that
	// of this process, which must not jump.
	Clock func() time.Time
}

// An address may hold a password; printed, options do not show it.

func (o Options) String() string { return "options of a database" }

func (o Options) Format(w fmt.State, _ rune)   { io.WriteString(w, o.String()) }
func (o Options) MarshalText() ([]byte, error) { return []byte(o.String()), nil }
func (o Options) LogValue() slog.Value         { return slog.StringValue(o.String()) }

const defaultMaxConnections = 24

func (o Options) maxConnections() int {
	if o.MaxConnections > 0 {
		return o.MaxConnections
	}
	return defaultMaxConnections
}

// logger is one that may be called in any case.
func (o Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}

// queueLogger passes on the queue's warnings: its ordinary talk is not ours.
func (o Options) queueLogger() *slog.Logger {
	return slog.New(warningsOnly{o.logger().Handler()})
}

type warningsOnly struct{ slog.Handler }

func (warningsOnly) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (h warningsOnly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warningsOnly{h.Handler.WithAttrs(attrs)}
}

func (h warningsOnly) WithGroup(name string) slog.Handler {
	return warningsOnly{h.Handler.WithGroup(name)}
}

// Open opens the database at a URL, "sqlite:PATH" or "postgres://…", that has a
// schema or is to get it.
func Open(ctx context.Context, url string, schema Schema, opts Options) (*DB, error) {
	engine, err := openEngine(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	d := &DB{engine: engine, schema: schema, queueLogger: opts.queueLogger()}
	if err := d.openReplica(ctx, opts); err != nil {
		return nil, errors.Join(err, engine.close())
	}
	return d, nil
}

func openEngine(ctx context.Context, url string, opts Options) (engine, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(ctx, rest, opts)
	case "postgres", "postgresql":
		return openPostgres(ctx, url, opts)
	default:
		return nil, errors.New("a database address begins with sqlite: or postgres://")
	}
}

// Write runs work as one unit: everything it does through tx is committed
// together, or nothing is. Work may be run again when the database asks for
// it, so it must change nothing but tx.
func (d *DB) Write(ctx context.Context, at time.Time, work func(*Tx) error) error {
	within, end, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	return late(ctx, within, d.engine.write(within, at, work))
}

// Query reads outside a unit of work.
func (d *DB) Query(ctx context.Context, sql string, args ...any) (Rows, error) {
	return d.read(ctx, d.engine.query, sql, args)
}

// LookUp is Query for few rows that are found by a key, and that many ask for at the same time. It names each key once,
// and sees what was committed before it was called.
func (d *DB) LookUp(ctx context.Context, sql string, args ...any) (Rows, error) {
	return d.read(ctx, d.engine.lookUp, sql, args)
}

// asking is an engine's way to read.
type asking func(ctx context.Context, sql string, args ...any) (Rows, error)

func (d *DB) read(ctx context.Context, ask asking, sql string, args []any) (Rows, error) {
	within, end, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := ask(within, sql, args...)
	if err != nil {
		end()
		return nil, late(ctx, within, err)
	}
	if within == ctx {
		return rows, nil
	}
	return &attendedRows{Rows: rows, ctx: ctx, within: within, end: end}, nil
}

// Migrate brings the schema to this version. Two processes may do it at once.
func (d *DB) Migrate(ctx context.Context) error { return d.engine.migrate(ctx, d.schema) }

// Pool describes the connections in use.
func (d *DB) Pool() PoolStats { return d.engine.pool() }

// Close ends every connection, after units of work under way.
func (d *DB) Close() error {
	err := d.engine.close()
	if d.HasReplica() {
		err = errors.Join(err, d.replica.close())
	}
	return err
}

// Ready tells whether the database can be reached and has a schema that this
// version can use.
func (d *DB) Ready(ctx context.Context) error {
	versions, err := d.schemaVersions(ctx)
	if NoSuchTable(err) {
		return errors.New("the database has no schema yet: run sepad migrate")
	}
	if err != nil {
		return fmt.Errorf("the database cannot be used: %w", err)
	}
	return versions.check(d.schema.Version)
}

// Intact tells that the database is still the one that was opened.
func (d *DB) Intact() error {
	if file, ok := d.engine.(*sqlite); ok {
		return file.intact()
	}
	return nil
}

// leastRoom is what a disk must have left: below it a small write still finds its place where a payment does not.
const leastRoom = 4 << 20

// ErrNoRoom tells that the disk of the database is full, or as good as that.
var ErrNoRoom = errors.New("the disk of the database is full")

// HasRoom looks whether the disk of the database takes more.
func (d *DB) HasRoom(ctx context.Context) error { return d.engine.hasRoom(ctx) }

func (s *sqlite) hasRoom(context.Context) error {
	if left, known := roomOf(s.path); known && left < leastRoom {
		return ErrNoRoom
	}
	return nil
}

// fillRoom takes leastRoom of the disk for a moment: what does not fit into work_mem is written to a file, beside the
// tables unless temp_tablespaces says otherwise, without log, lock or row.
const fillRoom = `
	WITH filler AS MATERIALIZED (SELECT repeat('x', 8192) AS bytes FROM generate_series(1, 512))
	SELECT SUM(octet_length(bytes)) FROM filler`

// hasRoom has PostgreSQL try, for its disk may be anywhere. A row that is written again finds its place among those that
// were there, and the log in a file that it has already, on a disk that takes no new payment. Where files of this kind
// are bounded (temp_file_limit) nothing can be said.
func (p *postgres) hasRoom(ctx context.Context) error {
	err := p.write(ctx, time.Time{}, func(tx *Tx) error {
		tx.Then(`SELECT set_config('work_mem', '64', TRUE)`)
		tx.Then(fillRoom)
		return nil
	})
	switch {
	case hasCode(err, pgDiskFull):
		return ErrNoRoom
	case hasCode(err, pgLimitExceeded):
		return nil
	}
	return err
}

// Micros is how an instant is kept; a zero one is NULL.
func Micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// Instant scans microseconds into a time; NULL is the zero time.
type Instant struct{ To *time.Time }

func (i Instant) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*i.To = time.Time{}
	case int64:
		*i.To = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("db: an instant cannot be read from %T", value)
	}
	return nil
}
