package gatewaytest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// testRefund gives a payment back, twice with the same words: it must go once.
func (s Suite) testRefund(t *testing.T) {
	b := s.open(t, 0)
	charge := NewCharge(t, s.Refunded)
	paid := b.submit(t, charge)
	refund := gateway.Refund{
		MerchantTransactionID: payment.NewMerchantTransactionID(At), PaymentID: charge.MerchantTransactionID,
		PaymentReference: paid.GatewayReference, AmountMinor: charge.AmountMinor, Currency: charge.Currency, At: At,
	}
	first, again := b.refund(t, refund), b.refund(t, refund)
	wantVerdict(t, first, payment.VerdictApproved)
	if first.GatewayReference == "" || first.GatewayReference == paid.GatewayReference || again.GatewayReference != first.GatewayReference {
		t.Errorf("the refund is named %q and %q, the payment %q", first.GatewayReference, again.GatewayReference, paid.GatewayReference)
	}
	asked := b.status(t, gateway.Lookup{MerchantTransactionID: refund.MerchantTransactionID, At: At.Add(lookupDelay)})
	wantVerdict(t, asked, payment.VerdictApproved)
	b.wantDebits(t, charge, 1)

	refund.MerchantTransactionID, refund.PaymentID, refund.PaymentReference = payment.NewMerchantTransactionID(At), "TXN-NONE", "NONE"
	wantVerdict(t, b.refund(t, refund), payment.VerdictDeclined)
}

func (b bench) refund(t *testing.T, r gateway.Refund) payment.Outcome {
	t.Helper()
	outcome, err := b.client.Refund(context.Background(), r)
	if err != nil {
		t.Fatalf("refunding: %v", err)
	}
	return outcome
}

// testNotification takes a genuine notification, and refuses what was altered.
func (s Suite) testNotification(t *testing.T) {
	b := s.open(t, 0)
	charge := NewCharge(t, s.Pending.Approved)
	b.submit(t, charge)
	genuine := s.Notify(t, b.Gateway, charge.MerchantTransactionID)
	notices, err := b.client.Receive(context.Background(), genuine)
	if err != nil || len(notices) != 1 {
		t.Fatalf("a genuine notification gave %d notices, error %v", len(notices), err)
	}
	got := notices[0]
	if got.Transaction.MerchantTransactionID != charge.MerchantTransactionID || got.Outcome.Verdict != payment.VerdictApproved {
		t.Errorf("it says that %s is %q", got.Transaction.MerchantTransactionID, got.Outcome.Verdict)
	}
	altered := genuine
	altered.Body = []byte(strings.Replace(string(genuine.Body), charge.MerchantTransactionID, "TXN-20260302-AAAAAAAA", 1))
	unsigned := gateway.Notification{Body: genuine.Body}
	for _, forged := range []gateway.Notification{altered, unsigned, {}} {
		if _, err := b.client.Receive(context.Background(), forged); !errors.Is(err, gateway.ErrForged) {
			t.Errorf("a forged notification gave %v", err)
		}
	}
}
