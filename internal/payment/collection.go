package payment

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Collection is a transaction with all that hangs on it, for what happens after
// the payment itself: settlement, refund, chargeback. Unlike a Purchase it may
// lack a session and an order, because a processor's report can bring in a
// payment that was not made through us.
type Collection struct {
	Transaction  Transaction
	Order        *Order
	Subscription *Subscription
	// LeadCountry is where the payer lives, "" when nobody is known.
	LeadCountry string
	// WebhookProfileID is where the purchase's events go, nil for the default.
	WebhookProfileID *uuid.UUID
}

// Change is what a later event makes of a collection, and what to tell.
type Change struct {
	Collection
	// Refund and Chargeback are what was added or changed beside it, if anything.
	Refund     *Transaction
	Chargeback *Chargeback
	Events     []Event
}

// SettlePending applies what a processor reports of a payment that was pending:
// collected after all, or refused. Rebills are settled by SettleRebill.
func SettlePending(c Collection, o Outcome, now time.Time) (Change, error) {
	if c.Transaction.Status != TransactionPending || c.Transaction.Attempt.Phase != PhaseNone {
		return Change{}, fmt.Errorf("payment: transaction %s is not waiting to be settled", c.Transaction.ID)
	}
	trigger := Approved
	change := Change{Collection: c.clone()}
	switch o.Verdict {
	case VerdictApproved:
	case VerdictDeclined:
		trigger = RefusedForGood
		change.Transaction.Decline = o.decline()
	default:
		return Change{}, fmt.Errorf("payment: verdict %q does not settle anything", o.Verdict)
	}
	if change.Transaction.GatewayReference == "" {
		change.Transaction.GatewayReference = o.GatewayReference
	}
	change.Transaction.SettleDueAt = time.Time{}
	if err := change.move(trigger, now); err != nil {
		return Change{}, err
	}
	if trigger == Approved {
		change.earn(c.Transaction.AmountMinor)
		change.release()
		return change, nil
	}
	return change, change.endSubscription(RefusedForGood, now)
}

// clone keeps what is read apart from what is made of it.
func (c Collection) clone() Collection {
	if c.Order != nil {
		order := *c.Order
		c.Order = &order
	}
	if c.Subscription != nil {
		sub := *c.Subscription
		c.Subscription = &sub
	}
	return c
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
func (c *Change) earn(amount Minor) {
	if c.Subscription != nil {
		c.Subscription.RevenueMinor += amount
	}
}

// release lets billing go on that waited for this payment.
func (c *Change) release() {
	if c.Subscription != nil {
		c.Subscription.release(c.Transaction.ID)
	}
}

// endSubscription cancels a subscription that is not cancelled yet.
func (c *Change) endSubscription(trigger Trigger, now time.Time) error {
	c.release()
	if sub := c.Subscription; sub != nil && sub.Status != SubscriptionCancelled {
		return sub.end(trigger, now)
	}
	return nil
}
