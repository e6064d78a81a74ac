// Package gatewaytest is the conformance suite for adapters: what every gateway
// must do the same, whatever is behind it. An adapter's test opens a gateway
// (the sandbox in memory, a test server that answers by IBAN, a provider's own
// test environment), names an account for every situation and calls Run.
//
// A situation that a gateway cannot show is declared in Lacks with the reason,
// which the skipped test prints. One that is neither named nor declared fails:
// nothing is left out silently.
package gatewaytest

import (
	"testing"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// Part is a situation that not every gateway can show.
type Part string

const (
	PartVerification Part = "verification of the mandate"
	PartPending      Part = "payments that settle later"
	PartStatus       Part = "asking what became of a payment"
	PartUnreachable  Part = "a gateway that cannot be reached"
	PartHanging      Part = "a gateway that does not answer"
	PartMalformed    Part = "a gateway that answers nonsense"
	PartRefund       Part = "giving a payment back"
	PartNotification Part = "notifications"
)

// Suite says how an adapter is put through its paces. Accounts are IBANs.
type Suite struct {
	// Open gives a gateway that nobody has paid through yet.
	Open func(t *testing.T) Gateway
	// Approved is an account whose payments are collected at once.
	Approved string
	// Waiting is an account whose payments wait for a file, at a batch gateway; such
	// a gateway answers nothing at once, and names neither Approved nor Declines.
	Waiting string
	// Declines are accounts whose payments are refused at once.
	Declines     []Decline
	Verification Verification
	Pending      Pending
	Status       Status
	// Unreachable is an account whose payments are never sent. A gateway that
	// cannot be cut off for one account is opened by OpenUnreachable instead, as
	// one that is cut off for all.
	Unreachable     string
	OpenUnreachable func(t *testing.T) Gateway
	// Hanging is an account whose payments get no answer for a long time.
	Hanging string
	// Malformed is an account whose payments get an answer that makes no sense.
	Malformed string
	// Refunded is an account whose payments can be given back at once.
	Refunded string
	// Notify makes a genuine notification of a payment from the account in
	// Pending.Approved, which has been settled.
	Notify func(t *testing.T, g Gateway, merchantTransactionID string) gateway.Notification
	// Lacks declares what the gateway cannot show, and why.
	Lacks map[Part]string
}

// Gateway is a gateway to test.
type Gateway struct {
	Kind    gateway.Kind
	Account gateway.Account
	// Debits counts, at the gateway itself, how often a payment was collected.
	Debits func(t *testing.T, merchantTransactionID string) int
	// Settle makes the time of pending payments come at a gateway that has a
	// clock of its own; nil where it follows the At of questions.
	Settle func()
}

// Decline is an account that is refused, and the refusal that must come out.
type Decline struct {
	IBAN        string
	Code        payment.DeclineCode
	GatewayCode string
	Final       bool
}

// Verification names accounts whose mandate must be verified.
type Verification struct {
	// Approved and Rejected are decided by the time Verify is called.
	Approved string
	Rejected string
	// Undecided is left undecided.
	Undecided string
}

// Pending names accounts whose payments are taken in and decided later.
type Pending struct {
	Approved string
	Declined string
}

// Status names accounts whose payments get no answer.
type Status struct {
	// Approved has been collected all the same.
	Approved string
	// Lost never arrived.
	Lost string
}

// Run puts the adapter through everything.
func Run(t *testing.T, s Suite) {
	if s.Waiting != "" {
		t.Run("a payment waits for a file", s.testWaiting)
	} else {
		t.Run("a payment is approved", s.testApproved)
		t.Run("a payment is declined", s.testDeclined)
		t.Run("a payment submitted twice is collected once", s.testSubmittedTwice)
	}
	t.Run("nothing personal is logged or told in an error", s.testNothingPersonal)
	s.part(t, PartVerification, s.Verification != Verification{}, s.testVerification)
	s.part(t, PartPending, s.Pending != Pending{}, s.testPending)
	s.part(t, PartStatus, s.Status != Status{}, s.testStatus)
	s.part(t, PartUnreachable, s.Unreachable != "" || s.OpenUnreachable != nil, s.testUnreachable)
	s.part(t, PartHanging, s.Hanging != "", s.testHanging)
	s.part(t, PartMalformed, s.Malformed != "", s.testMalformed)
	s.part(t, PartRefund, s.Refunded != "", s.testRefund)
	s.part(t, PartNotification, s.Notify != nil, s.testNotification)
}

// part runs a part that is named, and insists on a reason for one that is not.
func (s Suite) part(t *testing.T, part Part, named bool, test func(*testing.T)) {
	reason, lacking := s.Lacks[part]
	t.Run(string(part), func(t *testing.T) {
		t.Parallel()
		switch {
		case named && lacking:
			t.Errorf("named in the suite, but declared lacking: %s", reason)
		case lacking && reason != "":
			t.Skipf("declared lacking: %s", reason)
		case !named:
			t.Error("neither named in the suite nor declared lacking with a reason")
		default:
			test(t)
		}
	})
}
