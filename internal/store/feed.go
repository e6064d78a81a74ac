package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// FeedEvent is an event as its merchant reads it.
type FeedEvent struct {
	sepa.Masked
	ID      uuid.UUID
	Kind    payment.EventKind
	Payload string
	// Unreadable says why the payload has only the beginning of the session's token.
	Unreadable error
	// GoesOut tells that it is sent to a webhook profile, with Status how far that is.
	GoesOut   bool
	Status    DeliveryStatus
	CreatedAt time.Time
	// Position is its place in the feed.
	Position int64
}

// numberedAtOnce is how many events get their places in the feed with one read.
const numberedAtOnce = 2000

// ErrNoEvent is the answer for an event that nobody has.
var ErrNoEvent = &payment.Error{Kind: payment.NotFound, Detail: "Event not found"}

// HasUnnumbered tells whether events since an instant of real time have no place in
// the tenant's feed yet.
func (t Tenant) HasUnnumbered(ctx context.Context, since time.Time) (bool, error) {
	result, err := t.Query(ctx, `
		SELECT id FROM events WHERE tenant_id = $1 AND feed_position IS NULL AND id >= $2 ORDER BY id LIMIT 1`, firstID(since))
	_, err = db.One(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
	if errors.Is(err, db.ErrNoRow) {
		return false, nil
	}
	return err == nil, err
}

// NumberEvents gives events their places in the tenant's feed, and tells whether some
// are left. An event is numbered after its commit, when a reader first comes upon it,
// and readers do so one after the other: none ever gets a place before one that was
// read, however late it was committed. Its id and its instant do not tell that, because
// they are older than the commit. Places are at least the unit's instant in microseconds:
// a database that was restored gives none again that a reader of the lost one went on from.
// What the feed has is not in events_in_line any more, so that the feed is read by its own
// columns alone; what comes in line meanwhile is numbered next time.
func (tx *Tx) NumberEvents(tenantID uuid.UUID, since time.Time) (more bool, err error) {
	result, err := tx.Query(`
		INSERT INTO event_feeds (tenant_id, last_position) VALUES ($1, $2)
		ON CONFLICT (tenant_id) DO UPDATE
		SET last_position = CASE WHEN event_feeds.last_position < $2 THEN $2 ELSE event_feeds.last_position END
		RETURNING last_position`, tenantID, db.Micros(tx.At))
	last, err := db.One(result, err, scanPosition)
	if err != nil {
		return false, err
	}
	if err := tx.outOfLine(tenantID, firstID(since), numberedAtOnce); err != nil {
		return false, err
	}
	result, err = tx.Query(`
		UPDATE events SET feed_position = n.place
		FROM (SELECT id, $2 + ROW_NUMBER() OVER (ORDER BY id) AS place FROM events e
			WHERE tenant_id = $1 AND feed_position IS NULL AND id >= $3 AND NOT `+EventInLine("e")+` ORDER BY id LIMIT $4) AS n
		WHERE events.tenant_id = $1 AND events.id = n.id
		RETURNING feed_position`, tenantID, last, firstID(since), numberedAtOnce)
	numbered, err := db.Collect(result, err, scanPosition)
	tx.Then(`UPDATE event_feeds SET last_position = last_position + $2 WHERE tenant_id = $1`, tenantID, len(numbered))
	return len(numbered) == numberedAtOnce, err
}

func scanPosition(r db.Rows) (position int64, err error) { return position, r.Scan(&position) }

// FeedStart is the place before the first event since an instant of real time.
func (t Tenant) FeedStart(ctx context.Context, since time.Time) (int64, error) {
	result, err := t.Query(ctx, `
		SELECT feed_position FROM events WHERE tenant_id = $1 AND id >= $2 AND feed_position IS NOT NULL ORDER BY id LIMIT 1`, firstID(since))
	first, err := db.One(result, err, scanPosition)
	if errors.Is(err, db.ErrNoRow) {
		return 0, nil
	}
	return first - 1, err
}

var feedColumns = `id, kind, payload, token_sealed, webhook_profile_id IS NOT NULL,
	CASE WHEN ` + EventInLine("e") + ` THEN 'pending' ELSE delivery_status END, created_at, COALESCE(feed_position, 0)`

// scanFeedEvent reads an event with the session's token in its payload. One whose
// token cannot be opened is told without it, so that it does not hold up the rest.
func (t Tenant) scanFeedEvent(r db.Rows) (e FeedEvent, err error) {
	var sealed string
	if err := r.Scan(&e.ID, &e.Kind, &e.Payload, &sealed, &e.GoesOut, &e.Status, db.Instant{To: &e.CreatedAt}, &e.Position); err != nil {
		return e, err
	}
	whole, _, err := t.store.wholePayload(t.ID, e.ID, e.Payload, sealed)
	if e.Unreadable = err; err == nil {
		e.Payload = whole
	}
	return e, nil
}

// FeedFilter says which events of a feed are read.
type FeedFilter int

const (
	FeedAll         FeedFilter = iota
	FeedUndelivered            // those that no receiver has taken
	FeedDelivered
)

var feedConditions = map[FeedFilter]string{
	FeedAll: ``, FeedUndelivered: ` AND delivery_status <> 'delivered'`, FeedDelivered: ` AND delivery_status = 'delivered'`,
}

// Feed reads events beyond a place in their order. Those that were delivered have no index: where hardly any was, all are gone
// through.
func (t Tenant) Feed(ctx context.Context, after int64, which FeedFilter, limit int) ([]FeedEvent, error) {
	read := t.Query
	if which == FeedDelivered {
		read = t.Browse
	}
	result, err := read(ctx, feedStatement(which), after, limit)
	return db.Collect(result, err, t.scanFeedEvent)
}

func feedStatement(which FeedFilter) string {
	return `SELECT ` + feedColumns + ` FROM events e
		WHERE tenant_id = $1 AND feed_position IS NOT NULL AND feed_position > $2` + feedConditions[which] + `
		ORDER BY feed_position LIMIT $3`
}

// Event reads one event.
func (t Tenant) Event(ctx context.Context, id uuid.UUID) (FeedEvent, error) {
	result, err := t.Query(ctx, `SELECT `+feedColumns+` FROM events e WHERE tenant_id = $1 AND id = $2`, id)
	found, err := db.One(result, err, t.scanFeedEvent)
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoEvent
	}
	return found, err
}
