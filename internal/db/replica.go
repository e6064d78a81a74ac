package db

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"sepad/internal/clock"
)

const (
	// replicaLag is how far a replica may be behind: less than the minute that who follows all changes is told to look back.
	replicaLag = 30 * time.Second
	// replicaPatience is how long each of both may take to say where it is.
	replicaPatience = 2 * time.Second
)

// replica is a standby that reads go to which may be a little behind. One that stands still, was made a primary or is
// away would leave out what happened since without a sign: it is asked how far it is, and reads go where everything goes
// as long as it is not near.
type replica struct {
	engine
	lag    time.Duration
	logger *slog.Logger

	asking sync.Mutex
	isNear bool
	until  time.Time
}

// openReplica opens the standby, where there is one.
func (d *DB) openReplica(ctx context.Context, opts Options) error {
	if opts.ReplicaURL == "" {
		return nil
	}
	standby, err := openEngine(ctx, opts.ReplicaURL, opts)
	if err != nil {
		return err
	}
	d.replica = &replica{engine: standby, lag: cmp.Or(opts.ReplicaLag, replicaLag), logger: opts.logger(), isNear: true}
	return nil
}

// HasReplica tells whether some reads go elsewhere.
func (d *DB) HasReplica() bool { return d.replica != nil }

// ReplicaPool describes the connections to the replica that there is.
func (d *DB) ReplicaPool() PoolStats { return d.replica.pool() }

// ReplicaQuery is Query of the replica, where there is one, however far it is behind.
func (d *DB) ReplicaQuery(ctx context.Context, sql string, args ...any) (Rows, error) {
	if d.replica == nil {
		return d.Query(ctx, sql, args...)
	}
	return d.read(ctx, d.replica.query, sql, args)
}

// LaggingQuery is Query for reads at length that may be a little behind: they go to the replica, where there is one that is
// near. Its first argument is whose records they are.
func (d *DB) LaggingQuery(ctx context.Context, sql string, args ...any) (Rows, error) {
	if d.IsReplicaNear(ctx) {
		rows, err := d.ReplicaQuery(ctx, sql, args...)
		if err == nil || ctx.Err() != nil {
			return rows, err
		}
		d.replica.doubt()
	}
	var whose any
	if len(args) > 0 {
		whose = args[0]
	}
	return d.Browse(ctx, whose, sql, args...)
}

// Browse is Query for reads at length of what was only just written, so that no replica may have it. Reads of the same records
// wait for each other.
func (d *DB) Browse(ctx context.Context, whose any, sql string, args ...any) (Rows, error) {
	return d.read(ctx, func(ctx context.Context, sql string, args ...any) (Rows, error) {
		return d.engine.browse(ctx, whose, sql, args...)
	}, sql, args)
}

// doubt has the replica asked again before the next read, as one has failed there.
func (r *replica) doubt() {
	r.asking.Lock()
	defer r.asking.Unlock()
	r.until = time.Time{}
}

// IsReplicaNear tells whether there is a replica, and it can be read from. The answer is believed for a while.
func (d *DB) IsReplicaNear(ctx context.Context) bool {
	r := d.replica
	if r == nil {
		return false
	}
	r.asking.Lock()
	defer r.asking.Unlock()
	if clock.Steady().Before(r.until) {
		return r.isNear
	}
	isNear, err := r.measure(ctx, d.engine)
	if err != nil && ctx.Err() != nil {
		return false // the caller has left, which says nothing of the replica
	}
	if isNear != r.isNear {
		r.tell(ctx, isNear, err)
	}
	r.isNear, r.until = isNear, clock.Steady().Add(r.lag/6)
	return isNear
}

// measure asks the primary where it is, and then the replica whether it has come there, or has seen something that was
// committed not long before: the time of that alone would say that it is behind where nothing happens. A primary that does
// not say so is busy or gone, and must not be read from more than before: all stays as it was.
func (r *replica) measure(ctx context.Context, primary engine) (isNear bool, err error) {
	var place string
	var micros int64
	err = within(ctx, func(ctx context.Context) error {
		result, err := primary.query(ctx, `SELECT CAST(pg_current_wal_lsn() AS text), CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)`)
		_, err = One(result, err, func(rows Rows) (bool, error) { return true, rows.Scan(&place, &micros) })
		return err
	})
	if err != nil {
		return r.isNear, err
	}
	err = within(ctx, func(ctx context.Context) error {
		result, err := r.query(ctx, `SELECT pg_is_in_recovery() AND COALESCE(pg_last_wal_replay_lsn() >= CAST($1 AS pg_lsn)
			OR pg_last_xact_replay_timestamp() >= to_timestamp($2 / 1000000.0), false)`, place, micros-r.lag.Microseconds())
		isNear, err = One(result, err, func(rows Rows) (isNear bool, err error) { return isNear, rows.Scan(&isNear) })
		return err
	})
	return isNear, err
}

// within bounds a question.
func within(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, replicaPatience)
	defer cancel()
	return ask(ctx)
}

func (r *replica) tell(ctx context.Context, isNear bool, err error) {
	if isNear {
		r.logger.InfoContext(ctx, "the replica keeps up again and is read from")
		return
	}
	r.logger.WarnContext(ctx, "the replica is not read from: it is too far behind, no standby, or cannot be asked", "most_behind", r.lag, "error", err)
}
