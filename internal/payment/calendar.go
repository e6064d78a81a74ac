package payment

import (
	"time"

	"sepad/internal/sepa"
)

// Date is a day without a time, in UTC. Its zero value means "none".
type Date struct{ day time.Time }

// DateOf is the UTC day of an instant.
func DateOf(at time.Time) Date {
	y, m, d := at.UTC().Date()
	return Date{time.Date(y, m, d, 0, 0, 0, 0, time.UTC)}
}

// ParseDate reads YYYY-MM-DD.
func ParseDate(text string) (Date, error) {
	day, err := time.Parse(time.DateOnly, text)
	return Date{day}, err
}

// String is YYYY-MM-DD, or "" for no date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return d.day.Format(time.DateOnly)
}

// Start is the first instant of the day.
func (d Date) Start() time.Time { return d.day }

// IsZero tells that there is no date.
func (d Date) IsZero() bool { return d.day.IsZero() }

// AddDays moves by days.
func (d Date) AddDays(n int) Date { return Date{d.day.AddDate(0, 0, n)} }

// AddMonths moves by months and stays in the month it reaches: the 31st of a
// month that has none is its last day.
func (d Date) AddMonths(n int) Date {
	y, m, day := d.day.Date()
	last := time.Date(y, m+time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC)
	return Date{last.AddDate(0, 0, min(day, last.Day())-last.Day())}
}

// DueDate is the day on which the money of a billing date moves: the date itself
// or the next TARGET2 business day. Billing dates keep a subscription's rhythm and
// may fall on a Sunday; a payer is told due dates.
func (d Date) DueDate() Date {
	if d.IsZero() {
		return d
	}
	return DateOf(sepa.NextBusinessDay(d.day))
}

// PeriodStart is the day on which period n of a rhythm begins, counted from the
// anchor and never from the period before, so that a subscription of the 31st
// finds back to the 31st after a short month.
func (f BillingFrequency) PeriodStart(anchor Date, n int) Date {
	switch f {
	case Weekly:
		return anchor.AddDays(7 * n)
	case Biweekly:
		return anchor.AddDays(14 * n)
	case Monthly:
		return anchor.AddMonths(n)
	case Quarterly:
		return anchor.AddMonths(3 * n)
	case Semiannually:
		return anchor.AddMonths(6 * n)
	case Yearly:
		return anchor.AddMonths(12 * n)
	default:
		return Date{}
	}
}

// LeastDays is how long the shortest period of a rhythm lasts.
func (f BillingFrequency) LeastDays() int {
	february := Date{time.Date(2026, time.February, 1, 0, 0, 0, 0, time.UTC)}
	return int(f.PeriodStart(february, 1).day.Sub(february.day) / (24 * time.Hour))
}

// TrialEnd is the day on which a trial that starts on a day is over, which is
// the day of the first regular collection.
func (t Terms) TrialEnd(start Date) Date {
	switch t.TrialUnit {
	case TrialDay:
		return start.AddDays(t.TrialPeriod)
	case TrialWeek:
		return start.AddDays(7 * t.TrialPeriod)
	case TrialMonth:
		return start.AddMonths(t.TrialPeriod)
	default:
		return Date{}
	}
}
