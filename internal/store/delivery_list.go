package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// DeliveryRecord is an event's delivery as an operator sees it.
type DeliveryRecord struct {
	Endpoint
	EventID       uuid.UUID
	Kind          payment.EventKind
	Status        DeliveryStatus
	CreatedAt     time.Time
	NextAttemptAt time.Time // zero unless it waits for another try
	// Attempts are those of the last 30 days, oldest first.
	Attempts []Attempt
}

// DeliveryFilter says which deliveries are looked for; what is zero admits all.
type DeliveryFilter struct {
	ProfileID uuid.UUID
	Status    DeliveryStatus
	Kind      payment.EventKind
	// CreatedFrom is the first instant, CreatedBefore the first one beyond.
	CreatedFrom   time.Time
	CreatedBefore time.Time
}

func (f DeliveryFilter) query(s Stretch) (sql string, args []any) {
	where, args := and(slices.Concat(when("webhook_profile_id = $%d", f.ProfileID), when("delivery_status = $%d", string(f.Status)),
		when("kind = $%d", string(f.Kind)), period("created_at", f.CreatedFrom, f.CreatedBefore), s.beyond("id")))
	return fmt.Sprintf(`SELECT `+deliveryColumns+` FROM events WHERE tenant_id = $1 AND webhook_profile_id IS NOT NULL%s%s LIMIT %d`,
		where, s.order("id"), s.Limit), args
}

const deliveryColumns = `id, tenant_id, webhook_profile_id, kind, delivery_status, created_at, next_attempt_at`

func scanDelivery(r rows) (d DeliveryRecord, err error) {
	return d, r.Scan(&d.EventID, &d.TenantID, &d.ProfileID, &d.Kind, &d.Status, instant{&d.CreatedAt}, instant{&d.NextAttemptAt})
}

// Deliveries lists a tenant's deliveries, newest first, with their attempts.
func (t Tenant) Deliveries(ctx context.Context, f DeliveryFilter, page Stretch) ([]DeliveryRecord, error) {
	records, err := t.deliveries(ctx, f, page)
	if err != nil {
		return nil, err
	}
	return records, t.addAttempts(ctx, records)
}

func (t Tenant) deliveries(ctx context.Context, f DeliveryFilter, page Stretch) ([]DeliveryRecord, error) {
	sql, args := f.query(page)
	result, err := t.query(ctx, sql, args...)
	records, err := collect(result, err, scanDelivery)
	if page.Back {
		slices.Reverse(records)
	}
	return records, err
}

// Delivery reads one delivery with its attempts.
func (t Tenant) Delivery(ctx context.Context, eventID uuid.UUID) (DeliveryRecord, error) {
	result, err := t.query(ctx, `
		SELECT `+deliveryColumns+` FROM events
		WHERE tenant_id = $1 AND id = $2 AND webhook_profile_id IS NOT NULL`, eventID)
	record, err := one(result, err, scanDelivery)
	if IsNotFound(err) {
		return DeliveryRecord{}, ErrNoDelivery
	}
	if err != nil {
		return DeliveryRecord{}, err
	}
	records := []DeliveryRecord{record}
	err = t.addAttempts(ctx, records)
	return records[0], err
}

// AllDeliveries lists the deliveries of every tenant.
func (s *Store) AllDeliveries(ctx context.Context, f DeliveryFilter, page Stretch) ([]DeliveryRecord, error) {
	all, err := acrossTenants(ctx, s, page, func(d *DeliveryRecord) uuid.UUID { return d.EventID },
		func(t Tenant) (Part[DeliveryRecord], error) {
			records, err := t.deliveries(ctx, f, page)
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
		if err := s.Tenant(id).addAttempts(ctx, all.Rows); err != nil {
			return nil, err
		}
	}
	return all.Rows, nil
}

// addAttempts fills in the log of those deliveries that are the tenant's.
func (t Tenant) addAttempts(ctx context.Context, records []DeliveryRecord) error {
	places := map[uuid.UUID]int{}
	var ids []any
	for i, r := range records {
		if r.TenantID == t.id {
			places[r.EventID] = i
			ids = append(ids, r.EventID)
		}
	}
	for batch := range inBatches(ids) {
		result, err := t.query(ctx, `
			SELECT event_id, number, attempted_at, duration_us, status_code, error, answer FROM webhook_attempts
			WHERE tenant_id = $1 AND event_id IN `+placeholders(2, 1, len(batch))+` ORDER BY event_id, id`, batch...)
		attempts, err := collect(result, err, scanAttempt)
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

func scanAttempt(r rows) (a Attempt, err error) {
	var micros int64
	err = r.Scan(&a.EventID, &a.Number, instant{&a.At}, &micros, &a.StatusCode, &a.Error, &a.Answer)
	a.Took = time.Duration(micros) * time.Microsecond
	return a, err
}
