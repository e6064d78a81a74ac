package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// SQLSTATE codes that we act on.
const (
	pgNotNullViolation = "23502"
	pgUniqueViolation  = "23505"
	pgDeadlock         = "40P01"
	pgSerialization    = "40001"
	pgDivisionByZero   = "22012"
	pgUndefinedTable   = "42P01"
	pgReadsOnly        = "25006"
	pgDiskFull         = "53100"
	pgLimitExceeded    = "53400"
	pgLockNotAvailable = "55P03"
)

const (
	// writeTries bounds how often a unit is run that PostgreSQL sacrifices to others.
	writeTries = 5
	// wayPause is how long such a unit leaves the other one the way, at first. PostgreSQL
	// gives a row to whoever asks first, not to whoever has waited: a unit that came back
	// at once took it again before the other had woken, and both were locked as before.
	wayPause = 10 * time.Millisecond
	// rollbackPatience is for a connection that does not answer; closed, it is rolled back as well.
	rollbackPatience = 3 * time.Second
)

// ourName is by which PostgreSQL knows our connections.
const ourName = "sepad"

// postgres is the engine of an installation with several processes.
type postgres struct {
	connections *pgxpool.Pool
	queue       *river.Client[pgx.Tx]
	berths      berths
	shared      sharedLanesOf
	looks       lookLanesOf
	forms       setForms
	clock       sharedClock
	logger      *slog.Logger
	guard       atomic.Pointer[guard]
}

// openPostgres makes the pool; nothing is connected before it is needed.
func openPostgres(ctx context.Context, url string, opts Options) (*postgres, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database address cannot be read: %w", err)
	}
	prepareConnections(config, url, opts)
	if opts.Tracer != nil {
		config.ConnConfig.Tracer = otelpgx.NewTracer(
			otelpgx.WithTracerProvider(opts.Tracer), otelpgx.WithDisableSQLStatementInAttributes())
	}
	p := &postgres{clock: sharedClock{read: opts.Clock}, logger: opts.logger()}
	config.AfterConnect = p.guarded(config.AfterConnect)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: opts.queueLogger()})
	if err != nil {
		return nil, err
	}
	p.connections, p.queue = pool, queue
	p.berths.moor(int(config.MaxConns))
	p.shared.rowPatience, p.shared.byKind = rowPatience, map[string]*gatherer[*sharedUnit]{}
	return p, nil
}

func (p *postgres) write(ctx context.Context, at time.Time, work func(*Tx) error) (err error) {
	for try := range writeTries {
		if try > 0 && !giveWay(ctx, wayPause<<try) {
			break
		}
		if err = p.writeOnce(ctx, at, work); !sacrificed(err) {
			break
		}
	}
	return err
}

// giveWay waits for half of a time or more, so that several units do not come back
// together; false tells that the caller has left meanwhile.
func giveWay(ctx context.Context, most time.Duration) bool {
	timer := time.NewTimer(most/2 + rand.N(most/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sacrificed tells that PostgreSQL rolled a unit back in favour of another one.
func sacrificed(err error) bool { return hasCode(err, pgDeadlock) || hasCode(err, pgSerialization) }

func (p *postgres) writeOnce(ctx context.Context, at time.Time, work func(*Tx) error) error {
	within, done := unbroken(ctx)
	defer done()
	conv := &postgresConversation{engine: p, caller: ctx}
	defer conv.close()
	tx := &Tx{At: at, ctx: within, conv: conv}
	if err := work(tx); err != nil {
		return err
	}
	if tx.isShared() && conv.tx == nil {
		if err := p.writeShared(ctx, tx); !errors.Is(err, errGroupGivenUp) {
			return err
		}
	}
	return conv.finish(within, tx.pending)
}

func (p *postgres) query(ctx context.Context, sql string, args ...any) (Rows, error) {
	sql, args = p.clock.write(sql, direct(args))
	if ctx.Value(freshPlan{}) != nil {
		args = append([]any{pgx.QueryExecModeCacheDescribe}, args...)
	}
	berth, err := p.berths.take(ctx)
	if err != nil {
		return nil, err
	}
	within, done := unbroken(ctx)
	result, err := p.connections.Query(within, sql, args...)
	if err != nil {
		done()
		<-berth
		return nil, err
	}
	rows := &postgresRows{Rows: result, done: func() { done(); <-berth }}
	if err := rows.await(); err != nil {
		rows.Close()
		return nil, err
	}
	return rows, nil
}

// browse has its berth by what it is for, as every query.
func (p *postgres) browse(ctx context.Context, _ any, sql string, args ...any) (Rows, error) {
	return p.query(ctx, sql, args...)
}

// freshPlan marks reads whose plan is made anew each time. PostgreSQL keeps the
// plan of a prepared statement that was made while a table was nearly empty, and
// a table that is being filled by the thousand would be read from end to end for
// every batch, until it is analyzed.
type freshPlan struct{}

func PlanAnew(ctx context.Context) context.Context { return context.WithValue(ctx, freshPlan{}, true) }

// postgresRows gives pgx's rows what a listing needs beyond, and back what was taken
// for them, nil where it is the unit's.
type postgresRows struct {
	pgx.Rows
	done func()
	// isAwaited tells that the first row was asked for, and hasFirst what was said.
	isAwaited, hasFirst bool
}

// await asks for the first row. Only with it does a query fail that was sent, and who asked may then ask elsewhere.
func (r *postgresRows) await() error {
	if r.isAwaited, r.hasFirst = true, r.Rows.Next(); r.hasFirst {
		return nil
	}
	return r.Rows.Err()
}

func (r *postgresRows) Next() bool {
	if r.isAwaited {
		r.isAwaited = false
		return r.hasFirst
	}
	return r.Rows.Next()
}

func (r *postgresRows) Scan(into ...any) error {
	if scanDirectly(r.FieldDescriptions(), r.RawValues(), into) {
		return nil
	}
	return r.Rows.Scan(into...)
}

func (r *postgresRows) Cells() Cells { return &postgresCells{rows: r} }

func (r *postgresRows) Close() {
	r.Rows.Close()
	if r.done != nil {
		r.done()
		r.done = nil
	}
}

func (p *postgres) pool() PoolStats {
	stat := p.connections.Stat()
	return PoolStats{
		Open: int(stat.TotalConns()), InUse: int(stat.AcquiredConns()), Max: int(stat.MaxConns()),
		Waits:   stat.EmptyAcquireCount() + p.berths.waits.Load(),
		Waiting: stat.EmptyAcquireWaitTime() + time.Duration(p.berths.waited.Load()),
	}
}

// closePatience is how long connections are waited for on which something is still under way.
const closePatience = 5 * time.Second

// close lets go of the connections. Work that waits for a database that does not answer may have minutes left, and a
// process that was told to end has none for it.
func (p *postgres) close() error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		p.connections.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closePatience):
	}
	return nil
}

// postgresConversation begins a transaction only when a unit reads or enqueues
// in between: a unit of statements alone is one pipeline that PostgreSQL
// commits as a whole at its end.
type postgresConversation struct {
	engine *postgres
	// caller ends the unit between statements, where nothing is broken off.
	caller context.Context
	tx     pgx.Tx
	berth  chan struct{}
}

func (c *postgresConversation) begin(ctx context.Context) (err error) {
	if err := c.caller.Err(); err != nil || c.tx != nil {
		return err
	}
	if err := c.berthed(ctx); err != nil {
		return err
	}
	c.tx, err = c.engine.connections.Begin(ctx)
	return err
}

// berthed waits until the unit may use a connection.
func (c *postgresConversation) berthed(ctx context.Context) (err error) {
	if c.berth == nil {
		c.berth, err = c.engine.berths.take(ctx)
	}
	return err
}

// close ends the unit, and takes back what was not committed.
func (c *postgresConversation) close() {
	if c.tx != nil {
		within, cancel := context.WithTimeout(context.Background(), rollbackPatience)
		defer cancel()
		_ = c.tx.Rollback(within) // after a commit this does nothing
	}
	if c.berth != nil {
		<-c.berth
	}
}

func (c *postgresConversation) run(ctx context.Context, statements []statement) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	return pipeline(c.tx.SendBatch(ctx, c.engine.batchOf(statements)), statements)
}

// finish runs the last statements and commits.
func (c *postgresConversation) finish(ctx context.Context, statements []statement) error {
	if err := c.caller.Err(); err != nil {
		return err
	}
	if c.tx == nil {
		if err := c.berthed(ctx); err != nil {
			return err
		}
		connection, err := c.engine.connections.Acquire(ctx)
		if err != nil {
			return err
		}
		defer connection.Release()
		within, cancel := toTheEnd(ctx)
		defer cancel()
		return pipeline(connection.SendBatch(within, c.engine.batchOf(statements)), statements)
	}
	if err := c.run(ctx, statements); err != nil {
		return err
	}
	return c.tx.Commit(ctx)
}

func (c *postgresConversation) query(ctx context.Context, sql string, args ...any) (Rows, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	sql, args = c.engine.clock.write(sql, direct(args))
	result, err := c.tx.Query(ctx, sql, args...)
	return &postgresRows{Rows: result}, err
}

func (c *postgresConversation) enqueue(ctx context.Context, job Job, notBefore time.Time) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	_, err := c.engine.queue.InsertTx(ctx, c.tx, job, &river.InsertOpts{ScheduledAt: notBefore})
	return err
}

func (c *postgresConversation) dialect() dialect {
	return dialect{
		// For this transaction only, and only where there is no standby to take over: it
		// would not know what this process goes on from.
		relax:       `SELECT set_config('synchronous_commit', 'off', TRUE) WHERE current_setting('synchronous_standby_names') = ''`,
		rowID:       `ctid`,
		skipLocked:  ` FOR UPDATE OF TABLE SKIP LOCKED`,
		shareLocked: ` FOR SHARE OF TABLE`,
		analyze:     `ANALYZE `,
		listed:      `json_array_elements_text(CAST(CAST(PLACE AS text) AS json)) AS value`,
		young: `SELECT relname FROM pg_stat_user_tables WHERE schemaname = current_schema() AND n_live_tup >= 500 AND (
			last_analyze IS NULL AND last_autoanalyze IS NULL OR n_mod_since_analyze > n_live_tup / 2 AND n_live_tup < 100000)`,
	}
}

func (p *postgres) batchOf(statements []statement) *pgx.Batch {
	batch := &pgx.Batch{}
	for _, s := range statements {
		text, args := p.clock.write(s.sql, direct(s.args))
		batch.Queue(s.forOne(text), args...)
	}
	return batch
}

// direct turns arguments, in place, into the types that pgx writes directly. A
// UUID or a status would else be asked for a driver's value and parsed again,
// which took a fifth of the time of a create.
func direct(args []any) []any {
	for i, arg := range args {
		switch v := arg.(type) {
		case nil, string, int64, bool:
		case uuid.UUID:
			args[i] = [16]byte(v)
		case *uuid.UUID:
			args[i] = nil
			if v != nil {
				args[i] = [16]byte(*v)
			}
		default:
			args[i] = basic(v)
		}
	}
	return args
}

// basic takes the name off a type that is a string or a whole number beneath.
func basic(arg any) any {
	value := reflect.ValueOf(arg)
	switch value.Kind() {
	case reflect.String:
		return value.String()
	case reflect.Int, reflect.Int64:
		return value.Int()
	default:
		return arg
	}
}

// pipeline reads the answers to a batch.
func pipeline(results pgx.BatchResults, statements []statement) error {
	for _, s := range statements {
		if err := s.take(results); err != nil {
			_ = results.Close() // the statement's error says more
			if s.none != nil && hasCode(err, unmetCode(s)) {
				return s.none
			}
			return keyError(err)
		}
	}
	return keyError(results.Close())
}

// take reads the answer to one statement.
func (s statement) take(results pgx.BatchResults) error {
	if s.read == nil {
		_, err := results.Exec()
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	return s.read(&postgresRows{Rows: rows})
}

// unmetCode is how a requirement ends that touches no row: it divides by their
// number, and a continuation has no id for the column that must have one.
func unmetCode(s statement) string {
	if s.next.SQL != "" {
		return pgNotNullViolation
	}
	return pgDivisionByZero
}

// hasCode tells whether PostgreSQL gave an error of a code.
func hasCode(err error, code string) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pgErr.Code == code
}

// keyError names the unique key that a statement would break.
func keyError(err error) error {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok && pgErr.Code == pgUniqueViolation {
		return &KeyError{Key: pgErr.ConstraintName}
	}
	return err
}
