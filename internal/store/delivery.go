package store

import (
	"bytes"
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
	result, err := t.Query(ctx, `
		SELECT id, kind, payload, token_sealed, attempt_count, failure_count FROM events
		WHERE `+isInLine+` AND id > $3
		ORDER BY id LIMIT $4`, profileID, after, limit)
	return db.Collect(result, err, func(r db.Rows) (d Delivery, err error) {
		var payload, sealed string
		if err := r.Scan(&d.EventID, &d.Kind, &payload, &sealed, &d.AttemptCount, &d.FailureCount); err != nil {
			return d, err
		}
		d.Payload, d.token, d.Unreadable = t.store.wholePayload(t.ID, d.EventID, payload, sealed)
		return d, nil
	})
}

// isInLine is what is to be sent to an endpoint now.
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

// LineUpRetries puts waiting deliveries back into line, those that may be tried
// within a time, by the database's clock.
func (tx *Tx) LineUpRetries(e Endpoint, within time.Duration) {
	tx.Then(`
		UPDATE events SET next_attempt_at = NULL
		WHERE tenant_id = $1 AND webhook_profile_id = $2 AND next_attempt_at <= db_now() + $3`,
		e.TenantID, e.ProfileID, within.Microseconds())
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
// written many to a statement.
func (tx *Tx) RecordDeliveries(e Endpoint, results []DeliveryResult) {
	var delivered []uuid.UUID
	for _, r := range results {
		if r.Status == DeliveryDelivered {
			delivered = append(delivered, r.EventID)
			continue
		}
		tx.Then(`
			UPDATE events SET delivery_status = $3, attempt_count = attempt_count + 1, failure_count = $4, next_attempt_at = db_now() + $5
			WHERE tenant_id = $1 AND id = $2 AND delivery_status = 'pending'`,
			e.TenantID, r.EventID, string(r.Status), r.FailureCount, waitAt(tx.At, r.NextAttemptAt))
	}
	slices.SortFunc(delivered, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for batch := range db.InBatches(delivered) {
		tx.markDelivered(e, batch)
	}
	for batch := range db.InBatches(results) {
		tx.insertAttempts(e, batch)
	}
}

// waitAt is how long it is until an instant, and NULL for none.
func waitAt(now, at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.Sub(now).Microseconds()
}

// markDelivered finds events by their place in line. All that lies between the
// first and the last of them is in hand, so that this touches little else; and a
// database that knows nothing of its tables yet has no better idea.
func (tx *Tx) markDelivered(e Endpoint, sorted []uuid.UUID) {
	args := []any{e.TenantID, e.ProfileID, sorted[0], sorted[len(sorted)-1]}
	first := len(args) + 1
	for _, id := range sorted {
		args = append(args, id)
	}
	tx.Then(`
		UPDATE events SET delivery_status = 'delivered', attempt_count = attempt_count + 1, failure_count = 0
		WHERE tenant_id = $1 AND webhook_profile_id = $2 AND delivery_status = 'pending' AND next_attempt_at IS NULL
			AND id >= $3 AND id <= $4 AND id IN `+db.Placeholders(first, 1, len(sorted)), args...)
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

// Resend puts an event back into line, whatever became of it before.
func (tx *Tx) Resend(e Endpoint, eventID uuid.UUID) {
	tx.Require(ErrNoDelivery, `
		UPDATE events SET delivery_status = 'pending', failure_count = 0, next_attempt_at = NULL
		WHERE tenant_id = $1 AND webhook_profile_id = $2 AND id = $3`, e.TenantID, e.ProfileID, eventID)
	tx.endPause(e)
}

// ResendFailed puts an endpoint's failed events back into line that were
// created from one instant until before another, and counts them. A zero
// instant is no limit.
func (tx *Tx) ResendFailed(e Endpoint, from, to time.Time) (int, error) {
	if to.IsZero() {
		to = endOfTime
	}
	result, err := tx.Query(`
		UPDATE events SET delivery_status = 'pending', failure_count = 0, next_attempt_at = NULL
		WHERE tenant_id = $1 AND webhook_profile_id = $2 AND delivery_status = 'failed'
			AND created_at >= $3 AND created_at < $4
		RETURNING id`, e.TenantID, e.ProfileID, max(0, from.UnixMicro()), db.Micros(to))
	resent, err := db.Collect(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
	tx.endPause(e)
	return len(resent), err
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
