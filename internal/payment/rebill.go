package payment

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/sepa"
)

// Dunning is how many days pass between a refused try of a rebill and the next.
// After the last one the subscription is cancelled.
type Dunning []int

// MaxDunningDays bounds each wait: a later try could not be told from a new sale.
const MaxDunningDays = 90

// DefaultDunning is what holds where nobody says otherwise.
func DefaultDunning() Dunning { return Dunning{3, 5, 7} }

// BeginRebill opens the collection of a subscription's period that is due, or that
// is prepared because it will be by a day: the transaction to record before the
// gateway is called, and the subscription as it waits for it. The account is the
// one that the first payment was made from. The claim is the store's conditional
// write.
func BeginRebill(s Subscription, first Transaction, until Date, now time.Time) (Change, error) {
	if s.DueAt().IsZero() || s.NextBillingDate.IsZero() || s.NextBillingDate.Start().After(until.Start()) {
		return Change{}, fmt.Errorf("payment: subscription %s is not due", s.ID)
	}
	return RecallRebill(s, first, now)
}

// RecallRebill opens the collection of a period that a gateway may have had before
// the database was restored, whether it is due by what is known now or not.
func RecallRebill(s Subscription, first Transaction, now time.Time) (Change, error) {
	if s.Frequency == "" || s.OpenTransactionID != nil {
		return Change{}, fmt.Errorf("payment: subscription %s cannot be billed", s.ID)
	}
	before := s
	s.Tries++
	period, amount := s.Period, s.AmountMinor
	if period == s.periodOf(first) {
		amount = first.AmountMinor // of a trial that is paid, and came back
	}
	t := Transaction{
		ID: NewID(), TenantID: s.TenantID, OrderID: &s.OrderID, SubscriptionID: &s.ID, LeadID: &s.LeadID,
		GatewayID: s.GatewayID, MerchantTransactionID: RebillReference(s, s.Tries), Period: &period,
		Status: TransactionPending, Type: Rebill, AmountMinor: amount, Currency: s.Currency,
		SequenceType: s.SequenceType, Source: SourceAPI,
		MaskedIBAN: first.MaskedIBAN, IBANCountry: first.IBANCountry, BIC: first.BIC, BankName: first.BankName,
		HolderName: first.HolderName, Email: first.Email, MandateReference: s.MandateReference, MandateAt: first.MandateAt,
		Attempt:   Attempt{Number: s.Tries, Phase: PhaseSubmit},
		CreatedAt: now, UpdatedAt: now,
	}
	s.OpenTransactionID, s.UpdatedAt = &t.ID, now
	return Change{
		Debit:  Debit{Transaction: t, Subscription: &s, WebhookProfileID: s.WebhookProfileID},
		Before: Debit{Subscription: &before},
	}, nil
}

// KeepCount has a rebill counted behind the tries of its period whose money came
// back, 0 for none: a period that waited for its turn was tried before.
func (c *Change) KeepCount(returned int) {
	if c.Subscription.Tries <= returned {
		c.Subscription.Tries = returned + 1
		c.Transaction.Attempt.Number = c.Subscription.Tries
	}
}

// settleRebill applies a gateway's answer to a rebill: to one that was just
// submitted, or to one that it had taken in as pending.
func (c *Change) settleRebill(o Outcome, dunning Dunning, now time.Time) error {
	// One that has been answered before was reported then.
	known := !c.Before.Transaction.ProcessedAt.IsZero()
	c.Subscription.UpdatedAt = now
	if o.Verdict != VerdictUnsent && c.isUnderItsMandate() {
		c.Subscription.MandateUsedAt = c.Transaction.CreatedAt
	}
	switch o.Verdict {
	case VerdictApproved:
		return c.billed(known, dunning, now)
	case VerdictPending:
		c.Transaction.SettleDueAt = settleDue(o, now)
		c.accepted(known, now)
		return nil
	case VerdictDeclined, VerdictLost, VerdictUnsent:
		if o.Verdict == VerdictUnsent {
			// No gateway knows it by its name, which the debit keeps that is sent in its
			// place: that is how a repeat after a restore is recognized.
			c.Transaction.MerchantTransactionID = NewMerchantTransactionID(now)
		}
		c.Transaction.Decline = o.decline()
		return c.notBilled(known, o, dunning, now)
	default:
		return fmt.Errorf("payment: verdict %q says nothing of a rebill", o.Verdict)
	}
}

// billed books a rebill that was collected. Of one that was taken in before, the
// merchant knows, and is told that its status has changed.
func (c *Change) billed(known bool, dunning Dunning, now time.Time) error {
	if err := c.move(Approved, now); err != nil {
		return err
	}
	if !known {
		c.Events = []Event{transactionCreated(c.Transaction)}
	}
	sub := c.Subscription
	sub.SuccessfulCount++
	sub.LastBilledAt = now
	sub.RevenueMinor += c.Transaction.AmountMinor
	if c.isUnderItsMandate() {
		sub.SequenceType = SequenceRecurring
	}
	return sub.collected(c.Transaction, dunning, now)
}

// accepted notes that the gateway settles the rebill later. The subscription waits
// for that, and shows when it will be billed after it.
func (c *Change) accepted(known bool, now time.Time) {
	if known {
		return
	}
	c.Events = []Event{transactionCreated(c.Transaction)}
	sub := c.Subscription
	if c.isUnderItsMandate() {
		sub.SequenceType = SequenceRecurring
	}
	if sub.Status != SubscriptionCancelled {
		sub.beginOn(sub.PeriodStart(sub.periodAfter(now)))
	}
}

// notBilled records a refused try, and when there is another.
func (c *Change) notBilled(known bool, o Outcome, dunning Dunning, now time.Time) error {
	if err := c.move(Refused, now); err != nil {
		return err
	}
	if !known {
		c.Events = nil // nobody was told of it, and a refusal is not told
	}
	sub := c.Subscription
	if c.isUnderItsMandate() {
		sub.SequenceType = c.Transaction.SequenceType
	}
	waited := sub.release(c.Transaction.ID)
	if o.wasOurs() {
		if waited && known {
			sub.giveBack(c.Transaction, now)
		} else if waited {
			sub.Tries-- // nobody has moved its day
		}
		return nil
	}
	sub.FailedCount++
	if waited && sub.Tries == 1 {
		sub.keepPlace(sub.Period+1, c.Transaction.CreatedAt)
	}
	if waited && c.wasUnderAnotherMandate() {
		return sub.tryUnderNewMandate(now)
	}
	return sub.refused(o, dunning, now)
}

// collected moves on to the next period, if it was this collection that the
// subscription waited for. A period whose money came back meanwhile comes first.
func (s *Subscription) collected(t Transaction, dunning Dunning, now time.Time) (err error) {
	if !s.release(t.ID) || s.Status == SubscriptionCancelled {
		return nil
	}
	if s.Status, err = follow(SubscriptionRules, s.Status, RebillCollected); err != nil {
		return err
	}
	s.Period, s.Tries = s.periodAfter(now), 0
	s.beginOn(s.PeriodStart(s.Period))
	period, rest, owed := s.Owed.first()
	if !owed {
		s.Owed = "" // its place was reached
		return nil
	}
	s.Owed = rest
	s.keepPlace(s.Period, now)
	return s.tryAgain(period, 1, dunning, now)
}

// giveBack makes a try undone that was taken in and that no bank has collected: its
// period is due again, but not before the day that was told.
func (s *Subscription) giveBack(t Transaction, now time.Time) {
	s.Tries--
	if s.Status == SubscriptionCancelled {
		return
	}
	due := DateOf(now)
	if t.DueDate.Start().After(due.Start()) {
		due = t.DueDate
	}
	if s.NextBillingDate.IsZero() || s.NextBillingDate.Start().After(due.Start()) {
		s.tryOn(due)
	}
}

// keepPlace has billing go on at a period that has begun by an instant and waits, once what is tried before it was collected:
// it was missed, and did not pass while something was tried again.
func (s *Subscription) keepPlace(period int, at time.Time) {
	if begins := s.PeriodStart(period); s.PausedAt.IsZero() && s.EndsBy == "" && !begins.IsZero() && !begins.Start().After(at) {
		s.Owed = s.Owed.withPlace(period)
	}
}

// periodAfter is the period that follows the one being billed. Each period that
// was missed is made up for, in order; only those that passed while a refused
// one was tried again are left out, and not even they where others were missed before.
func (s *Subscription) periodAfter(now time.Time) int {
	// One that is behind was left by a program of the version before, which goes on without taking it away.
	if place, kept := s.Owed.place(); kept && place > s.Period {
		return place
	}
	next := s.Period + 1
	for s.Tries > 1 && !s.PeriodStart(next).Start().After(now) {
		next++
	}
	return next
}

// refused says when the next try is, or that there is none.
func (s *Subscription) refused(o Outcome, dunning Dunning, now time.Time) error {
	if s.Status == SubscriptionCancelled {
		return nil
	}
	if o.follows() == sepa.FollowsEnd {
		return s.end(RefusedForGood, CancelledByRefusal, o.decline().reasonCode(), now)
	}
	return s.tryAgain(s.Period, s.Tries, dunning, now)
}

// tryAgain says when a period is tried next that failed so many times, or ends
// the subscription.
func (s *Subscription) tryAgain(period, tries int, dunning Dunning, now time.Time) (err error) {
	if tries > len(dunning) {
		return s.end(RefusedForGood, CancelledByDunning, "", now)
	}
	if s.Status, err = follow(SubscriptionRules, s.Status, RebillRefused); err != nil {
		return err
	}
	s.Period, s.Tries, s.UpdatedAt = period, tries, now
	s.tryOn(DateOf(now).AddDays(dunning[tries-1]))
	return nil
}

// release ends the wait for a collection, and says whether it was this one that
// the subscription waited for.
func (s *Subscription) release(transactionID uuid.UUID) bool {
	if s.OpenTransactionID == nil || *s.OpenTransactionID != transactionID {
		return false
	}
	s.OpenTransactionID = nil
	return true
}
