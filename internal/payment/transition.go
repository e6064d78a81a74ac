package payment

import "fmt"

// Rule is one line of a state table: in a state, a trigger leads to another.
// Note says what a reader of the picture should know.
type Rule[S ~string] struct {
	From    S
	Trigger Trigger
	To      S
	Note    string
}

// Trigger is what makes something change its state.
type Trigger string

const (
	Submitted          Trigger = "submitted"
	Accepted           Trigger = "accepted"            // taken in, settles later
	Approved           Trigger = "approved"            // collected
	VerificationNeeded Trigger = "verification needed" // the payer must confirm the mandate
	Refused            Trigger = "refused"             // with attempts left
	RefusedForGood     Trigger = "refused for good"    // with none left
	Cancelled          Trigger = "cancelled"
	TimedOut           Trigger = "timed out"
	FullyRefunded      Trigger = "fully refunded"
	ChargedBack        Trigger = "charged back"
	RebillRefused      Trigger = "rebill refused"
	RebillCollected    Trigger = "rebill collected"
	MandateLapsed      Trigger = "mandate lapsed" // not used for 36 months
)

// Triggers lists every trigger, so that a test can try each in each state.
var Triggers = []Trigger{
	Submitted, Accepted, Approved, VerificationNeeded, Refused, RefusedForGood, Cancelled,
	TimedOut, FullyRefunded, ChargedBack, RebillRefused, RebillCollected, MandateLapsed,
}

// SessionRules is the life of a session.
var SessionRules = []Rule[SessionStatus]{
	{SessionPending, Submitted, SessionPending, "an open attempt marks the payment in flight"},
	{SessionPending, Approved, SessionCompleted, ""},
	{SessionPending, Accepted, SessionCompleted, "a batch gateway took it in"},
	{SessionPending, VerificationNeeded, SessionAwaiting, ""},
	{SessionPending, Refused, SessionPending, "attempts left"},
	{SessionPending, RefusedForGood, SessionFailed, "no attempt left"},
	{SessionPending, Cancelled, SessionExpired, "only without an open attempt"},
	{SessionPending, TimedOut, SessionExpired, "only without an open attempt"},
	{SessionAwaiting, Approved, SessionCompleted, "verified"},
	{SessionAwaiting, Accepted, SessionCompleted, "verified"},
	{SessionAwaiting, Refused, SessionPending, "rejected, attempts left"},
	{SessionAwaiting, RefusedForGood, SessionFailed, "rejected, no attempt left"},
	{SessionAwaiting, TimedOut, SessionExpired, "after the gateway said that it has not collected"},
}

// OrderRules is the life of an order.
var OrderRules = []Rule[OrderStatus]{
	{OrderSubmitting, Approved, OrderCompleted, ""},
	{OrderSubmitting, Accepted, OrderPending, ""},
	{OrderSubmitting, VerificationNeeded, OrderPending, ""},
	{OrderSubmitting, Refused, OrderFailed, ""},
	{OrderSubmitting, RefusedForGood, OrderFailed, ""},
	{OrderPending, Approved, OrderCompleted, "verified or settled"},
	{OrderPending, Accepted, OrderPending, "verified, settles later"},
	{OrderPending, Refused, OrderFailed, ""},
	{OrderPending, RefusedForGood, OrderFailed, ""},
	{OrderPending, TimedOut, OrderFailed, ""},
	{OrderFailed, Submitted, OrderSubmitting, "the next attempt"},
	{OrderFailed, ChargedBack, OrderChargedBack, "a rebill's, where another account paid in place of the one that had refused"},
	{OrderCompleted, FullyRefunded, OrderRefunded, ""},
	{OrderCompleted, ChargedBack, OrderChargedBack, ""},
	{OrderRefunded, ChargedBack, OrderChargedBack, "banks do that"},
}

// TransactionRules is the life of a transaction.
var TransactionRules = []Rule[TransactionStatus]{
	{TransactionPending, Approved, TransactionApproved, ""},
	{TransactionPending, Accepted, TransactionPending, "settles later"},
	{TransactionPending, VerificationNeeded, TransactionPending, ""},
	{TransactionPending, Refused, TransactionDeclined, ""},
	{TransactionPending, RefusedForGood, TransactionDeclined, ""},
	{TransactionPending, TimedOut, TransactionDeclined, "never verified"},
	{TransactionApproved, FullyRefunded, TransactionRefunded, ""},
	{TransactionApproved, ChargedBack, TransactionChargedBack, ""},
	{TransactionRefunded, ChargedBack, TransactionChargedBack, "banks do that"},
}

// SubscriptionRules is the life of a subscription.
var SubscriptionRules = []Rule[SubscriptionStatus]{
	{SubscriptionActive, RebillRefused, SubscriptionPastDue, "retries under way"},
	{SubscriptionActive, RebillCollected, SubscriptionActive, ""},
	{SubscriptionActive, RefusedForGood, SubscriptionCancelled, "the first payment was refused after all, or a rebill for good"},
	{SubscriptionActive, Cancelled, SubscriptionCancelled, ""},
	{SubscriptionActive, ChargedBack, SubscriptionCancelled, ""},
	{SubscriptionActive, MandateLapsed, SubscriptionCancelled, "unused for 36 months"},
	{SubscriptionPastDue, RebillRefused, SubscriptionPastDue, ""},
	{SubscriptionPastDue, RebillCollected, SubscriptionActive, ""},
	{SubscriptionPastDue, RefusedForGood, SubscriptionCancelled, "retries used up, or refused for good"},
	{SubscriptionPastDue, Cancelled, SubscriptionCancelled, ""},
	{SubscriptionPastDue, ChargedBack, SubscriptionCancelled, ""},
	{SubscriptionPastDue, MandateLapsed, SubscriptionCancelled, "unused for 36 months"},
}

// follow looks a change up; one that no table allows is a defect or a race that
// the store refuses, never a silent change.
func follow[S ~string](rules []Rule[S], from S, trigger Trigger) (S, error) {
	for _, rule := range rules {
		if rule.From == from && rule.Trigger == trigger {
			return rule.To, nil
		}
	}
	return from, fmt.Errorf("payment: %q does not lead anywhere from %s", trigger, from)
}
