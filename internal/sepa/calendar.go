package sepa

import (
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/ecb"
)

// target2 is the calendar of the euro system's settlement: no weekends and six holidays, the same in every country.
// It is never changed after this, which is what makes reading it from many goroutines safe.
var target2 = newTarget2()

func newTarget2() *cal.BusinessCalendar {
	calendar := cal.NewBusinessCalendar()
	calendar.AddHoliday(ecb.Holidays...)
	return calendar
}

// NextBusinessDay gives the first TARGET2 business day on or after the UTC day of an instant, at its beginning.
func NextBusinessDay(at time.Time) time.Time {
	year, month, dayOfMonth := at.UTC().Date()
	day := time.Date(year, month, dayOfMonth, 0, 0, 0, 0, time.UTC)
	for !target2.IsWorkday(day) {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

// AddBusinessDays gives the business day so many after the first one on or after a day.
func AddBusinessDays(day time.Time, count int) time.Time {
	day = NextBusinessDay(day)
	for range count {
		day = NextBusinessDay(day.AddDate(0, 0, 1))
	}
	return day
}
