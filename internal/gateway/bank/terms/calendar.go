package terms

import (
	"time"

	"sepad/internal/sepa"
)

// grace is how late after the cut-off a file may be written that still counts for that day: the job that writes it
// takes its time.
const grace = 30 * time.Minute

// NextCutOff is the first moment after an instant at which files are written: the cut-off of a business day.
func (t *Terms) NextCutOff(at time.Time) time.Time {
	day := sepa.NextBusinessDay(t.dayOf(at))
	for {
		if cutOff := t.cutOffOn(day); cutOff.After(at) {
			return cutOff
		}
		day = addBusinessDays(day, 1)
	}
}

// LastCutOff is the latest such moment that is not after an instant.
func (t *Terms) LastCutOff(at time.Time) time.Time {
	for day := t.dayOf(at); ; day = day.AddDate(0, 0, -1) {
		if cutOff := t.cutOffOn(day); sepa.NextBusinessDay(day).Equal(day) && !cutOff.After(at) {
			return cutOff
		}
	}
}

// cutOffOn is the cut-off of a day by the clock at the bank: midnight plus some hours is another time on two days of the
// year.
func (t *Terms) cutOffOn(day time.Time) time.Time {
	hour, minute := int(t.CutOff/time.Hour), int(t.CutOff%time.Hour/time.Minute)
	return time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, t.Zone).UTC()
}

// DueDate is when the collections of a file are due that is written at an instant: the lead's business days after the
// day on which the bank takes it, which is the next one for a file that is late.
func (t *Terms) DueDate(at time.Time) time.Time {
	return addBusinessDays(t.dayOf(t.NextCutOff(at.Add(-grace))), t.LeadDays)
}

// DueAfterNotice is when a collection is due of which the payer was told at one instant and which is written at another.
func (t *Terms) DueAfterNotice(at, told time.Time) time.Time {
	due, noticed := t.DueDate(at), sepa.NextBusinessDay(t.dayOf(told).AddDate(0, 0, t.NoticeDays))
	if noticed.After(due) {
		return noticed
	}
	return due
}

// SilenceEnds is when nothing heard of a collection means that its money has come.
func (t *Terms) SilenceEnds(due time.Time) time.Time {
	day := addBusinessDays(due, t.SettleDays)
	return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, t.Zone).AddDate(0, 0, 1).UTC()
}

// dayOf is the day at the bank, as the UTC day of the same date.
func (t *Terms) dayOf(at time.Time) time.Time {
	year, month, day := at.In(t.Zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func addBusinessDays(day time.Time, count int) time.Time {
	day = sepa.NextBusinessDay(day)
	for range count {
		day = sepa.NextBusinessDay(day.AddDate(0, 0, 1))
	}
	return day
}
