package listing

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// DayKind is what the days are counted by.
type DayKind string

// The kinds. A payment is collected once it was approved, whatever becomes of it.
const (
	DayCollected   DayKind = "collected"
	DayPending     DayKind = "pending"
	DayDeclined    DayKind = "declined"
	DayRefunded    DayKind = "refunded"
	DayChargedBack DayKind = "charged_back"
)

// DayKinds are those that payments are counted as.
var DayKinds = []DayKind{DayCollected, DayPending, DayDeclined, DayRefunded}

// unknownPayments are those of which no gateway has said what became of them, as many as a limit behind it allows. SQLite,
// which takes any tenant for a small one, would read all that the tenant has but for the order, which the index of those
// that are under way has.
const unknownPayments = `SELECT x.id FROM transactions x WHERE x.tenant_id = $1 AND x.in_flight IS NOT NULL AND x.lookup_count > 0 ORDER BY x.session_id`

// DayCount is what a day brought of one kind.
type DayCount struct {
	Day        payment.Date
	GatewayID  uuid.UUID
	CampaignID uuid.UUID // zero for none
	Currency   string
	Kind       DayKind
	// Reason says why of declines and chargebacks.
	Reason string
	Sum
}

// DayCounts reads what the days from first to last brought, from what is counted with every
// change: it costs what the days have gateways, campaigns and reasons, however many payments there were. Reasons of
// chargebacks are the file's that brings them.
func DayCounts(ctx context.Context, t store.Tenant, first, last payment.Date) ([]DayCount, error) {
	const day = `day >= $2 AND day <= $3`
	result, err := t.LaggingQuery(ctx, `
		SELECT day, gateway_id, campaign_id, currency, kind, reason, CAST(SUM(records) AS BIGINT), CAST(SUM(minor) AS BIGINT) FROM (
			SELECT day, gateway_id, campaign_id, currency, kind, reason, records, minor FROM count_days WHERE tenant_id = $1 AND `+day+`
			UNION ALL
			SELECT day, gateway_id, campaign_id, currency, kind, reason, records, minor FROM count_changes WHERE tenant_id = $1 AND `+day+`) AS counted
		GROUP BY day, gateway_id, campaign_id, currency, kind, reason HAVING SUM(records) <> 0 OR SUM(minor) <> 0 ORDER BY day`,
		first.Start().UnixMicro()/microsADay, last.Start().UnixMicro()/microsADay)
	return db.Collect(result, err, func(r db.Rows) (c DayCount, err error) {
		var day int64
		err = r.Scan(&day, &c.GatewayID, &c.CampaignID, &c.Currency, &c.Kind, &c.Reason, &c.Count, &c.Minor)
		c.Day = payment.DateOf(time.UnixMicro(day * microsADay).UTC())
		return c, err
	})
}

// Questions are what of a tenant waits for an answer, or for a person; each is counted up
// to a bound.
type Questions struct {
	// Unknown are payments of which no gateway has said what became of them.
	Unknown Count
	// Unmatched are lines of banks that belong to nothing.
	Unmatched Count
	// Failed are events that could not be delivered, Waiting those that are tried again.
	Failed, Waiting Count
	// Due are subscriptions that are to be billed by now.
	Due Count
	// PastDue are those of which a billing failed.
	PastDue Count
	// Older tells that what was there before is still being counted.
	Older bool
}

// ReadQuestions looks at the beginning of the indexes of what waits.
func ReadQuestions(ctx context.Context, t store.Tenant, dueBefore int64) (q Questions, err error) {
	for _, one := range []struct {
		into  *Count
		query string
		args  []any
	}{
		{&q.Unknown, unknownPayments, nil},
		{&q.Unmatched, `SELECT 1 FROM bank_lines WHERE tenant_id = $1 AND result IN ('unmatched', 'contradicts')`, nil},
		{&q.Failed, `SELECT 1 FROM events e JOIN setup_records p ON p.tenant_id = e.tenant_id AND p.id = e.webhook_profile_id
			WHERE e.tenant_id = $1 AND p.kind = 'webhook_profile' AND e.delivery_status = 'failed'`, nil},
		{&q.Waiting, `SELECT 1 FROM events e JOIN setup_records p ON p.tenant_id = e.tenant_id AND p.id = e.webhook_profile_id
			WHERE e.tenant_id = $1 AND p.kind = 'webhook_profile' AND e.next_attempt_at IS NOT NULL`, nil},
		{&q.Due, `SELECT 1 FROM subscriptions WHERE due_at IS NOT NULL AND due_at <= $2 AND tenant_id = $1`, []any{dueBefore}},
		{&q.PastDue, `SELECT 1 FROM subscriptions WHERE tenant_id = $1 AND status = 'PAST_DUE'`, nil},
	} {
		result, err := t.LaggingQuery(ctx, `SELECT COUNT(*) FROM (`+one.query+` LIMIT `+strconv.Itoa(mostCounted+1)+`) AS counted`, one.args...)
		n, err := db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
		if err != nil {
			return q, err
		}
		*one.into = Count{min(n, mostCounted), n > mostCounted}
	}
	result, err := t.Query(ctx, `SELECT COUNT(*) FROM count_older WHERE tenant_id = $1`)
	left, err := db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
	q.Older = left > 0
	return q, err
}

// Plus adds two counts.
func (c Count) Plus(other Count) Count {
	return Count{min(c.N+other.N, mostCounted), c.AtLeast || other.AtLeast || c.N+other.N > mostCounted}
}
