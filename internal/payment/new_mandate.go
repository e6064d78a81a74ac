package payment

import (
	"bytes"
	"time"
)

// NewMandateSession begins the session in which the payer of a subscription gives
// another account. It looks like the purchase that the subscription began with, and
// collects nothing: as a free trial it ends when the subscription is billed next.
func NewMandateSession(sub Subscription, first Session, now time.Time) (Session, error) {
	if err := sub.CheckLive(); err != nil {
		return Session{}, err
	}
	s := first
	s.ID, s.RenewsID, s.GatewayID, s.LeadID = idAfter(sub.MandateSessionID), &sub.ID, sub.GatewayID, sub.LeadID
	s.Status, s.HoldsLead, s.MandateReference = SessionPending, true, NewMandateReference()
	s.AttemptsUsed, s.OpenTransactionID, s.LastTransactionID, s.TenantReferenceID, s.CustomerIP = 0, nil, nil, nil, ""
	s.Terms = Terms{
		PriceMinor: sub.AmountMinor, Currency: sub.Currency, BillingType: TrialRecurring, Frequency: sub.Frequency,
		TrialUnit: TrialDay, TrialPeriod: daysUntil(sub.NextBillingDate, now),
	}
	s.CreatedAt, s.UpdatedAt = now, now
	return s, nil
}

// CheckLive refuses a subscription that has ended.
func (s Subscription) CheckLive() error {
	if s.Status == SubscriptionCancelled {
		return errEnded
	}
	return nil
}

// daysUntil counts whole days, at least one.
func daysUntil(day Date, now time.Time) int {
	if day.IsZero() {
		return 1
	}
	const hours = 24
	return min(max(1, int(day.Start().Sub(DateOf(now).Start()).Hours()/hours)), MaxTrialPeriod)
}

// renewsMandate tells a transaction by which a subscription gets another mandate from
// the one that it began with.
func (c *Change) renewsMandate() bool {
	return c.Subscription != nil && c.Transaction.Type == Mandate && c.Transaction.SessionID != nil &&
		*c.Transaction.SessionID != c.Subscription.SessionID
}

// renewMandate has a subscription billed by the mandate that its payer has given now:
// the next collection is the first under it. What is owed is tried at once. A
// collection that is under way goes on under the old one.
func (c *Change) renewMandate(now time.Time) {
	sub := c.Subscription
	if sub.Status == SubscriptionCancelled {
		return
	}
	sub.MandateReference, sub.MandateSessionID = c.Transaction.MandateReference, c.Transaction.SessionID
	sub.SequenceType, sub.MandateUsedAt = SequenceFirst, now
	if sub.Status == SubscriptionPastDue && sub.OpenTransactionID == nil {
		sub.tryOn(DateOf(now))
	}
	sub.steered(now)
}

// isBeforeItsMandate tells a mandate that the payer has given before the present one: its gateway took it in, or asked
// the payer's bank, and confirms it later. A person has one session at a time, and their ids grow (idAfter).
func (c *Change) isBeforeItsMandate() bool {
	present := c.Subscription.MandateSessionID
	return present != nil && bytes.Compare(c.Transaction.SessionID[:], present[:]) < 0
}

// isUnderItsMandate tells that a collection was made under the mandate that its
// subscription has now.
func (c *Change) isUnderItsMandate() bool {
	return c.Transaction.MandateReference == c.Subscription.MandateReference
}

// wasUnderAnotherMandate tells that the payer has given another account since.
func (c *Change) wasUnderAnotherMandate() bool {
	return c.Subscription != nil && c.Subscription.MandateSessionID != nil && c.Transaction.MandateReference != "" && !c.isUnderItsMandate()
}

// firstUnderNewMandate has a first payment tried at once from the account that the payer has given while it was under way at
// the old one. Where it was nothing, as in a free trial, nothing is owed.
func (c *Change) firstUnderNewMandate(now time.Time) error {
	c.release()
	sub := c.Subscription
	sub.UpdatedAt = now
	if c.Transaction.AmountMinor == 0 {
		return nil
	}
	sub.FailedCount++
	sub.keepPlace(sub.Period, now)
	sub.Period, sub.Tries = sub.periodOf(c.Transaction), 1
	return sub.tryUnderNewMandate(now)
}

// tryUnderNewMandate has a period tried at once under the mandate that the payer has given while a
// try under the old one was under way: that one's refusal says nothing of the new account.
func (s *Subscription) tryUnderNewMandate(now time.Time) (err error) {
	if s.Status == SubscriptionCancelled {
		return nil
	}
	if s.Status, err = follow(SubscriptionRules, s.Status, RebillRefused); err != nil {
		return err
	}
	s.UpdatedAt = now
	s.tryOn(DateOf(now))
	return nil
}
