package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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

// DeliveryPage is a stretch of the list, which begins with the newest: Limit
// deliveries beyond the one with the id, towards older ones, or towards newer
// ones when it is turned back. A zero id is the list's beginning.
type DeliveryPage struct {
	Beyond uuid.UUID
	Back   bool
	Limit  int
}

// deliveryQuery gathers conditions with their arguments.
type deliveryQuery struct {
	conditions []string
	args       []any
}

func (q *deliveryQuery) where(condition string, arg any) {
	q.args = append(q.args, arg)
	// The tenant is the first argument.
	q.conditions = append(q.conditions, fmt.Sprintf(condition, len(q.args)+1))
}

func (f DeliveryFilter) query(page DeliveryPage) (sql string, args []any) {
	q := deliveryQuery{conditions: []string{"tenant_id = $1", "webhook_profile_id IS NOT NULL"}}
	if f.ProfileID != uuid.Nil {
		q.where("webhook_profile_id = $%d", f.ProfileID)
	}
	if f.Status != "" {
		q.where("delivery_status = $%d", string(f.Status))
	}
	if f.Kind != "" {
		q.where("kind = $%d", string(f.Kind))
	}
	if !f.CreatedFrom.IsZero() {
		q.where("created_at >= $%d", micros(f.CreatedFrom))
	}
	if !f.CreatedBefore.IsZero() {
		q.where("created_at < $%d", micros(f.CreatedBefore))
	}
	order := "id DESC"
	switch {
	case page.Back:
		q.where("id > $%d", page.Beyond)
		order = "id"
	case page.Beyond != uuid.Nil:
		q.where("id < $%d", page.Beyond)
	}
	return fmt.Sprintf(`SELECT `+deliveryColumns+` FROM events WHERE %s ORDER BY %s LIMIT %d`,
		strings.Join(q.conditions, " AND "), order, page.Limit), q.args
}

const deliveryColumns = `id, tenant_id, webhook_profile_id, kind, delivery_status, created_at, next_attempt_at`

func scanDelivery(r rows) (d DeliveryRecord, err error) {
	return d, r.Scan(&d.EventID, &d.TenantID, &d.ProfileID, &d.Kind, &d.Status, instant{&d.CreatedAt}, instant{&d.NextAttemptAt})
}

// Deliveries lists a tenant's deliveries, newest first, with their attempts.
func (t Tenant) Deliveries(ctx context.Context, f DeliveryFilter, page DeliveryPage) ([]DeliveryRecord, error) {
	records, err := t.deliveries(ctx, f, page)
	if err != nil {
		return nil, err
	}
	return records, t.addAttempts(ctx, records)
}

func (t Tenant) deliveries(ctx context.Context, f DeliveryFilter, page DeliveryPage) ([]DeliveryRecord, error) {
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

// AllDeliveries lists the deliveries of every tenant. Each tenant's part comes
// from its own rows and the parts are merged, so that no index has to serve
// all tenants at once.
func (s *Store) AllDeliveries(ctx context.Context, f DeliveryFilter, page DeliveryPage) ([]DeliveryRecord, error) {
	tenants, err := s.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	var all []DeliveryRecord
	for _, tenant := range tenants {
		part, err := s.Tenant(tenant.ID).deliveries(ctx, f, page)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	slices.SortFunc(all, func(a, b DeliveryRecord) int { return cmp.Compare(b.EventID.String(), a.EventID.String()) })
	if cut := len(all) - page.Limit; cut > 0 && page.Back {
		all = all[cut:]
	}
	all = all[:min(len(all), page.Limit)]
	for _, tenant := range tenants {
		if err := s.Tenant(tenant.ID).addAttempts(ctx, all); err != nil {
			return nil, err
		}
	}
	return all, nil
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
