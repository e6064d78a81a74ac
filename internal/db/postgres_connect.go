package db

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A database that hangs is as bad as one that is away, and takes longer to be noticed: a packet that nobody answers is
// sent again for a quarter of an hour by default. These are the defaults; an address may say otherwise
// (connect_timeout, lock_timeout, statement_timeout, pool_max_conns and so on).
const (
	connectPatience = 3 * time.Second
	// A peer that has gone is found out by probes while we wait for it, and by what it does not acknowledge.
	probeAfter, probeEvery, probes = 5 * time.Second, 2 * time.Second, 3
	unacknowledged                 = 10 * time.Second
	// idleInTransaction ends a transaction whose owner hangs, so that its locks go.
	idleInTransaction = "60s"
)

// isPooled tells that the address is a pooler's that gives each transaction another session of the database: it says so
// by a mode in which nothing is prepared (default_query_exec_mode=cache_describe). Nothing then may outlive a
// transaction: no statement, setting, lock or subscription.
func isPooled(config *pgxpool.Config) bool {
	return config.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
}

// isUnanswered tells that a connection could not be made in time: a server that hangs, and not one that is away.
func isUnanswered(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok && pgconn.Timeout(err)
}

// prepareConnections sets what the address does not.
func prepareConnections(config *pgxpool.Config, address string, opts Options) {
	said := map[string]bool{}
	if parsed, err := url.Parse(address); err == nil {
		for name := range parsed.Query() {
			said[name] = true
		}
	}
	if !said["pool_max_conns"] {
		config.MaxConns = int32(opts.maxConnections())
	}
	if !said["connect_timeout"] {
		config.ConnConfig.ConnectTimeout = connectPatience
	}
	if opts.Name != "" || !said["application_name"] {
		config.ConnConfig.RuntimeParams["application_name"] = cmp.Or(opts.Name, ourName)
	}
	// What is set for a session behind a pooler would be another's.
	if !said["idle_in_transaction_session_timeout"] && !isPooled(config) {
		// Said afterwards: a pooler in between refuses what it does not know when a connection begins.
		config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, "SET idle_in_transaction_session_timeout = '"+idleInTransaction+"'", pgx.QueryExecModeSimpleProtocol)
			return err
		}
	}
	config.ConnConfig.OnPgError = leaveReaders(config.ConnConfig.OnPgError)
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes},
		Control:         giveUpUnacknowledged,
	}
	config.ConnConfig.DialFunc = dialer.DialContext
}

// leaveReaders gives a connection up that refuses to write, beside whatever else ends one. A session that began while the
// database only read, or at a standby to which the address led for a moment after a failover, would refuse for as long as
// it is kept, which is an hour, when all others write long since.
func leaveReaders(next pgconn.PgErrorHandler) pgconn.PgErrorHandler {
	return func(c *pgconn.PgConn, err *pgconn.PgError) bool { return err.Code != pgReadsOnly && next(c, err) }
}
