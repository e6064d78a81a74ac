package gatewaytest

import (
	"context"
	"errors"
	"testing"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

const (
	lookupDelay = 5 * time.Minute
	// settled is long enough for every batch.
	settled = 30 * 24 * time.Hour
)

func (s Suite) testVerification(t *testing.T) {
	t.Run("a confirmed mandate is collected", func(t *testing.T) { s.testVerified(t, s.Verification.Approved) })
	t.Run("a rejected mandate is declined", func(t *testing.T) { s.testRejected(t, s.Verification.Rejected) })
	t.Run("an undecided mandate stays undecided", func(t *testing.T) { s.testUndecided(t, s.Verification.Undecided) })
	t.Run("an abandoned mandate is not collected", func(t *testing.T) { s.testAbandoned(t, s.Verification.Approved) })
	t.Run("a wrong reference decides nothing", func(t *testing.T) { s.testWrongReference(t, s.Verification.Approved) })
}

// submitForVerification pays and expects that the payer must confirm.
func (b bench) submitForVerification(t *testing.T, iban string) (gateway.Charge, payment.Outcome) {
	t.Helper()
	charge := NewCharge(t, iban)
	outcome := b.submit(t, charge)
	wantVerdict(t, outcome, payment.VerdictVerify)
	b.wantDebits(t, charge, 0)
	return charge, outcome
}

func (s Suite) testVerified(t *testing.T, iban string) {
	t.Parallel()
	b := s.open(t, 0)
	charge, asked := b.submitForVerification(t, iban)
	wantVerdict(t, b.verify(t, charge, asked.VerificationReference), payment.VerdictApproved)
	wantVerdict(t, b.verify(t, charge, asked.VerificationReference), payment.VerdictApproved)
	b.wantDebits(t, charge, 1)
}

func (s Suite) testRejected(t *testing.T, iban string) {
	t.Parallel()
	b := s.open(t, 0)
	charge, asked := b.submitForVerification(t, iban)
	outcome := b.verify(t, charge, asked.VerificationReference)
	wantVerdict(t, outcome, payment.VerdictDeclined)
	if outcome.Decline.Code != payment.MandateRejected {
		t.Errorf("declined %q, want %q", outcome.Decline.Code, payment.MandateRejected)
	}
	b.wantDebits(t, charge, 0)
}

func (s Suite) testUndecided(t *testing.T, iban string) {
	t.Parallel()
	b := s.open(t, 0)
	charge, asked := b.submitForVerification(t, iban)
	wantVerdict(t, b.verify(t, charge, asked.VerificationReference), payment.VerdictVerify)
	if b.client.CanReadStatus() {
		// A process that was killed learns the address from the status.
		outcome := b.status(t, lookup(charge))
		wantVerdict(t, outcome, payment.VerdictVerify)
		if outcome.VerificationURL != asked.VerificationURL || outcome.VerificationReference != asked.VerificationReference {
			t.Error("the status gives another verification than the payment")
		}
	}
	b.wantDebits(t, charge, 0)
}

func (s Suite) testAbandoned(t *testing.T, iban string) {
	t.Parallel()
	b := s.open(t, 0)
	if !b.client.CanReadStatus() {
		t.Skip("the adapter cannot be asked about payments, so that none can be abandoned")
	}
	charge, asked := b.submitForVerification(t, iban)
	question := lookup(charge)
	question.Abandon = true
	if outcome := b.status(t, question); outcome.Verdict == payment.VerdictApproved {
		t.Fatal("collected a payment that nobody confirmed")
	}
	if outcome := b.verify(t, charge, asked.VerificationReference); outcome.Verdict == payment.VerdictApproved {
		t.Error("collected a payment after it was abandoned")
	}
	b.wantDebits(t, charge, 0)
}

func (s Suite) testWrongReference(t *testing.T, iban string) {
	t.Parallel()
	b := s.open(t, 0)
	charge, asked := b.submitForVerification(t, iban)
	_, other := b.submitForVerification(t, iban)
	for _, reference := range []string{"no-such-reference", other.VerificationReference} {
		_, err := b.client.Verify(context.Background(), gateway.Verification{
			MerchantTransactionID: charge.MerchantTransactionID, VerificationReference: reference, At: At,
		})
		if !errors.Is(err, gateway.ErrUnknownVerification) {
			t.Errorf("verifying with a wrong reference gave error %v", err)
		}
	}
	b.wantDebits(t, charge, 0)
	wantVerdict(t, b.verify(t, charge, asked.VerificationReference), payment.VerdictApproved)
}

func (s Suite) testPending(t *testing.T) {
	b := s.open(t, 0)
	approved, declined := NewCharge(t, s.Pending.Approved), NewCharge(t, s.Pending.Declined)
	for _, charge := range []gateway.Charge{approved, declined} {
		outcome := b.submit(t, charge)
		wantVerdict(t, outcome, payment.VerdictPending)
		if !outcome.SettlesAt.IsZero() && !outcome.SettlesAt.After(At) {
			t.Errorf("a payment of %v is to settle at %v", At, outcome.SettlesAt)
		}
		wantVerdict(t, b.status(t, lookup(charge)), payment.VerdictPending)
	}
	b.wantDebits(t, approved, 0)
	if b.Settle != nil {
		b.Settle()
	}
	wantVerdict(t, b.status(t, atSettlement(approved)), payment.VerdictApproved)
	wantVerdict(t, b.status(t, atSettlement(declined)), payment.VerdictDeclined)
	b.wantDebits(t, approved, 1)
	b.wantDebits(t, declined, 0)
}

func atSettlement(charge gateway.Charge) gateway.Lookup {
	question := lookup(charge)
	question.At = At.Add(settled)
	return question
}

func (s Suite) testStatus(t *testing.T) {
	t.Run("a payment without an answer was collected", func(t *testing.T) {
		t.Parallel()
		b := s.open(t, 0)
		charge := NewCharge(t, s.Status.Approved)
		b.submitUnknown(t, charge)
		outcome := b.status(t, lookup(charge))
		wantVerdict(t, outcome, payment.VerdictApproved)
		if outcome.GatewayReference == "" {
			t.Error("the status has no reference of the gateway")
		}
		b.wantDebits(t, charge, 1)
	})
	t.Run("a payment without an answer was lost", func(t *testing.T) {
		t.Parallel()
		b := s.open(t, 0)
		charge := NewCharge(t, s.Status.Lost)
		b.submitUnknown(t, charge)
		wantVerdict(t, b.status(t, lookup(charge)), payment.VerdictLost)
		b.wantDebits(t, charge, 0)
	})
	t.Run("a payment that was never sent is lost", func(t *testing.T) {
		t.Parallel()
		b := s.open(t, 0)
		wantVerdict(t, b.status(t, lookup(NewCharge(t, s.Approved))), payment.VerdictLost)
	})
	t.Run("an answered payment keeps its answer", func(t *testing.T) {
		t.Parallel()
		b := s.open(t, 0)
		approved, declined := NewCharge(t, s.Approved), NewCharge(t, s.Declines[0].IBAN)
		answer := b.submit(t, approved)
		b.submit(t, declined)
		if status := b.status(t, lookup(approved)); status != answer {
			t.Errorf("the status is %+v, the answer was %+v", status, answer)
		}
		outcome := b.status(t, lookup(declined))
		wantVerdict(t, outcome, payment.VerdictDeclined)
		if outcome.Decline.Code != s.Declines[0].Code {
			t.Errorf("the status is declined %q, the answer was %q", outcome.Decline.Code, s.Declines[0].Code)
		}
	})
}
