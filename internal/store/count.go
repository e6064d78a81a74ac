package store

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// What each day brought is counted by triggers, with every change of a payment and of a
// chargeback, whoever makes it: an import, another version of this program, a person with
// SQL. A trigger adds rows to count_changes and touches none, so that payments do not wait
// for each other; here they are summed up, and what was there before is counted.

// countedAtOnce is how many rows one unit sums up, or counts.
const countedAtOnce = 1000

// dayCount is what one change brought to a day, or many.
type dayCount struct {
	dayKey
	id             string // as its engine writes it
	records, minor int64
}

// dayKey is what is counted apart.
type dayKey struct {
	tenantID              uuid.UUID
	day                   int64
	gatewayID, campaignID uuid.UUID
	currency, kind        string
	reason                string
}

func compareDays(a, b dayKey) int {
	return cmp.Or(bytes.Compare(a.tenantID[:], b.tenantID[:]), cmp.Compare(a.day, b.day), bytes.Compare(a.gatewayID[:], b.gatewayID[:]),
		bytes.Compare(a.campaignID[:], b.campaignID[:]), cmp.Compare(a.currency, b.currency), cmp.Compare(a.kind, b.kind), cmp.Compare(a.reason, b.reason))
}

// SumUpDays puts what changed into the days that it changed, and tells whether some is
// left. It takes what nobody else is taking; changes that commit meanwhile wait for the
// next.
func (s *Store) SumUpDays(ctx context.Context, now time.Time) (more bool, err error) {
	result, err := s.Query(ctx, `SELECT id FROM count_changes LIMIT 1`)
	if _, err = db.One(result, err, scanCountID); IsNotFound(err) {
		return false, nil // nothing is written for nothing
	}
	if err != nil {
		return false, err
	}
	err = s.Write(ctx, now, func(tx *Tx) error {
		result, err := tx.Query(`
			SELECT tenant_id, id, day, gateway_id, campaign_id, currency, kind, reason, records, minor FROM count_changes LIMIT $1`+
			tx.SkipLocked("count_changes"), countedAtOnce)
		taken, err := db.Collect(result, err, scanDayCount)
		more = len(taken) == countedAtOnce
		tx.sumUp(taken)
		return err
	})
	return more, err
}

func scanDayCount(r db.Rows) (c dayCount, err error) {
	return c, r.Scan(&c.tenantID, &c.id, &c.day, &c.gatewayID, &c.campaignID, &c.currency, &c.kind, &c.reason, &c.records, &c.minor)
}

// sumUp adds changes to their days, in one order, so that two who do it never wait for
// each other in a circle.
func (tx *Tx) sumUp(changes []dayCount) {
	sums, ids := map[dayKey]dayCount{}, map[uuid.UUID][]any{}
	for _, c := range changes {
		sum := sums[c.dayKey]
		sums[c.dayKey] = dayCount{dayKey: c.dayKey, records: sum.records + c.records, minor: sum.minor + c.minor}
		ids[c.tenantID] = append(ids[c.tenantID], c.id)
	}
	for _, key := range slices.SortedFunc(maps.Keys(sums), compareDays) {
		tx.Then(`
			INSERT INTO count_days (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (tenant_id, day, gateway_id, campaign_id, currency, kind, reason)
			DO UPDATE SET records = count_days.records + excluded.records, minor = count_days.minor + excluded.minor`,
			key.tenantID, key.day, key.gatewayID, key.campaignID, key.currency, key.kind, key.reason, sums[key].records, sums[key].minor)
	}
	for tenantID, counted := range ids {
		for batch := range db.InLists(counted) {
			tx.Then(`DELETE FROM count_changes WHERE tenant_id = $1 AND id IN `+db.Placeholders(2, 1, len(batch)), append([]any{tenantID}, batch...)...)
		}
	}
}

func scanCountID(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) }

// older is what of a tenant is still to be counted: what is not above an id.
type older struct {
	tenantID, above uuid.UUID
	kind            string
}

// countOlder is what triggers do, for a stretch of rows from the first to the last id.
var countOlder = map[string]string{
	"transactions": `
		SELECT t.tenant_id, t.processed_at / 86400000000, t.gateway_id, COALESCE(s.campaign_id, $4), t.currency, ` + DayKind + `,
			CASE WHEN t.status = 'declined' THEN t.decline_code ELSE '' END, COUNT(*), CAST(SUM(t.amount_minor) AS BIGINT)
		FROM transactions t LEFT JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
		LEFT JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
		WHERE t.tenant_id = $1 AND t.id >= $2 AND t.id <= $3 AND t.processed_at IS NOT NULL AND ` + DayKind + ` IS NOT NULL
		GROUP BY 1, 2, 3, 4, 5, 6, 7`,
	"chargebacks": `
		SELECT t.tenant_id, t.reported_at / 86400000000, t.gateway_id, COALESCE(s.campaign_id, $4), t.currency, 'charged_back', t.reason_code,
			COUNT(*), CAST(SUM(t.amount_minor) AS BIGINT)
		FROM chargebacks t LEFT JOIN transactions p ON p.tenant_id = t.tenant_id AND p.id = t.transaction_id
		LEFT JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
		LEFT JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
		WHERE t.tenant_id = $1 AND t.id >= $2 AND t.id <= $3 GROUP BY 1, 2, 3, 4, 5, 6, 7`,
}

// DayKind is what a transaction, under the name t, counts as, NULL for nothing.
const DayKind = `CASE WHEN t.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
	WHEN t.type = 'sdd_refund' THEN CASE WHEN t.status = 'approved' THEN 'refunded' END
	WHEN t.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE t.status END`

// CountOlder counts some of what was there before triggers counted, newest first, and
// tells whether some is left. It holds the rows that it counts; where somebody is changing
// one of them it leaves them for the next time.
func (s *Store) CountOlder(ctx context.Context, now time.Time) (more bool, err error) {
	result, err := s.Query(ctx, `SELECT tenant_id, kind, counted_above FROM count_older LIMIT 1`)
	of, err := db.One(result, err, func(r db.Rows) (o older, err error) { return o, r.Scan(&o.tenantID, &o.kind, &o.above) })
	if IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = s.Write(ctx, now, func(tx *Tx) (err error) {
		more, err = tx.countOlder(of)
		return err
	})
	return more, err
}

func (tx *Tx) countOlder(of older) (counted bool, err error) {
	// Triggers that leave a change of older rows to this job hold the row: what they saw is committed now, and those that
	// come wait until it is known who counts them.
	result, err := tx.Query(`UPDATE count_older SET counted_above = counted_above WHERE tenant_id = $1 AND kind = $2 AND counted_above = $3 RETURNING tenant_id`,
		of.tenantID, of.kind, of.above)
	if mine, err := db.Collect(result, err, scanCountID); err != nil || len(mine) == 0 {
		return false, err
	}
	read := func(lock string) ([]uuid.UUID, error) {
		result, err := tx.Query(`SELECT t.id FROM `+of.kind+` t WHERE t.tenant_id = $1 AND t.id <= $2 ORDER BY t.id DESC LIMIT $3`+lock, of.tenantID, of.above, countedAtOnce+1)
		return db.Collect(result, err, scanCountID)
	}
	held, err := read(tx.SkipLocked("t"))
	if err != nil {
		return false, err
	}
	if all, err := read(""); err != nil || !slices.Equal(all, held) {
		return false, err
	}
	last := len(held) - 1
	if len(held) <= countedAtOnce {
		tx.Require(ErrStale, `DELETE FROM count_older WHERE tenant_id = $1 AND kind = $2 AND counted_above = $3`, of.tenantID, of.kind, of.above)
	} else {
		last--
		tx.Require(ErrStale, `UPDATE count_older SET counted_above = $4 WHERE tenant_id = $1 AND kind = $2 AND counted_above = $3`, of.tenantID, of.kind, of.above, held[last+1])
	}
	if len(held) > 0 {
		tx.Then(`INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)`+countOlder[of.kind],
			of.tenantID, held[last], held[0], uuid.Nil)
	}
	return true, nil
}

// countAnew has everything counted again by CountOlder, as if nothing had been.
func (tx *Tx) countAnew() {
	for _, table := range []string{"count_days", "count_changes", "count_older"} {
		tx.Then(`DELETE FROM ` + table)
	}
	for _, kind := range slices.Sorted(maps.Keys(countOlder)) {
		tx.Then(`
			INSERT INTO count_older (tenant_id, kind, counted_above)
			SELECT n.id, '` + kind + `', t.id FROM tenants n JOIN ` + kind + ` t ON t.tenant_id = n.id
				AND t.id = (SELECT x.id FROM ` + kind + ` x WHERE x.tenant_id = n.id ORDER BY x.id DESC LIMIT 1)`)
	}
}
