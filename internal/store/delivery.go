package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// DeliveryStatus is how far the sending of an event has come.
type DeliveryStatus string

const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryFailed    DeliveryStatus = "failed"
)

// DeliveryStatuses lists every status.
var DeliveryStatuses = []DeliveryStatus{DeliveryPending, DeliveryDelivered, DeliveryFailed}

// Endpoint is where events go: a webhook profile of a tenant.
type Endpoint struct {
	TenantID  uuid.UUID
	ProfileID uuid.UUID
}

// Delivery is an event in line to be sent.
type Delivery struct {
	EventID uuid.UUID
	Kind    payment.EventKind
	// Payload is the very text that is signed and sent. Unreadable says why there is
	// none.
	Payload    string
	Unreadable error
	token      string // that is in the payload, "" for none
	// AttemptCount counts all attempts so far, FailureCount those since the
	// event was first sent or sent again by hand.
	AttemptCount int
	FailureCount int
}

// DeliveriesDue gives events in line for an endpoint in order of creation,
// beginning after an id.
func (t Tenant) DeliveriesDue(ctx context.Context, profileID, after uuid.UUID, limit int) ([]Delivery, error) {
	result, err := t.Query(ctx, deliveriesDue, profileID, after, limit)
	return db.Collect(result, err, t.scanDelivery)
}

// deliveriesDue merges what is in line in either form. An event that is named in
// events_in_line is looked up by its key whatever the database believes of its tables, which
// is sure of a subquery that gives one value: a join would read all events into memory
// as soon as that looks quicker.
const deliveriesDue = `SELECT id, told, attempt_count, failure_count FROM (
		SELECT * FROM (SELECT l.event_id AS id, 0 AS attempt_count, 0 AS failure_count,
				(SELECT ` + told + ` FROM events e WHERE e.tenant_id = $1 AND e.id = l.event_id) AS told
			FROM events_in_line l WHERE l.tenant_id = $1 AND l.webhook_profile_id = $2 AND l.event_id > $3
			ORDER BY l.event_id LIMIT $4) AS named
		UNION ALL
		SELECT * FROM (SELECT e.id, e.attempt_count, e.failure_count, ` + told + ` AS told
			FROM events e WHERE ` + isInLine + ` AND e.id > $3
			ORDER BY e.id LIMIT $4) AS pending) AS due
	ORDER BY id LIMIT $4`

// told is what is sent of an event, as one value.
const told = `e.kind || ' ' || e.token_sealed || ' ' || e.payload`

func (t Tenant) scanDelivery(r db.Rows) (d Delivery, err error) {
	var told string
	if err := r.Scan(&d.EventID, &told, &d.AttemptCount, &d.FailureCount); err != nil {
		return d, err
	}
	kind, rest, _ := strings.Cut(told, " ")
	sealed, payload, _ := strings.Cut(rest, " ")
	d.Kind = payment.EventKind(kind)
	d.Payload, d.token, d.Unreadable = t.store.wholePayload(t.ID, d.EventID, payload, sealed)
	return d, nil
}

// isInLine is what is to be sent to an endpoint now, of what its own columns tell.
const isInLine = `tenant_id = $1 AND webhook_profile_id = $2 AND delivery_status = 'pending' AND next_attempt_at IS NULL`

// Mask is what may be kept of an answer: a receiver may well repeat what it was
// sent, and the session's token with it.
func (d Delivery) Mask(answer string) string {
	if d.token == "" {
		return answer
	}
	return strings.ReplaceAll(answer, d.token, payment.ShortToken(d.token))
}

// NextRetry is when the first of an endpoint's waiting deliveries may be tried
// again, on the clock of whoever asks, and the zero time when none waits.
func (t Tenant) NextRetry(ctx context.Context, profileID uuid.UUID, now time.Time) (at time.Time, err error) {
	result, err := t.Query(ctx, nextRetry, profileID)
	wait, err := db.One(result, err, func(r db.Rows) (wait sql.NullInt64, err error) { return wait, r.Scan(&wait) })
	return retryAt(now, wait), err
}

const nextRetry = `SELECT MIN(next_attempt_at) - db_now() FROM events
	WHERE tenant_id = $1 AND webhook_profile_id = $2 AND next_attempt_at IS NOT NULL`

// retryAt is when a wait is over, zero for none.
func retryAt(now time.Time, wait sql.NullInt64) time.Time {
	if !wait.Valid {
		return time.Time{}
	}
	return now.Add(time.Duration(wait.Int64) * time.Microsecond)
}

// linedUpAtOnce are some hundred milliseconds of SQLite's writer, and a second of a slow PostgreSQL: whoever lines up holds a
// lease that lasts for ten.
const linedUpAtOnce = 5_000

// LineUpRetries puts waiting deliveries back into line, as many as one unit may of those
// that may be tried within a time, by the database's clock. It tells whether there may be
// more. A receiver that takes some events and refuses others has hundreds of thousands wait
// in a day, which are all lined up when it is back.
func (s *Store) LineUpRetries(ctx context.Context, now time.Time, e Endpoint, within time.Duration) (more bool, err error) {
	err = s.Write(ctx, now, func(tx *Tx) error {
		result, err := tx.Query(`
			UPDATE events SET next_attempt_at = NULL WHERE tenant_id = $1 AND next_attempt_at <= db_now() + $3 AND id IN (
				SELECT id FROM events WHERE tenant_id = $1 AND webhook_profile_id = $2 AND next_attempt_at <= db_now() + $3
				ORDER BY next_attempt_at LIMIT $4)
			RETURNING id`, e.TenantID, e.ProfileID, within.Microseconds(), linedUpAtOnce)
		lined, err := db.Collect(result, err, scanID)
		more = len(lined) == linedUpAtOnce
		return err
	})
	return more, err
}

// Attempt is one try to deliver an event.
type Attempt struct {
	EventID uuid.UUID
	Number  int
	At      time.Time
	Took    time.Duration
	// StatusCode is 0 where there was no answer; Error then says why.
	StatusCode int
	Error      string
	// Answer is the first part of what the receiver said.
	Answer string
}

// DeliveryResult is an attempt with what follows from it.
type DeliveryResult struct {
	Attempt
	Status        DeliveryStatus
	FailureCount  int
	NextAttemptAt time.Time // zero unless it is tried again
}

// RecordDeliveries writes the results of attempts at one endpoint, with dates as
// the sender's clock shows them at tx.At. Successes, which are the rule, are
// written many to a statement. What an event that is named in events_in_line says of
// itself holds once it is not; its failure has to be written before.
func (tx *Tx) RecordDeliveries(e Endpoint, results []DeliveryResult) {
	if len(results) == 0 {
		return
	}
	failed := slices.DeleteFunc(slices.Clone(results), func(r DeliveryResult) bool { return r.Status == DeliveryDelivered })
	delivered := slices.DeleteFunc(slices.Clone(results), func(r DeliveryResult) bool { return r.Status != DeliveryDelivered })
	if len(failed) > 0 {
		tx.holdLine(e, sortedIDs(results))
	}
	for _, r := range failed {
		tx.Then(recordFailure, e.TenantID, r.EventID, string(r.Status), r.FailureCount, waitAt(tx.At, r.NextAttemptAt))
	}
	tx.leaveLine(e, sortedIDs(results))
	tx.markDelivered(e, sortedIDs(delivered))
	for batch := range db.InBatches(results) {
		tx.insertAttempts(e, batch)
	}
}

// recordFailure counts an attempt that an event's own columns do not have yet.
var recordFailure = `
	UPDATE events AS e SET delivery_status = $3, attempt_count = CASE WHEN delivery_status = 'pending' THEN attempt_count + 1 ELSE 1 END,
		failure_count = $4, next_attempt_at = db_now() + $5
	WHERE tenant_id = $1 AND id = $2 AND (delivery_status = 'pending' OR ` + EventInLine("e") + `)`

// waitAt is how long it is until an instant, and NULL for none.
func waitAt(now, at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.Sub(now).Microseconds()
}

// markDelivered is for those that were not named in events_in_line.
func (tx *Tx) markDelivered(e Endpoint, sorted []uuid.UUID) {
	for among, args := range amongLine(e, "id", sorted) {
		tx.Then(`
			UPDATE events SET delivery_status = 'delivered', attempt_count = attempt_count + 1, failure_count = 0
			WHERE delivery_status = 'pending' AND next_attempt_at IS NULL AND `+among, args...)
	}
}

func (tx *Tx) insertAttempts(e Endpoint, results []DeliveryResult) {
	const columns = 9
	args := make([]any, 0, columns*len(results))
	for _, r := range results {
		args = append(args, e.TenantID, r.EventID, payment.NewID(), r.Number, db.Micros(r.At), r.Took.Microseconds(),
			r.StatusCode, r.Error, r.Answer)
	}
	tx.Then(`
		INSERT INTO webhook_attempts (tenant_id, event_id, id, number, attempted_at, duration_us, status_code, error, answer)
		VALUES `+db.Placeholders(1, len(results), columns), args...)
}

// ErrNoDelivery says that there is no such event, or that it goes to nobody.
var ErrNoDelivery = errors.New("store: no such delivery")

// Resend puts an event back into line, whatever became of it before, unless it is there.
func (tx *Tx) Resend(e Endpoint, eventID uuid.UUID) {
	tx.Require(ErrNoDelivery, `
		UPDATE events AS e SET failure_count = 0, next_attempt_at = NULL,
			delivery_status = CASE WHEN delivery_status = 'delivered' AND `+EventInLine("e")+` THEN delivery_status ELSE 'pending' END
		WHERE tenant_id = $1 AND webhook_profile_id = $2 AND id = $3`, e.TenantID, e.ProfileID, eventID)
	tx.endPause(e)
}

// FailedEvents are those of an endpoint that were created from one instant until before
// another, behind an event. A zero instant is no limit.
type FailedEvents struct {
	Endpoint
	From, Before time.Time
	After        uuid.UUID
}

const failedEvents = `
	FROM events WHERE tenant_id = $1 AND webhook_profile_id = $2 AND delivery_status = 'failed'
		AND created_at >= $3 AND created_at < $4 AND id > $5`

func (f FailedEvents) args() []any {
	if f.Before.IsZero() {
		f.Before = endOfTime
	}
	return []any{f.TenantID, f.ProfileID, max(0, f.From.UnixMicro()), db.Micros(f.Before), f.After}
}

// Failed gives the first of them, in order. No index knows when they were created.
func (s *Store) Failed(ctx context.Context, f FailedEvents, limit int) ([]uuid.UUID, error) {
	result, err := s.Browse(ctx, f.TenantID, `SELECT id`+failedEvents+` ORDER BY id LIMIT $6`, append(f.args(), limit)...)
	return db.Collect(result, err, scanID)
}

// CountFailed counts them.
func (s *Store) CountFailed(ctx context.Context, f FailedEvents) (int, error) {
	result, err := s.Browse(ctx, f.TenantID, `SELECT COUNT(*)`+failedEvents, f.args()...)
	return db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
}

// ResendFailed puts those events of an endpoint back into line that have failed and still
// have, and counts them.
func (tx *Tx) ResendFailed(e Endpoint, sorted []uuid.UUID) (resent int, err error) {
	for among, args := range amongLine(e, "id", sorted) {
		result, err := tx.Query(`
			UPDATE events SET delivery_status = 'pending', failure_count = 0, next_attempt_at = NULL
			WHERE delivery_status = 'failed' AND `+among+` RETURNING id`, args...)
		some, err := db.Collect(result, err, scanID)
		if err != nil {
			return 0, err
		}
		resent += len(some)
	}
	tx.endPause(e)
	return resent, nil
}

// endOfTime is later than anything that a clock of ours can show.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// firstID is not greater than any id made at or after an instant: a UUIDv7
// begins with its milliseconds.
func firstID(at time.Time) (id uuid.UUID) {
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id
}
