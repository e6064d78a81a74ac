package store

import (
	"bytes"
	"iter"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// An event is in line in one of two forms (docs/adr/0051). One that nobody has tried to
// deliver yet is named in events_in_line, and its own row says already what holds once its
// first attempt was taken: a delivery that goes well, as nearly all do, removes the name and
// leaves the event, with all its indexes, as it is. Whatever else happens to it (a failure,
// a place in the feed, a resend) takes it out of there and is told by its own columns, as
// programs before lineSchema tell of all events.

// lineSchema is the first whose programs know events_in_line.
const lineSchema = 38

// EventInLine is the condition that an event is named there; its table stands in the query
// by the name given.
func EventInLine(event string) string {
	return `EXISTS (SELECT 1 FROM events_in_line l
		WHERE l.tenant_id = ` + event + `.tenant_id AND l.webhook_profile_id = ` + event + `.webhook_profile_id AND l.event_id = ` + event + `.id)`
}

// inLine is an event's place among those that nobody has tried yet.
type inLine struct {
	Endpoint
	eventID uuid.UUID
}

var eventsInLine = db.Table[inLine]{Name: "events_in_line", Columns: []db.Column[inLine]{
	db.Field("tenant_id", func(l *inLine) *uuid.UUID { return &l.TenantID }),
	db.Field("webhook_profile_id", func(l *inLine) *uuid.UUID { return &l.ProfileID }),
	db.Field("event_id", func(l *inLine) *uuid.UUID { return &l.eventID }),
}}

var insertInLine = eventsInLine.Insert()

// linesUp tells whether an event of this unit is named in events_in_line.
func (tx *Tx) linesUp(e EventRow) bool { return tx.namesLine && e.WebhookProfileID != nil }

func (tx *Tx) lineValues(tenantID uuid.UUID, e EventRow) []any {
	return eventsInLine.Values(&inLine{Endpoint{tenantID, *e.WebhookProfileID}, e.ID})
}

// holdLine keeps everybody else from taking events out of the line until the unit ends.
func (tx *Tx) holdLine(e Endpoint, sorted []uuid.UUID) {
	for among, args := range amongLine(e, "event_id", sorted) {
		tx.Then(`UPDATE events_in_line SET event_id = event_id WHERE `+among, args...)
	}
}

// leaveLine takes events out of the line, in the order in which everybody does.
func (tx *Tx) leaveLine(e Endpoint, sorted []uuid.UUID) {
	for among, args := range amongLine(e, "event_id", sorted) {
		tx.Then(`DELETE FROM events_in_line WHERE `+among, args...)
	}
}

// lineSizes are the numbers of events that one statement names; few texts are few prepared
// statements.
var lineSizes = []int{1, 4, 16, 64, 256}

// amongLine finds events by their places, some at a time. All that lies between the first and
// the last of them is in hand, so that this touches little else; and a database that knows
// nothing of its tables yet has no better idea.
func amongLine(e Endpoint, id string, sorted []uuid.UUID) iter.Seq2[string, []any] {
	const before = `tenant_id = $1 AND webhook_profile_id = $2 AND `
	return func(yield func(string, []any) bool) {
		for some := range slices.Chunk(sorted, lineSizes[len(lineSizes)-1]) {
			last := some[len(some)-1]
			args := []any{e.TenantID, e.ProfileID, some[0], last}
			first := len(args) + 1
			for _, one := range some {
				args = append(args, one)
			}
			size := lineSizes[slices.IndexFunc(lineSizes, func(size int) bool { return size >= len(some) })]
			for range size - len(some) {
				args = append(args, last) // once more does no harm
			}
			if !yield(before+id+` >= $3 AND `+id+` <= $4 AND `+id+` IN `+db.Placeholders(first, 1, size), args) {
				return
			}
		}
	}
}

// sortedIDs are the events of attempts, in the order of the line.
func sortedIDs(results []DeliveryResult) []uuid.UUID {
	ids := make([]uuid.UUID, len(results))
	for i, r := range results {
		ids[i] = r.EventID
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return ids
}

// outOfLine takes events of a tenant out of the line that are about to get their places in the
// feed, and has their own columns say that they wait.
func (tx *Tx) outOfLine(tenantID uuid.UUID, unnumberedFrom uuid.UUID, limit int) error {
	result, err := tx.Query(`
		SELECT l.webhook_profile_id, l.event_id
		FROM (SELECT webhook_profile_id, id FROM events
			WHERE tenant_id = $1 AND feed_position IS NULL AND id >= $2 ORDER BY id LIMIT $3) AS e
		JOIN events_in_line l ON l.tenant_id = $1 AND l.webhook_profile_id = e.webhook_profile_id AND l.event_id = e.id
		ORDER BY l.webhook_profile_id, l.event_id`, tenantID, unnumberedFrom, limit)
	places, err := db.Collect(result, err, func(r db.Rows) (l inLine, err error) {
		l.TenantID = tenantID
		return l, r.Scan(&l.ProfileID, &l.eventID)
	})
	if err != nil {
		return err
	}
	for len(places) > 0 {
		endpoint := places[0].Endpoint
		var ids []uuid.UUID
		for len(places) > 0 && places[0].Endpoint == endpoint {
			ids, places = append(ids, places[0].eventID), places[1:]
		}
		if err := tx.takeOutOfLine(endpoint, ids); err != nil {
			return err
		}
	}
	return nil
}

// takeOutOfLine leaves alone what a delivery has taken out meanwhile.
func (tx *Tx) takeOutOfLine(e Endpoint, sorted []uuid.UUID) error {
	for among, args := range amongLine(e, "event_id", sorted) {
		result, err := tx.Query(`DELETE FROM events_in_line WHERE `+among+` RETURNING event_id`, args...)
		taken, err := db.Collect(result, err, scanID)
		if err != nil {
			return err
		}
		for some := range db.InLists(asArgs(taken)) {
			tx.Then(`UPDATE events SET delivery_status = 'pending', attempt_count = 0 WHERE tenant_id = $1 AND id IN `+db.Placeholders(2, 1, len(some)),
				append([]any{e.TenantID}, some...)...)
		}
	}
	return nil
}
