package page

import (
	"sepad/internal/payment"
)

// planView tells a payer when the account is debited, before anything is paid:
// the days are those on which banks move money.
type planView struct {
	// Line is what a phone shows while the rest is folded away.
	Line  string
	Steps []planStep
	// Statement is what the bank statement will say, "" when it is not known.
	Statement string
}

// planStep is a day on which something happens to the account, or does not.
type planStep struct{ Date, Note, Amount string }

func (v visit) plan() *planView {
	terms, today := v.Session.Terms, payment.DateOf(v.now)
	first, price := v.firstDebit(today), v.money(terms.PriceMinor)
	p := &planView{Statement: v.Gateway.Descriptor}
	switch {
	case terms.BillingType == payment.OneOff:
		p.Steps = []planStep{{v.ShortDate(first, v.now), v.PlanOnly, price}}
	case terms.BillingType == payment.TrialRecurring && terms.DueMinor() == 0:
		first = v.debitOn(terms.TrialEnd(today))
		p.Steps = []planStep{
			{v.PlanToday, v.PlanNothing, ""},
			{v.ShortDate(first, v.now), v.andThen(v.PlanFirst), price},
		}
	case terms.BillingType == payment.TrialRecurring:
		p.Steps = []planStep{
			{v.ShortDate(first, v.now), fill(v.ForPeriod, "period", v.trialPeriod()), v.money(terms.DueMinor())},
			{v.ShortDate(v.debitOn(terms.TrialEnd(today)), v.now), v.andThen(""), price},
		}
	default:
		p.Steps = []planStep{{v.ShortDate(first, v.now), v.PlanFirst, price}}
		if terms.Frequency == "" {
			p.Steps[0].Note = v.andThen(v.PlanFirst)
			break
		}
		next := terms.Frequency.PeriodStart(today, 1).DueDate()
		p.Steps = append(p.Steps, planStep{v.ShortDate(next, v.now), v.andThen(""), price})
	}
	p.Line = fill(v.PlanLine, "date", v.ShortDate(first, v.now))
	return p
}

// andThen adds how the debits go on: "first debit, then every month".
func (v visit) andThen(note string) string {
	onward := fill(v.OpenRhythm, "merchant", v.Tenant.Name)
	if rhythm := v.rhythm(); rhythm != "" {
		onward = fill(v.texts.Then, "what", rhythm)
	}
	if note == "" {
		return onward
	}
	return note + ", " + onward
}

// firstDebit is the day on which a payment that is made on a day is debited: the
// gateway's word, or the next business day, because the payer's bank hears of a
// direct debit a day before.
func (v visit) firstDebit(paid payment.Date) payment.Date { return v.debitOn(paid.AddDays(1)) }

// debitOn is the day on which what is owed on a day is debited.
func (v visit) debitOn(owed payment.Date) payment.Date {
	due := owed.DueDate()
	if v.EarliestDue.Start().After(due.Start()) {
		return v.EarliestDue
	}
	return due
}
