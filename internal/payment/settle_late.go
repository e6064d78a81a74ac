package payment

import (
	"fmt"
	"time"
)

// SettleLate applies what a gateway says of a transaction that it had taken in
// as pending: settled after all, or refused. A verdict that decides nothing
// leaves the transaction as it is and asks again a day later.
func SettleLate(p Purchase, o Outcome, now time.Time) (Settlement, error) {
	// While the payer has not verified the mandate the transaction is pending
	// too, but then the session's own answer is due, and Settle takes it.
	if p.Transaction.Status != TransactionPending || p.Transaction.Attempt.Phase != PhaseNone || p.Session.Status == SessionAwaiting {
		return Settlement{}, fmt.Errorf("payment: transaction %s is not waiting to be settled", p.Transaction.ID)
	}
	s := Settlement{Purchase: p}
	s.Transaction.UpdatedAt = now
	switch o.Verdict {
	case VerdictApproved:
		return s, s.settled(Approved, now)
	case VerdictDeclined, VerdictLost:
		s.Transaction.Decline = o.decline()
		return s, s.settled(RefusedForGood, now)
	default:
		s.Transaction.SettleDueAt = settleDue(o, now)
		return s, nil
	}
}

// settled moves the transaction and all that hangs on it.
func (s *Settlement) settled(trigger Trigger, now time.Time) (err error) {
	previous := s.Transaction.Status
	s.Transaction.SettleDueAt = time.Time{}
	if s.Transaction.Status, err = follow(TransactionRules, previous, trigger); err != nil {
		return err
	}
	if s.Order.Status, err = follow(OrderRules, s.Order.Status, trigger); err != nil {
		return err
	}
	s.Order.UpdatedAt = now
	s.Events = []Event{statusChanged(s.Transaction, previous)}
	return s.settleSubscription(trigger, now)
}

// settleSubscription books the first payment, or ends a subscription whose
// first payment was refused after all.
func (s *Settlement) settleSubscription(trigger Trigger, now time.Time) error {
	if s.Subscription == nil {
		return nil
	}
	sub := *s.Subscription
	s.Subscription = &sub
	sub.UpdatedAt = now
	sub.release(s.Transaction.ID)
	if trigger == Approved {
		sub.RevenueMinor += s.Transaction.AmountMinor
	} else if sub.Status != SubscriptionCancelled {
		return sub.end(trigger, now)
	}
	return nil
}
