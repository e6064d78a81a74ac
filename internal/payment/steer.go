package payment

import (
	"fmt"
	"time"
)

// What people do to a subscription beside ending it at once. None of it touches a
// collection that is under way: its outcome is recorded as ever.

var (
	errEnded   = Conflicting("The subscription is cancelled already.")
	errEnding  = Conflicting("The subscription ends with its period. Resume it first.")
	errPaused  = Conflicting("The subscription is paused. Resume it first.")
	errPastDue = Conflicting("The subscription owes a period. Cancel it now, or wait until the period is paid.")
	errBilling = Conflicting("The subscription is being billed. Try again once that is settled.")
)

// CancelAtPeriodEnd has a subscription end on the day on which it would be billed
// next: what is paid for is still delivered.
func CancelAtPeriodEnd(s Subscription, by CancelReason, now time.Time) (Subscription, error) {
	switch {
	case s.Status == SubscriptionCancelled:
		return s, errEnded
	case s.EndsBy != "":
		return s, Conflicting("The subscription ends with its period already.")
	case !s.PausedAt.IsZero():
		return s, errPaused
	case s.Status == SubscriptionPastDue:
		return s, errPastDue
	}
	next := s.Upcoming(1)
	if len(next) == 0 {
		return s, Conflicting("The subscription has no period that ends: it is never billed by itself. Cancel it now.")
	}
	s.EndsBy, s.EndsOn = by, next[0]
	if s.NextBillingDate == s.EndsOn { // any other day is that of a rebill under way, which goes on
		s.NextBillingDate = Date{}
	}
	s.steered(now)
	return s, nil
}

// EndWithPeriod ends a subscription whose last period is over, and says whether it
// did.
func (s *Subscription) EndWithPeriod(now time.Time) (bool, error) {
	if s.EndsOn.IsZero() || now.Before(s.EndsOn.Start()) {
		return false, nil
	}
	return true, s.end(Cancelled, s.EndsBy, "", now)
}

// PauseSubscription has nothing billed until it is resumed. Its mandate goes on to
// age.
func PauseSubscription(s Subscription, now time.Time) (Subscription, error) {
	switch {
	case s.Status == SubscriptionCancelled:
		return s, errEnded
	case !s.PausedAt.IsZero():
		return s, Conflicting("The subscription is paused already.")
	case s.EndsBy != "":
		return s, errEnding
	}
	s.PausedAt, s.NextBillingDate = now, Date{}
	s.steered(now)
	return s, nil
}

// ResumeSubscription has a subscription go on that was paused, or that was to end
// with its period. Periods that have begun meanwhile are not billed; one that is owed
// is tried again at once.
func ResumeSubscription(s Subscription, now time.Time) (Subscription, error) {
	switch {
	case s.Status == SubscriptionCancelled:
		return s, errEnded
	case s.EndsBy != "":
		if s.NextBillingDate.IsZero() {
			s.NextBillingDate = s.EndsOn
		}
		s.EndsBy, s.EndsOn = "", Date{}
	case s.PausedAt.IsZero():
		return s, Conflicting("The subscription is not paused.")
	default:
		s.PausedAt = time.Time{}
		s.NextBillingDate = s.afterPause(now)
	}
	s.steered(now)
	return s, nil
}

// afterPause is when a subscription is billed that was paused until now.
func (s *Subscription) afterPause(now time.Time) Date {
	today := DateOf(now)
	s.Owed = s.Owed.withoutPlace() // nobody can tell any more what was missed before the pause
	switch {
	case s.Frequency == "":
		return Date{}
	case s.isBilling():
		return s.PeriodStart(s.periodAfter(now))
	case s.Tries > 0:
		return today
	}
	for s.PeriodStart(s.Period).Start().Before(today.Start()) {
		s.Period++
	}
	return s.PeriodStart(s.Period)
}

// NewTerms are what is to change about a subscription; nil and none stay.
type NewTerms struct {
	AmountMinor     *Minor
	NextBillingDate Date
}

// ChangeTerms gives a subscription another price, from the first period on that has
// not been tried yet, or another day on which it is billed next, from which its
// rhythm counts then.
func ChangeTerms(s Subscription, to NewTerms, now time.Time) (Subscription, error) {
	if s.Status == SubscriptionCancelled {
		return s, errEnded
	}
	if to.AmountMinor == nil && to.NextBillingDate.IsZero() {
		return s, Fields{"amount": "Give amount or next_billing_date, or both."}.Err()
	}
	if to.AmountMinor != nil {
		s.AmountMinor = *to.AmountMinor
	}
	if !to.NextBillingDate.IsZero() {
		if err := s.moveRhythm(to.NextBillingDate, now); err != nil {
			return s, err
		}
	}
	s.steered(now)
	return s, nil
}

func (s *Subscription) moveRhythm(to Date, now time.Time) error {
	switch {
	case s.Frequency == "":
		return Conflicting("The subscription is never billed by itself.")
	case !s.PausedAt.IsZero():
		return errPaused
	case s.EndsBy != "":
		return errEnding
	case s.isBilling():
		return errBilling
	case s.Tries > 0:
		return errPastDue
	}
	if last := s.LapseDate().AddDays(-1); !to.Start().After(DateOf(now).Start()) || to.Start().After(last.Start()) {
		return Fields{"next_billing_date": fmt.Sprintf("next_billing_date must be after today and not after %s, when the mandate lapses unused.", last)}.Err()
	}
	s.RhythmDate, s.RhythmPeriod, s.NextBillingDate = to, s.Period, to
	return nil
}

// KeepPrice has a rebill collect what an earlier try of its period was for, whatever
// the price is now; nil where there was none.
func (c *Change) KeepPrice(tried *Minor) {
	if tried != nil {
		c.Transaction.AmountMinor = *tried
	}
}

// steered marks that somebody has changed the subscription by hand. No two changes
// have the same mark, so that the store can tell them apart.
func (s *Subscription) steered(now time.Time) {
	if !now.After(s.SteeredAt) {
		now = s.SteeredAt.Add(time.Microsecond)
	}
	s.SteeredAt, s.UpdatedAt = now, now
}

// beginOn says when the next period begins: it is billed then, unless the
// subscription ends with the present one or is paused.
func (s *Subscription) beginOn(day Date) {
	if s.EndsBy != "" {
		s.EndsOn, day = day, Date{}
	}
	s.tryOn(day)
}

// tryOn says when a period is tried that has begun, or none; while the subscription
// is paused that stays open.
func (s *Subscription) tryOn(day Date) {
	if !s.PausedAt.IsZero() {
		day = Date{}
	}
	s.NextBillingDate = day
}
