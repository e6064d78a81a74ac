package payment

import (
	"fmt"
	"time"
)

// ResultStatus is what pay and verify answer with (contract 2.9).
type ResultStatus string

const (
	ResultCompleted ResultStatus = "completed"
	ResultAwaiting  ResultStatus = "awaiting_verification"
	ResultDeclined  ResultStatus = "declined"
	ResultFailed    ResultStatus = "failed"
)

// settlementWait is how long a pending payment is left alone when its gateway
// does not say when it settles.
const settlementWait = 24 * time.Hour

// Settlement is what an outcome makes of a purchase: the new states and what to
// tell. Result is "" when the gateway has not decided anything yet.
type Settlement struct {
	Purchase
	Result ResultStatus
	Events []Event
}

// Settle applies a gateway's outcome to a purchase whose attempt is open.
func Settle(p Purchase, o Outcome, now time.Time) (Settlement, error) {
	if p.Transaction.Attempt.Phase == PhaseNone {
		return Settlement{}, fmt.Errorf("payment: transaction %s has no open attempt", p.Transaction.ID)
	}
	s := Settlement{Purchase: p}
	phase := s.close(o, now)
	switch o.Verdict {
	case VerdictApproved:
		return s, s.collect(Approved, now)
	case VerdictPending:
		s.Transaction.SettleDueAt = settleDue(o, now)
		return s, s.collect(Accepted, now)
	case VerdictVerify:
		return s, s.await(phase, o)
	case VerdictUnsent:
		if phase != PhaseSubmit {
			return s, nil // nothing was asked, so nothing has changed
		}
		s.Session.AttemptsUsed--
	case VerdictDeclined, VerdictLost:
	default:
		return s, fmt.Errorf("payment: unknown verdict %q", o.Verdict)
	}
	return s, s.refuse(phase, o, now)
}

// ResultOf is the answer that a purchase as it now stands gives to whoever asks
// again, because somebody else settled it.
func ResultOf(p Purchase, now time.Time) (ResultStatus, error) {
	switch {
	case p.Transaction.Attempt.Phase != PhaseNone:
		return "", &Error{Kind: OutcomeUnknown, Detail: "The outcome is not known yet."}
	case p.Transaction.Status == TransactionDeclined && p.Session.CheckPayable(now) == nil:
		return ResultDeclined, nil
	case p.Transaction.Status == TransactionDeclined:
		return ResultFailed, nil
	case p.Session.Status == SessionAwaiting:
		return ResultAwaiting, nil
	default:
		return ResultCompleted, nil
	}
}

// close ends the open attempt and gives the phase it was in.
func (s *Settlement) close(o Outcome, now time.Time) Phase {
	phase := s.Transaction.Attempt.Phase
	s.Transaction.Attempt = Attempt{Number: s.Transaction.Attempt.Number}
	if o.GatewayReference != "" {
		s.Transaction.GatewayReference = o.GatewayReference
	}
	s.Transaction.UpdatedAt = now
	s.Session.OpenTransactionID, s.Session.UpdatedAt = nil, now
	s.Order.UpdatedAt = now
	return phase
}

// collect completes the session; a recurring purchase becomes a subscription.
func (s *Settlement) collect(trigger Trigger, now time.Time) error {
	if err := s.move(trigger); err != nil {
		return err
	}
	s.Result = ResultCompleted
	s.Transaction.ProcessedAt = now
	if s.Session.Terms.StartsSubscription() {
		sub := Subscribe(s.Session, s.Transaction, now)
		s.Subscription, s.Transaction.SubscriptionID = &sub, &sub.ID
	}
	s.Events = []Event{
		newEvent(EventTransactionCreated, s.Transaction.ID.String()),
		newEvent(EventSessionCompleted, s.Session.ID.String()),
	}
	return nil
}

// await sends the payer to verify the mandate, keeps a session waiting whose
// payer has not decided, or ends one whose time ran out undecided.
func (s *Settlement) await(phase Phase, o Outcome) error {
	switch phase {
	case PhaseVerify:
		return nil
	case PhaseExpire:
		return s.expireUnverified(Decline{Code: MandateRejected, Message: "The mandate was not verified in time."})
	}
	s.Result = ResultAwaiting
	s.Transaction.VerificationURL, s.Transaction.VerificationReference = o.VerificationURL, o.VerificationReference
	return s.move(VerificationNeeded)
}

// refuse records why nothing was collected, and whether another try is allowed.
func (s *Settlement) refuse(phase Phase, o Outcome, now time.Time) error {
	s.Transaction.ProcessedAt = now
	if phase == PhaseExpire {
		return s.expireUnverified(*o.decline())
	}
	s.Transaction.Decline = o.decline()
	trigger := Refused
	if o.Verdict == VerdictDeclined && o.Final || s.Session.AttemptsRemaining() == 0 {
		trigger = RefusedForGood
	}
	s.Result = ResultDeclined
	// "declined" promises another try, and there is none once the time is over.
	if phase == PhaseVerify || trigger == RefusedForGood || s.Session.overdue(now) {
		s.Result = ResultFailed
	}
	return s.move(trigger)
}

// expireUnverified ends a session that nobody verified in time.
func (s *Settlement) expireUnverified(why Decline) error {
	s.Transaction.Decline = &why
	s.Transaction.ProcessedAt = s.Transaction.UpdatedAt
	return s.move(TimedOut)
}

// move takes session, order and transaction through their tables together.
func (s *Settlement) move(trigger Trigger) (err error) {
	if s.Session.Status, err = follow(SessionRules, s.Session.Status, trigger); err != nil {
		return err
	}
	if s.Order.Status, err = follow(OrderRules, s.Order.Status, trigger); err != nil {
		return err
	}
	s.Session.HoldsLead = s.Session.HoldsLead && s.Session.checkLive(s.Session.UpdatedAt) == nil
	s.Transaction.Status, err = follow(TransactionRules, s.Transaction.Status, trigger)
	return err
}

// settleDue is when a gateway is asked again about what it took in as pending. A
// date that has passed is as good as none: asked at once, it would say the same.
func settleDue(o Outcome, now time.Time) time.Time {
	if !o.SettlesAt.After(now) {
		return now.Add(settlementWait)
	}
	return o.SettlesAt
}
