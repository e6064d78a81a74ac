package listing

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Sum is a number of records and what they come to.
type Sum struct {
	Count int
	Minor payment.Minor
}

// DayTotals are what one day (UTC) brought in one currency, by the gateways' first answer
// and by the day on which chargebacks were reported.
type DayTotals struct {
	Day      payment.Date
	Currency string
	// Collected counts what was collected, also where it came back since.
	Collected, Pending, Declined, Refunded, ChargedBack Sum
	// FeesMinor is what banks took for chargebacks, as far as they said so.
	FeesMinor payment.Minor
}

// NetMinor is what is left of the day.
func (d DayTotals) NetMinor() payment.Minor {
	return d.Collected.Minor - d.Refunded.Minor - d.ChargedBack.Minor - d.FeesMinor
}

const microsADay = int64(24 * time.Hour / time.Microsecond)

type dayKey struct {
	day      int64
	currency string
}

// ReadDayTotals sums up the days from first to last, the newest first.
func ReadDayTotals(ctx context.Context, t store.Tenant, first, last payment.Date) ([]DayTotals, error) {
	from, before := db.Micros(first.Start()), db.Micros(last.AddDays(1).Start())
	days := map[dayKey]*DayTotals{}
	of := func(key dayKey) *DayTotals {
		if days[key] == nil {
			days[key] = &DayTotals{Day: payment.DateOf(time.UnixMicro(key.day * microsADay).UTC()), Currency: key.currency}
		}
		return days[key]
	}
	result, err := t.LaggingQuery(ctx, `
		SELECT processed_at / 86400000000, currency, CASE WHEN type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN 'other'
				WHEN type = 'sdd_refund' AND status = 'approved' THEN 'refunded' WHEN type = 'sdd_refund' THEN 'other'
				WHEN status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE status END,
			COUNT(*), CAST(SUM(amount_minor) AS BIGINT)
		FROM transactions WHERE tenant_id = $1 AND processed_at IS NOT NULL AND processed_at >= $2 AND processed_at < $3
		GROUP BY 1, 2, 3`, from, before)
	type group struct {
		dayKey
		kind string
		sum  Sum
	}
	groups, err := db.Collect(result, err, func(r db.Rows) (g group, err error) {
		return g, r.Scan(&g.day, &g.currency, &g.kind, &g.sum.Count, &g.sum.Minor)
	})
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		switch g.kind {
		case "collected":
			of(g.dayKey).Collected = g.sum
		case "pending":
			of(g.dayKey).Pending = g.sum
		case "declined":
			of(g.dayKey).Declined = g.sum
		case "refunded":
			of(g.dayKey).Refunded = g.sum
		}
	}
	if err := addChargebacks(ctx, t, from, before, of); err != nil {
		return nil, err
	}
	all := make([]DayTotals, 0, len(days))
	for _, d := range days {
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b DayTotals) int {
		return cmp.Or(b.Day.Start().Compare(a.Day.Start()), cmp.Compare(a.Currency, b.Currency))
	})
	return all, nil
}

func addChargebacks(ctx context.Context, t store.Tenant, from, before any, of func(dayKey) *DayTotals) error {
	result, err := t.LaggingQuery(ctx, `
		SELECT reported_at / 86400000000, currency, COUNT(*), CAST(SUM(amount_minor) AS BIGINT), CAST(COALESCE(SUM(bank_fee_minor), 0) AS BIGINT)
		FROM chargebacks WHERE tenant_id = $1 AND reported_at >= $2 AND reported_at < $3 GROUP BY 1, 2`, from, before)
	_, err = db.Collect(result, err, func(r db.Rows) (key dayKey, err error) {
		var sum Sum
		var fees payment.Minor
		if err := r.Scan(&key.day, &key.currency, &sum.Count, &sum.Minor, &fees); err != nil {
			return key, err
		}
		of(key).ChargedBack, of(key).FeesMinor = sum, fees
		return key, nil
	})
	return err
}

// Payout is what a bank has booked for one day on an account's statement: what came in
// for collections, what went back, and what the bank kept of it.
type Payout struct {
	StatementID uuid.UUID
	BookingDate string
	Currency    string
	Credited    Sum
	Debited     Sum
	FeesMinor   payment.Minor
}

// NetMinor is what is left on the account.
func (p Payout) NetMinor() payment.Minor { return p.Credited.Minor - p.Debited.Minor - p.FeesMinor }

// PayoutsOf sums up what is booked on a bank's statement by the day of booking. Only a
// statement of whole days is summed up: what is announced before has its lines as well.
func PayoutsOf(ctx context.Context, t store.Tenant, statementID uuid.UUID) ([]Payout, error) {
	result, err := t.Query(ctx, `
		SELECT booking_date, currency, SUM(CASE WHEN is_credit <> 0 THEN 1 ELSE 0 END), CAST(SUM(CASE WHEN is_credit <> 0 THEN amount_minor ELSE 0 END) AS BIGINT),
			SUM(CASE WHEN is_credit <> 0 THEN 0 ELSE 1 END), CAST(SUM(CASE WHEN is_credit <> 0 THEN 0 ELSE amount_minor END) AS BIGINT), CAST(SUM(charges_minor) AS BIGINT)
		FROM bank_lines WHERE tenant_id = $1 AND statement_id = $2 AND source = 'camt.053' AND kind <> '`+store.ForeseenLine+`' GROUP BY booking_date, currency ORDER BY booking_date, currency`, statementID)
	return db.Collect(result, err, func(r db.Rows) (p Payout, err error) {
		p.StatementID = statementID
		return p, r.Scan(&p.BookingDate, &p.Currency, &p.Credited.Count, &p.Credited.Minor, &p.Debited.Count, &p.Debited.Minor, &p.FeesMinor)
	})
}
