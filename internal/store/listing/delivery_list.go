package listing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// DeliveryRecord is an event's delivery as an operator sees it.
type DeliveryRecord struct {
	store.Endpoint
	EventID       uuid.UUID
	Kind          payment.EventKind
	Status        store.DeliveryStatus
	CreatedAt     time.Time
	NextAttemptAt time.Time // zero unless it waits for another try
	// Attempts are the latest of the last 30 days (see triesEach), oldest first.
	Attempts []store.Attempt
}

// DeliveryFilter says which deliveries are looked for; what is zero admits all.
type DeliveryFilter struct {
	ProfileID uuid.UUID
	Status    store.DeliveryStatus
	Kind      payment.EventKind
	// CreatedFrom is the first instant, CreatedBefore the first one beyond.
	CreatedFrom   time.Time
	CreatedBefore time.Time
}

func (f DeliveryFilter) query(s Paging) (sql string, args []any) {
	where, args := and(slices.Concat(when("webhook_profile_id = $%d", f.ProfileID), statusIs(f.Status),
		when("kind = $%d", string(f.Kind)), period("created_at", f.CreatedFrom, f.CreatedBefore), s.beyond("id")))
	return fmt.Sprintf(`SELECT `+deliveryColumns+` FROM events e WHERE tenant_id = $1 AND webhook_profile_id IS NOT NULL%s%s LIMIT %d`,
		where, s.order("id"), s.Limit), args
}

// statusIs asks for deliveries by their status. An event in line has the one that it will
// have, but never that of a failure.
func statusIs(status store.DeliveryStatus) []condition {
	switch status {
	case store.DeliveryPending:
		return []condition{{text: "(e.delivery_status = 'pending' OR " + store.EventInLine("e") + ")"}}
	case store.DeliveryDelivered:
		return []condition{{text: "e.delivery_status = 'delivered' AND NOT " + store.EventInLine("e")}}
	default:
		return when("e.delivery_status = $%d", string(status))
	}
}

// deliveryStatus is how far the delivery of an event has come.
var deliveryStatus = `CASE WHEN ` + store.EventInLine("e") + ` THEN 'pending' ELSE e.delivery_status END`

var deliveryColumns = `id, tenant_id, webhook_profile_id, kind, ` + deliveryStatus + `, created_at, next_attempt_at`

func scanDelivery(r db.Rows) (d DeliveryRecord, err error) {
	return d, r.Scan(&d.EventID, &d.TenantID, &d.ProfileID, &d.Kind, &d.Status, db.Instant{To: &d.CreatedAt}, db.Instant{To: &d.NextAttemptAt})
}

// Deliveries lists a tenant's deliveries, newest first, with their attempts.
func Deliveries(ctx context.Context, t store.Tenant, f DeliveryFilter, page Paging) ([]DeliveryRecord, error) {
	records, err := deliveries(ctx, t, f, page)
	if err != nil {
		return nil, err
	}
	return records, addAttempts(ctx, t, records)
}

func deliveries(ctx context.Context, t store.Tenant, f DeliveryFilter, page Paging) ([]DeliveryRecord, error) {
	sql, args := f.query(page)
	result, err := t.LaggingQuery(ctx, sql, args...)
	records, err := db.Collect(result, err, scanDelivery)
	if page.Back {
		slices.Reverse(records)
	}
	return records, err
}

// Delivery reads one delivery with its attempts.
func Delivery(ctx context.Context, t store.Tenant, eventID uuid.UUID) (DeliveryRecord, error) {
	result, err := t.Query(ctx, `
		SELECT `+deliveryColumns+` FROM events e
		WHERE tenant_id = $1 AND id = $2 AND webhook_profile_id IS NOT NULL`, eventID)
	record, err := db.One(result, err, scanDelivery)
	if store.IsNotFound(err) {
		return DeliveryRecord{}, store.ErrNoDelivery
	}
	if err != nil {
		return DeliveryRecord{}, err
	}
	records := []DeliveryRecord{record}
	err = addAttempts(ctx, t, records)
	return records[0], err
}

// AllDeliveries lists the deliveries of every tenant.
func AllDeliveries(ctx context.Context, s *store.Store, f DeliveryFilter, page Paging) ([]DeliveryRecord, error) {
	all, err := acrossTenants(ctx, s, page, func(d *DeliveryRecord) uuid.UUID { return d.EventID },
		func(t store.Tenant) (Part[DeliveryRecord], error) {
			records, err := deliveries(ctx, t, f, page)
			return Part[DeliveryRecord]{Rows: records}, err
		})
	if err != nil {
		return nil, err
	}
	tenants := map[uuid.UUID]bool{}
	for _, d := range all.Rows {
		tenants[d.TenantID] = true
	}
	for id := range tenants {
		if err := addAttempts(ctx, s.Tenant(id), all.Rows); err != nil {
			return nil, err
		}
	}
	return all.Rows, nil
}

// addAttempts fills in the log of those deliveries that are the tenant's.
func addAttempts(ctx context.Context, t store.Tenant, records []DeliveryRecord) error {
	places := map[uuid.UUID]int{}
	var ids []any
	for i, r := range records {
		if r.TenantID == t.ID {
			places[r.EventID] = i
			ids = append(ids, r.EventID)
		}
	}
	for batch := range db.InBatches(ids) {
		result, err := t.Query(ctx, attemptsOf(triesEach(len(ids)))+db.Placeholders(2, 1, len(batch))+` ORDER BY event_id, id`, batch...)
		attempts, err := db.Collect(result, err, scanAttempt)
		if err != nil {
			return err
		}
		for _, a := range attempts {
			record := &records[places[a.EventID]]
			record.Attempts = append(record.Attempts, a)
		}
	}
	return nil
}

// An event is tried thirteen times by itself, and again whenever somebody sends it again: of each the latest tries are told,
// and fewer of each where there are many, for a try may have a kilobyte of the receiver's answer.
const mostTriesEach, manyTriesEach, manyDeliveries = 20, 5, 250

func triesEach(deliveries int) int {
	if deliveries > manyDeliveries {
		return manyTriesEach
	}
	return mostTriesEach
}

// attemptsOf reads the latest attempts of each event: those behind which there are not as many newer ones.
func attemptsOf(most int) string {
	return fmt.Sprintf(`SELECT event_id, number, attempted_at, duration_us, status_code, error, answer FROM webhook_attempts w
	WHERE (SELECT b.id FROM webhook_attempts b WHERE b.tenant_id = $1 AND b.event_id = w.event_id AND b.id > w.id ORDER BY b.id LIMIT 1 OFFSET %d) IS NULL
		AND w.tenant_id = $1 AND w.event_id IN `, most-1)
}

func scanAttempt(r db.Rows) (a store.Attempt, err error) {
	var micros int64
	err = r.Scan(&a.EventID, &a.Number, db.Instant{To: &a.At}, &micros, &a.StatusCode, &a.Error, &a.Answer)
	a.Took = time.Duration(micros) * time.Microsecond
	return a, err
}
