package payment

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/sepa"
)

// ErrContradicts says that a report cannot be true of what we have recorded.
var ErrContradicts = Conflicting("The report contradicts what is recorded.")

// Debit is a transaction with all that an answer about it changes: one aggregate
// for a payment, a rebill, what a processor's report brought in, and for the
// refunds and chargebacks that follow.
type Debit struct {
	Transaction Transaction
	// Session is the one that was paid, nil for rebills and for payments that
	// were not made through us.
	Session      *Session
	Order        *Order
	Subscription *Subscription
	// Refund is the one that is under way, where the answer is about that.
	Refund *Transaction
	// LeadCountry is where the payer lives, "" when nobody is known.
	LeadCountry string
	// WebhookProfileID is where the purchase's events go, nil for the default.
	WebhookProfileID *uuid.UUID
}

// Change is what something that happened makes of a debit, and what to tell. The
// store writes it only where everything is still as it was before.
type Change struct {
	Debit
	Before Debit
	// Chargeback is what was added or changed beside the debit, if anything.
	Chargeback *Chargeback
	// Fee is a chargeback that is known, with more than was known of what the bank takes for it.
	Fee *Chargeback
	// Result is what pay and verify answer with, "" where nothing was decided.
	Result ResultStatus
	// PausesRebills is the reason code by which a bank blamed us: nothing more is
	// billed through the gateway until a person has mended it. "" for none.
	PausesRebills string
	// Plan is what is announced of a collection, if anything is.
	Plan   Plan
	Events []Event
}

// Policy is what an operator and a merchant have decided about subscriptions.
type Policy struct {
	Dunning Dunning
	// KeepsClaimed leaves a subscription as it is when the payer took one of its
	// payments back; otherwise it is cancelled.
	KeepsClaimed bool
}

// Settle applies a gateway's outcome, whoever brings it: the answer to a
// submission or a question, a notification, a processor's file. What the outcome
// is about follows from where the debit stands.
func (d Debit) Settle(o Outcome, policy Policy, now time.Time) (c Change, err error) {
	c = changeOf(d)
	if d.IsDeniedBy(o) {
		o = d.undecided()
	}
	if d.Refund != nil {
		return c, c.settleRefund(o, now)
	}
	if d.Transaction.IsDecided() {
		return c, fmt.Errorf("payment: transaction %s is not waiting to be settled", d.Transaction.ID)
	}
	question := d.question(now)
	c.Transaction.answer(o, now)
	if o.follows() == sepa.FollowsCreditor {
		c.PausesRebills = o.Decline.GatewayCode
	}
	switch {
	case d.Transaction.Type == Rebill && d.Subscription != nil:
		err = c.settleRebill(o, policy.Dunning, now)
	case question != PhaseNone:
		err = c.settleAttempt(question, o, now)
	default:
		err = c.settleLater(o, now)
	}
	c.announce(o)
	return c, err
}

// Asked is the transaction that its gateway is asked about: the refund that is
// under way, else the debit's own.
func (d *Debit) Asked() *Transaction {
	if d.Refund != nil {
		return d.Refund
	}
	return &d.Transaction
}

// Waits tells whether the gateway's answer is still waited for as it was earlier,
// that is, nobody else has brought it meanwhile.
func (d Debit) Waits(earlier Debit) bool {
	return !d.Asked().IsDecided() && d.Asked().Attempt.Phase == earlier.Asked().Attempt.Phase
}

// IsAnsweredBy tells whether an outcome says anything about the debit: there is
// no payer who could confirm a rebill or a refund. One who could is not kept from it
// by a gateway that denies the payment.
func (d Debit) IsAnsweredBy(o Outcome) bool {
	return (o.Verdict != VerdictVerify || d.Asked().SessionID != nil) && (!d.IsDeniedBy(o) || d.Asked().ProcessedAt.IsZero())
}

// IsDeniedBy tells that a gateway says it never got what it had taken in, or had its payer confirm. It may be asked at another
// address or account, or have put the payment away, and collect it all the same: nothing follows from
// such an answer, as the payment would be collected a second time.
func (d Debit) IsDeniedBy(o Outcome) bool {
	t := d.Asked()
	isKnown := !t.ProcessedAt.IsZero() || t.AwaitsVerification() || t.Attempt.Phase == PhaseVerify
	return o.Verdict == VerdictLost && isKnown && !t.IsDeclined()
}

// undecided is what an answer comes to from which nothing follows: what awaits its payer goes on to, until its time is over.
func (d Debit) undecided() Outcome {
	if d.Asked().ProcessedAt.IsZero() {
		return Outcome{Verdict: VerdictVerify}
	}
	return Undecided
}

// Hear holds an outcome that a processor reports unasked against what is known,
// and says whether it changes anything. What became of a payment later proves that
// it had been collected.
func (d Debit) Hear(o Outcome) (changes bool, err error) {
	t := d.Asked()
	declined := t.IsDeclined()
	switch {
	case d.IsDeniedBy(o):
		return false, ErrContradicts
	case t.IsDecided() && (o.Verdict == VerdictApproved && declined || o.Verdict == VerdictDeclined && !declined):
		return false, ErrContradicts
	case t.IsDecided():
		return false, nil
	default:
		return o.Verdict != VerdictPending || t.InFlight() || t.AwaitsVerification(), nil
	}
}

// question is what an outcome answers: the question that is open, or the one that
// would be asked now of a payment that awaits verification. Of one that was taken
// in as pending there is none: its session is completed.
func (d Debit) question(now time.Time) Phase {
	switch {
	case d.Transaction.InFlight():
		return d.Transaction.Attempt.Phase
	case d.Session == nil || !d.Transaction.AwaitsVerification():
		return PhaseNone
	case d.Session.overdue(now):
		return PhaseExpire
	default:
		return PhaseVerify
	}
}

// answer notes what every answer tells of a transaction. The gateway's reference
// is the first that it gave: that is the name under which it reports later.
func (t *Transaction) answer(o Outcome, now time.Time) {
	fill(&t.GatewayReference, o.GatewayReference)
	t.Attempt, t.SettleDueAt, t.UpdatedAt = Attempt{Number: t.Attempt.Number}, time.Time{}, now
	if t.ProcessedAt.IsZero() && o.Verdict != VerdictVerify && o.Verdict != VerdictUnsent {
		t.ProcessedAt = now // what was never sent is not processed
	}
}

// settleLater is for a payment that the gateway took in as pending: collected
// after all, or refused. A verdict that decides nothing has it asked again.
func (c *Change) settleLater(o Outcome, now time.Time) error {
	switch o.Verdict {
	case VerdictApproved:
		if err := c.move(Approved, now); err != nil {
			return err
		}
		c.earn(c.Transaction.AmountMinor, now)
		c.release()
		if c.renewsMandate() && !c.isBeforeItsMandate() {
			c.renewMandate(now)
		}
		if c.Subscription != nil && c.Transaction.AmountMinor > 0 {
			c.Subscription.LastBilledAt = now
		}
		return nil
	case VerdictDeclined, VerdictLost:
		c.Transaction.Decline = o.decline()
		if err := c.move(RefusedForGood, now); err != nil {
			return err
		}
		return c.firstRefused(o, now)
	case VerdictPending, VerdictVerify, VerdictUnsent:
		c.Transaction.SettleDueAt = settleDue(o, now)
		return nil
	default:
		return fmt.Errorf("payment: unknown verdict %q", o.Verdict)
	}
}

// firstRefused ends a subscription whose first payment was refused after all. One
// that was refused by our own mistake is collected again once that is mended, where it was
// to collect something, and one whose payer has given another account meanwhile from that.
func (c *Change) firstRefused(o Outcome, now time.Time) error {
	sub := c.Subscription
	if c.renewsMandate() {
		return nil // it goes on under the mandate that it has
	}
	isBilled := sub != nil && sub.Frequency != "" && sub.Status != SubscriptionCancelled
	switch isOurs := o.follows() == sepa.FollowsCreditor; {
	case isBilled && !isOurs && c.wasUnderAnotherMandate():
		return c.firstUnderNewMandate(now)
	case !isBilled || !isOurs:
		return c.endSubscription(RefusedForGood, CancelledByRefusal, c.Transaction.Decline.reasonCode(), now)
	}
	c.release()
	if c.Transaction.AmountMinor == 0 {
		return nil // a free trial goes on, and is billed on its day
	}
	sub.Period, sub.Tries, sub.SequenceType = sub.periodOf(c.Transaction), 0, c.Transaction.SequenceType
	sub.UpdatedAt = now
	sub.tryOn(DateOf(now))
	return nil
}

// changeOf begins a change: what is read stays apart from what is made of it.
func changeOf(d Debit) Change {
	c := Change{Debit: d, Before: d}
	c.Session, c.Order = clone(d.Session), clone(d.Order)
	c.Subscription, c.Refund = clone(d.Subscription), clone(d.Refund)
	return c
}

func clone[T any](of *T) *T {
	if of == nil {
		return nil
	}
	copied := *of
	return &copied
}

// move takes transaction and order through their tables. The order goes along
// only where its table knows a way: a second rebill that is charged back finds
// it where the first has left it.
func (c *Change) move(trigger Trigger, now time.Time) error {
	previous := c.Transaction.Status
	status, err := follow(TransactionRules, previous, trigger)
	if err != nil {
		return err
	}
	c.Transaction.Status, c.Transaction.UpdatedAt = status, now
	if c.Order != nil && c.movesOrder(trigger) {
		if status, err := follow(OrderRules, c.Order.Status, trigger); err == nil {
			c.Order.Status, c.Order.UpdatedAt = status, now
		}
	}
	if previous != status {
		c.Events = append(c.Events, statusChanged(c.Transaction, previous))
	}
	return nil
}

// movesOrder tells whether what happens to the transaction happens to the
// purchase as well. A rebill given back leaves the purchase as it is.
func (c *Change) movesOrder(trigger Trigger) bool {
	return trigger == ChargedBack || c.Transaction.Type != Rebill
}

// earn books money that came in, or went back, on the subscription.
func (c *Change) earn(amount Minor, now time.Time) {
	if c.Subscription != nil {
		c.Subscription.RevenueMinor += amount
		c.Subscription.UpdatedAt = now
	}
}

// release lets billing go on that waited for this payment.
func (c *Change) release() {
	if c.Subscription != nil {
		c.Subscription.release(c.Transaction.ID)
	}
}

// endSubscription cancels a subscription that is not cancelled yet.
func (c *Change) endSubscription(trigger Trigger, why CancelReason, code string, now time.Time) error {
	c.release()
	if sub := c.Subscription; sub != nil && sub.Status != SubscriptionCancelled {
		return sub.end(trigger, why, code, now)
	}
	return nil
}
