package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// EndpointState is what is remembered of a receiver between deliveries.
type EndpointState struct {
	// FailureCount counts failures in a row.
	FailureCount int
	// PauseCount counts pauses since the receiver last took something; it is 0
	// while the receiver is in order.
	PauseCount  int
	PausedUntil time.Time
}

// Lease is an endpoint that an owner has for a time, with what its work begins with.
type Lease struct {
	State        EndpointState
	SetupVersion int64
	// NextRetry is as in Tenant.NextRetry.
	NextRetry time.Time
}

// LeaseEndpoint gives an endpoint to one owner for a time, unless another has it.
// An owner who asks again keeps it for longer. Leases and pauses are judged by the
// database's clock; what is given is on the owner's, who says what that shows.
func (s *Store) LeaseEndpoint(ctx context.Context, e Endpoint, owner uuid.UUID, now time.Time, within time.Duration) (lease Lease, ok bool, err error) {
	var given []Lease
	err = s.Write(ctx, now, func(tx *Tx) error {
		tx.Relax() // a lease that a power cut takes away has no holder either
		tx.ThenRead(leaseEndpoint, func(rows db.Rows) (err error) {
			given, err = db.Collect(rows, nil, func(r db.Rows) (Lease, error) { return scanLease(r, now) })
			return err
		}, e.TenantID, e.ProfileID, owner, within.Microseconds())
		return nil
	})
	if err != nil || len(given) == 0 {
		return Lease{}, false, err
	}
	return given[0], true, nil
}

const leaseEndpoint = `
	INSERT INTO webhook_endpoints
		(tenant_id, webhook_profile_id, lease_owner, leased_until, failure_count, pause_count, paused_until)
	SELECT $1, $2, $3, db_now() + $4, 0, 0, 0 WHERE ` + unlessRestored + `
	ON CONFLICT (tenant_id, webhook_profile_id) DO UPDATE
		SET lease_owner = excluded.lease_owner, leased_until = excluded.leased_until
		WHERE webhook_endpoints.leased_until <= db_now() OR webhook_endpoints.lease_owner = excluded.lease_owner
	RETURNING failure_count, pause_count, paused_until - db_now(), (SELECT setup_version FROM tenants WHERE id = $1), (` + nextRetry + `)`

func scanLease(r db.Rows, now time.Time) (l Lease, err error) {
	var left int64
	var wait sql.NullInt64
	err = r.Scan(&l.State.FailureCount, &l.State.PauseCount, &left, &l.SetupVersion, &wait)
	if left > 0 {
		l.State.PausedUntil = now.Add(time.Duration(left) * time.Microsecond)
	}
	l.NextRetry = retryAt(now, wait)
	return l, err
}

// ReleaseEndpoint lets others have an endpoint, and says whether something is in line for it. Whoever puts something into
// line that is not seen here finds the endpoint free: it was let go before.
func (tx *Tx) ReleaseEndpoint(e Endpoint, owner uuid.UUID, isDue *bool) {
	tx.Then(`
		UPDATE webhook_endpoints SET leased_until = 0
		WHERE tenant_id = $1 AND webhook_profile_id = $2 AND lease_owner = $3`, e.TenantID, e.ProfileID, owner)
	tx.ThenRead(isDueFor, func(rows db.Rows) error {
		*isDue = rows.Next()
		return rows.Err()
	}, e.TenantID, e.ProfileID)
}

const isDueFor = `SELECT 1 FROM events_in_line WHERE tenant_id = $1 AND webhook_profile_id = $2
	UNION ALL SELECT 1 FROM events WHERE ` + isInLine + ` LIMIT 1`

// SaveEndpoint remembers how a receiver does, as its owner sees it at tx.At.
func (tx *Tx) SaveEndpoint(e Endpoint, owner uuid.UUID, state EndpointState) {
	tx.Then(`
		UPDATE webhook_endpoints SET failure_count = $4, pause_count = $5,
			paused_until = CASE WHEN CAST($6 AS BIGINT) > 0 THEN db_now() + CAST($6 AS BIGINT) ELSE 0 END
		WHERE tenant_id = $1 AND webhook_profile_id = $2 AND lease_owner = $3`,
		e.TenantID, e.ProfileID, owner, state.FailureCount, state.PauseCount, max(0, state.PausedUntil.Sub(tx.At).Microseconds()))
}

// endPause has a paused receiver tried at once: whoever resends by hand believes
// that it is back.
func (tx *Tx) endPause(e Endpoint) {
	tx.Then(`UPDATE webhook_endpoints SET paused_until = 0 WHERE tenant_id = $1 AND webhook_profile_id = $2`,
		e.TenantID, e.ProfileID)
	tx.announce(e)
}

// announce remembers that a unit puts events into line for an endpoint, so that
// whoever delivers them hears of it once the unit is committed.
func (tx *Tx) announce(e Endpoint) {
	for _, known := range tx.announced {
		if known == e {
			return
		}
	}
	tx.announced = append(tx.announced, e)
}

// OnEvents names the one who is told of endpoints that have got something to
// deliver. It is set before the store is used.
func (s *Store) OnEvents(tell func(Endpoint)) { s.onEvents = tell }

// tell passes on what committed units have announced.
func (s *Store) tell(announced []Endpoint) {
	if s.onEvents == nil {
		return
	}
	for _, e := range announced {
		s.onEvents(e)
	}
}

// EndLeases takes back what a process held that has died, where that is known
// at once: an SQLite database has one server at a time. On PostgreSQL leases run
// out by themselves.
func (s *Store) EndLeases(ctx context.Context, now time.Time) error {
	if !s.ServedAlone() {
		return nil
	}
	result, err := s.Query(ctx, `SELECT COUNT(*) FROM webhook_endpoints WHERE leased_until > 0`)
	held, err := db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
	if err != nil || held == 0 {
		return err
	}
	return s.Write(ctx, now, func(tx *Tx) error {
		tx.Then(`UPDATE webhook_endpoints SET leased_until = 0 WHERE leased_until > 0`)
		return nil
	})
}
