package gatewaytest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

func (s Suite) testApproved(t *testing.T) {
	t.Parallel()
	b := s.open(t, 0)
	charge := NewCharge(t, s.Approved)
	outcome := b.submit(t, charge)
	wantVerdict(t, outcome, payment.VerdictApproved)
	if outcome.GatewayReference == "" {
		t.Error("an approved payment has no reference of the gateway")
	}
	b.wantDebits(t, charge, 1)
}

func (s Suite) testDeclined(t *testing.T) {
	t.Parallel()
	if len(s.Declines) == 0 {
		t.Fatal("the suite names no account that is declined")
	}
	for _, want := range s.Declines {
		t.Run(string(want.Code)+" "+want.GatewayCode, func(t *testing.T) {
			t.Parallel()
			b := s.open(t, 0)
			charge := NewCharge(t, want.IBAN)
			outcome := b.submit(t, charge)
			wantVerdict(t, outcome, payment.VerdictDeclined)
			if d := outcome.Decline; d.Code != want.Code || d.GatewayCode != want.GatewayCode || outcome.Final != want.Final {
				t.Errorf("declined %q with gateway code %q, final %v; want %q, %q, %v",
					d.Code, d.GatewayCode, outcome.Final, want.Code, want.GatewayCode, want.Final)
			}
			b.wantDebits(t, charge, 0)
		})
	}
}

// testSubmittedTwice sends one payment several times at once and once more, as
// a process does that has forgotten what it sent before it was killed.
func (s Suite) testSubmittedTwice(t *testing.T) {
	t.Parallel()
	b := s.open(t, 0)
	charge := NewCharge(t, s.Approved)
	var references sync.Map
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			outcome, err := b.client.Submit(context.Background(), charge)
			if err != nil || outcome.Verdict != payment.VerdictApproved {
				t.Errorf("submitting at once gave %q, %v", outcome.Verdict, err)
			}
			references.Store(outcome.GatewayReference, true)
		})
	}
	senders.Wait()
	references.Store(b.submit(t, charge).GatewayReference, true)
	distinct := 0
	references.Range(func(any, any) bool { distinct++; return true })
	if distinct != 1 {
		t.Errorf("one payment has %d references of the gateway", distinct)
	}
	b.wantDebits(t, charge, 1)
}

func (s Suite) testUnreachable(t *testing.T) {
	open, iban := s.Open, s.Unreachable
	if s.OpenUnreachable != nil {
		open, iban = s.OpenUnreachable, s.Approved
	}
	b := newBench(t, open(t), 0)
	charge := NewCharge(t, iban)
	wantVerdict(t, b.submit(t, charge), payment.VerdictUnsent)
	b.wantDebits(t, charge, 0)
}

func (s Suite) testHanging(t *testing.T) {
	b := s.open(t, hangLimit)
	err := b.submitUnknown(t, NewCharge(t, s.Hanging))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call ended by itself instead of at its deadline: %v", err)
	}
}

func (s Suite) testMalformed(t *testing.T) {
	s.open(t, 0).submitUnknown(t, NewCharge(t, s.Malformed))
}

// testNothingPersonal pays through every account of the suite and searches what
// was logged and what errors say.
func (s Suite) testNothingPersonal(t *testing.T) {
	t.Parallel()
	b := s.open(t, hangLimit)
	for _, iban := range s.accounts() {
		charge := NewCharge(t, iban)
		outcome, err := b.client.Submit(context.Background(), charge)
		told := outcome.Decline.Message + outcome.Decline.GatewayMessage
		if err != nil {
			told += err.Error()
		}
		logged := b.log.String()
		if !strings.Contains(logged, charge.MerchantTransactionID) {
			t.Errorf("the log does not name the payment from ...%s", charge.Instrument.IBAN.Last4())
		}
		for _, secret := range personal(charge) {
			if strings.Contains(logged, secret) || strings.Contains(told, secret) {
				t.Errorf("%q is told: %s %s", secret, told, logged)
			}
		}
	}
}

// accounts lists every account that the suite names.
func (s Suite) accounts() []string {
	named := []string{
		s.Approved, s.Verification.Approved, s.Verification.Rejected, s.Verification.Undecided,
		s.Pending.Approved, s.Pending.Declined, s.Status.Approved, s.Status.Lost,
		s.Unreachable, s.Hanging, s.Malformed, s.Waiting,
	}
	for _, decline := range s.Declines {
		named = append(named, decline.IBAN)
	}
	var accounts []string
	for _, iban := range named {
		if iban != "" {
			accounts = append(accounts, iban)
		}
	}
	return accounts
}

// lookup asks about a payment some minutes after it was submitted.
func lookup(charge gateway.Charge) gateway.Lookup {
	return gateway.Lookup{MerchantTransactionID: charge.MerchantTransactionID, At: At.Add(lookupDelay)}
}
