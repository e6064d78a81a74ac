// Package billing collects what subscriptions owe, on their day, once.
//
//	rebill.go   what is due: claim – submit – settle, many at a time
//	prepare.go  the same ahead of time, where payers are told before their bank is
//	steer.go    what people do to a subscription: end, pause, resume, change it
//	preview.go  what is still to come of one
//
// When a period is due, how a refusal is followed up and what ends a
// subscription is decided by package payment; what became of a rebill that was
// sent is settled by package checkout, which hears of it from answers, questions
// and notifications alike. Here is what sets it going.
//
// A rebill is claimed with its subscription in one unit of work: from then on the
// subscription waits for it, and no other process finds it due. The database
// refuses a second one for the same period that is not declined. A crash leaves
// an open attempt, which is resolved by asking the gateway.
package billing

import (
	"time"

	"sepad/internal/checkout"
)

// Billing holds what the use cases share.
type Billing struct {
	Checkout *checkout.Checkout
	// Lanes and PerLane bound how many rebills a process has under way: so many
	// lanes of so many each. 0 is the usual.
	Lanes, PerLane int
	// Patience ends a claim of a database that does not answer. 0 is the usual.
	Patience time.Duration
}
