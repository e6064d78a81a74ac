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
		day = sepa.AddBusinessDays(day, 1)
	}
}

// LastCutOff is the latest such moment that is not after an instant.
func (t *Terms) LastCutOff(at time.Time) time.Time {
	for day := t.dayOf(at); ; day = day.AddDate(0, 0, -1) {
		if cutOff := t.cutOffOn(day); isBusinessDay(day) && !cutOff.After(at) {
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
	return sepa.AddBusinessDays(t.ExecuteDate(at), t.LeadDays)
}

// ExecuteDate is when credit transfers are carried out of a file that is written at an instant: the day on which the bank
// takes it.
func (t *Terms) ExecuteDate(at time.Time) time.Time { return t.dayOf(t.NextCutOff(at.Add(-grace))) }

// DueOf is when the collections of a cut-off's file are due.
func (t *Terms) DueOf(cutOff time.Time) time.Time {
	return sepa.AddBusinessDays(t.dayOf(cutOff), t.LeadDays)
}

// CutOffFor is the last cut-off whose file can have collections that are due on a business day.
func (t *Terms) CutOffFor(due time.Time) time.Time {
	for range t.LeadDays {
		for due = due.AddDate(0, 0, -1); !isBusinessDay(due); {
			due = due.AddDate(0, 0, -1)
		}
	}
	return t.cutOffOn(due)
}

// DueAfter is when a collection is due of which the payer is told at an instant and which is owed from a day on, the
// zero day for at once: the payer has the notice, and the file of a cut-off to come has time.
func (t *Terms) DueAfter(told, owedFrom time.Time) time.Time {
	due := t.DueOf(t.NextCutOff(told))
	for _, day := range []time.Time{t.dayOf(told).AddDate(0, 0, t.NoticeDays), owedFrom} {
		if day.After(due) {
			due = sepa.NextBusinessDay(day)
		}
	}
	return due
}

// fileMargin is how long before its file a collection is prepared at the latest.
const fileMargin = 24 * time.Hour

// AnnouncesAt is when payers are told of what is owed on a day: the notice before it is due, and in time for its file.
func (t *Terms) AnnouncesAt(owed time.Time) time.Time {
	due := sepa.NextBusinessDay(owed)
	told := time.Date(due.Year(), due.Month(), due.Day()-t.NoticeDays, 0, 0, 0, 0, t.Zone).UTC()
	if latest := t.CutOffFor(due).Add(-fileMargin); latest.Before(told) {
		return latest
	}
	return told
}

// AnnouncesUntil is the last day of which payers are told by an instant what they owe on it.
func (t *Terms) AnnouncesUntil(at time.Time) time.Time {
	day := t.dayOf(at)
	for next := day.AddDate(0, 0, 1); !t.AnnouncesAt(next).After(at); next = next.AddDate(0, 0, 1) {
		day = next
	}
	return day
}

// SilenceEnds is when nothing heard of a collection means that its money has come.
func (t *Terms) SilenceEnds(due time.Time) time.Time {
	day := sepa.AddBusinessDays(due, t.SettleDays)
	return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, t.Zone).AddDate(0, 0, 1).UTC()
}

// dayOf is the day at the bank, as the UTC day of the same date.
func (t *Terms) dayOf(at time.Time) time.Time {
	year, month, day := at.In(t.Zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func isBusinessDay(day time.Time) bool { return sepa.NextBusinessDay(day).Equal(day) }
