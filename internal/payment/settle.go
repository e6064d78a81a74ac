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

const (
	// settlementWait is how long a pending payment is left alone when its gateway
	// does not say when it settles.
	settlementWait = 24 * time.Hour
	// longestSettlement is how long it is, whatever the gateway says: one that
	// mistakes the year would never be asked.
	longestSettlement = 31 * 24 * time.Hour
)

// settleAttempt is for a payment of a session: an answer to a question closes it.
func (c *Change) settleAttempt(question Phase, o Outcome, now time.Time) error {
	c.Session.OpenTransactionID, c.Session.UpdatedAt = nil, now
	switch o.Verdict {
	case VerdictApproved:
		return c.complete(Approved, now)
	case VerdictPending:
		c.Transaction.SettleDueAt = settleDue(o, now)
		return c.complete(Accepted, now)
	case VerdictVerify:
		return c.await(question, o, now)
	case VerdictUnsent:
		if question != PhaseSubmit {
			return nil // nothing was asked, so nothing has changed
		}
		c.Session.AttemptsUsed--
	case VerdictDeclined, VerdictLost:
	default:
		return fmt.Errorf("payment: unknown verdict %q", o.Verdict)
	}
	return c.refuse(question, o, now)
}

// ResultAt is the answer that a payment as it now stands gives to whoever asks
// again, because somebody else settled it.
func (d Debit) ResultAt(now time.Time) (ResultStatus, error) {
	switch {
	case d.Transaction.InFlight():
		return "", &Error{Kind: OutcomeUnknown, Detail: "The outcome is not known yet."}
	case d.Transaction.Status == TransactionDeclined && d.Session.CheckPayable(now) == nil:
		return ResultDeclined, nil
	case d.Transaction.Status == TransactionDeclined:
		return ResultFailed, nil
	case d.Session.Status == SessionAwaiting:
		return ResultAwaiting, nil
	default:
		return ResultCompleted, nil
	}
}

// complete ends the session well; a recurring purchase becomes a subscription.
func (c *Change) complete(trigger Trigger, now time.Time) error {
	if err := c.moveSession(trigger, now); err != nil {
		return err
	}
	c.Result = ResultCompleted
	switch {
	case c.renewsMandate():
		if trigger == Approved && !c.isBeforeItsMandate() {
			c.renewMandate(now)
		}
	case c.Session.Terms.StartsSubscription():
		sub := Subscribe(*c.Session, c.Transaction, now)
		c.Subscription, c.Transaction.SubscriptionID = &sub, &sub.ID
	}
	c.Events = []Event{transactionCreated(c.Transaction), newEvent(EventSessionCompleted, c.Session.ID.String())}
	return nil
}

// await sends the payer to verify the mandate, keeps a session waiting whose
// payer has not decided, or ends one whose time ran out undecided.
func (c *Change) await(question Phase, o Outcome, now time.Time) error {
	switch question {
	case PhaseVerify:
		return nil
	case PhaseExpire:
		return c.expireUnverified(Decline{Code: MandateRejected, Message: "The mandate was not verified in time."}, now)
	}
	c.Result = ResultAwaiting
	c.Transaction.VerificationURL, c.Transaction.VerificationReference = o.VerificationURL, o.VerificationReference
	return c.moveSession(VerificationNeeded, now)
}

// refuse records why nothing was collected, and whether another try is allowed.
func (c *Change) refuse(question Phase, o Outcome, now time.Time) error {
	if question == PhaseExpire {
		return c.expireUnverified(*o.decline(), now)
	}
	c.Transaction.Decline = o.decline()
	trigger := Refused
	if o.Verdict == VerdictDeclined && o.Final || c.Session.AttemptsRemaining() == 0 {
		trigger = RefusedForGood
	}
	c.Result = ResultDeclined
	// "declined" promises another try, and there is none once the time is over.
	if question == PhaseVerify || trigger == RefusedForGood || c.Session.overdue(now) {
		c.Result = ResultFailed
	}
	return c.moveSession(trigger, now)
}

// expireUnverified ends a session that nobody verified in time.
func (c *Change) expireUnverified(why Decline, now time.Time) error {
	c.Transaction.Decline, c.Transaction.ProcessedAt = &why, now
	return c.moveSession(TimedOut, now)
}

// moveSession takes session, order and transaction through their tables together.
func (c *Change) moveSession(trigger Trigger, now time.Time) (err error) {
	if c.Session.Status, err = follow(SessionRules, c.Session.Status, trigger); err != nil {
		return err
	}
	if c.Order.Status, err = follow(OrderRules, c.Order.Status, trigger); err != nil {
		return err
	}
	c.Order.UpdatedAt = now
	c.Session.HoldsLead = c.Session.HoldsLead && c.Session.checkLive(now) == nil
	c.Transaction.Status, err = follow(TransactionRules, c.Transaction.Status, trigger)
	return err
}

// settleDue is when a gateway is asked again about what it took in as pending. A
// date that has passed is as good as none: asked at once, it would say the same.
func settleDue(o Outcome, now time.Time) time.Time {
	if !o.SettlesAt.After(now) {
		return now.Add(settlementWait)
	}
	if latest := now.Add(longestSettlement); o.SettlesAt.After(latest) {
		return latest
	}
	return o.SettlesAt
}
