package payment

import "time"

// Plan is who will collect a payment that was taken in, and when: what a payer is
// told beforehand. Without a date there is none.
type Plan struct {
	DueDate            Date
	CreditorName       string
	CreditorIdentifier string
}

// OwedFrom is the day before which a collection must not be due: the billing date
// of a rebill that waits for its gateway's first answer, none for all else.
func (d Debit) OwedFrom() Date {
	if d.Transaction.Type != Rebill || d.Subscription == nil || !d.Transaction.ProcessedAt.IsZero() {
		return Date{}
	}
	return d.Subscription.NextBillingDate
}

// announce notes when a payment that was taken in will be collected, and has it
// told. A day that was told stands.
func (c *Change) announce(o Outcome) {
	if o.Verdict != VerdictPending || c.Refund != nil || c.Transaction.AmountMinor == 0 || !c.Transaction.DueDate.IsZero() {
		return
	}
	c.tell(o.Plan)
}

func (c *Change) tell(plan Plan) {
	if plan.DueDate.IsZero() {
		return
	}
	c.Plan, c.Transaction.DueDate = plan, plan.DueDate
	c.Events = append(c.Events, collectionAnnounced(c.Transaction))
}

// Move announces a collection for another day, because the one that was told could
// not be kept.
func (d Debit) Move(plan Plan, now time.Time) Change {
	c := changeOf(d)
	c.Transaction.UpdatedAt = now
	c.tell(plan)
	return c
}

// Withdraw takes a rebill back that was announced and that no bank has seen, because
// its subscription is not billed any more. The payer was told of a collection that
// does not come, which harms nobody; a merchant who was told of the rebill is told
// that it is declined.
func (d Debit) Withdraw(now time.Time) (Change, error) {
	t, sub := d.Transaction, d.Subscription
	if t.Type != Rebill || t.IsDecided() || t.InFlight() || t.GatewayReference != "" || t.DueDate.IsZero() || sub == nil || sub.IsBilled() {
		return Change{}, Conflicting("The collection cannot be withdrawn.")
	}
	c := changeOf(d)
	c.Transaction.SettleDueAt = time.Time{}
	c.Transaction.Decline = &Decline{Code: DeclineUnknown, Message: "It was withdrawn before it was collected: the subscription is not billed any more."}
	if err := c.move(Refused, now); err != nil {
		return Change{}, err
	}
	c.Subscription.UpdatedAt = now
	if c.isUnderItsMandate() {
		c.Subscription.SequenceType = t.SequenceType
	}
	if c.Subscription.release(t.ID) {
		c.Subscription.giveBack(t, now)
	}
	return c, nil
}
