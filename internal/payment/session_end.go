package payment

import "time"

// Cancel ends a pending session on the merchant's word.
func Cancel(s Session, now time.Time) (Session, error) {
	if err := s.CheckCancellable(now); err != nil {
		return s, err
	}
	return s.end(Cancelled, now)
}

// Expire ends a pending session whose time has run out.
func Expire(s Session, now time.Time) (Session, error) {
	if s.StatusAt(now) != SessionExpired || s.Status != SessionPending {
		return s, Conflicting(DetailConflict)
	}
	return s.end(TimedOut, now)
}

func (s Session) end(trigger Trigger, now time.Time) (Session, error) {
	status, err := follow(SessionRules, s.Status, trigger)
	s.Status, s.HoldsLead, s.UpdatedAt = status, false, now
	return s, err
}

// Withdraw ends a pending session whose payer is to be forgotten, whether or not its
// time has run out.
func Withdraw(s Session, now time.Time) (Session, error) {
	if s.Status != SessionPending || s.InFlight() {
		return s, Conflicting(DetailConflict)
	}
	return s.end(Cancelled, now)
}
