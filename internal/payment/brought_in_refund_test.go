package payment

import (
	"strings"
	"testing"
)

// reportedRefund is a refund of a payment as a file brings it, of which we know nothing.
func reportedRefund(paid Transaction, amount Minor, n int) Transaction {
	return Transaction{
		ID: NewID(), TenantID: paid.TenantID, GatewayID: paid.GatewayID, MerchantTransactionID: RefundReference(paid, amount, n),
		Status: TransactionApproved, Type: Refund, AmountMinor: amount, Currency: paid.Currency, Source: SourceImport,
	}
}

func TestWhichPaymentARefundGivesBack(t *testing.T) {
	t.Parallel()
	paid, other := collection(t).Transaction, collection(t).Transaction
	for name, test := range map[string]struct {
		change func(*Transaction)
		want   bool
	}{
		"its own":             {func(*Transaction) {}, true},
		"a later one":         {func(r *Transaction) { r.MerchantTransactionID = RefundReference(paid, r.AmountMinor, 7) }, true},
		"a notified one":      {func(r *Transaction) { r.Source = SourceWebhook }, true},
		"another payment's":   {func(r *Transaction) { r.MerchantTransactionID = RefundReference(other, r.AmountMinor, 0) }, false},
		"of another amount":   {func(r *Transaction) { r.AmountMinor++ }, false},
		"in another currency": {func(r *Transaction) { r.Currency = "CHF" }, false},
		"another account's":   {func(r *Transaction) { r.GatewayID = NewID() }, false},
		"a payment":           {func(r *Transaction) { r.Type = Sale }, false},
		"one of ours":         {func(r *Transaction) { r.RefundOf = &paid.ID }, false},
		"one that we made":    {func(r *Transaction) { r.Source = SourceRefund }, false},
	} {
		refund := reportedRefund(paid, 1_00, 0)
		test.change(&refund)
		if got := refund.GivesBack(paid); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestRefundsOfAPaymentThatWasLostAreNamedAlike: a file brings the payment again, under its reference and with an id of its
// own, on a later day.
func TestRefundsOfAPaymentThatWasLostAreNamedAlike(t *testing.T) {
	t.Parallel()
	paid := collection(t).Transaction
	for _, reference := range []string{paid.MerchantTransactionID, "1001", "TXN-20261399-ABCDEFGH"} {
		lost := paid
		lost.MerchantTransactionID, lost.ProcessedAt = reference, noon
		again := lost
		again.ID, again.CreatedAt = NewID(), lost.CreatedAt.AddDate(0, 0, 3)
		refunds := []Transaction{reportedRefund(lost, 1_00, 2), reportedRefund(again, 1_00, 2)}
		if !refunds[0].GivesBack(again) || RefundKey(refunds[0]) != RefundKey(refunds[1]) || !strings.HasPrefix(refunds[0].MerchantTransactionID, RefundsDay(again)) {
			t.Errorf("a refund of %s is %s, and %s where the payment was brought again", reference, refunds[0].MerchantTransactionID, refunds[1].MerchantTransactionID)
		}
	}
}

func TestARecognizedRefundIsBooked(t *testing.T) {
	t.Parallel()
	paid := collection(t, withTerms(monthly))
	whole := paid.Transaction.AmountMinor
	change, refund, err := paid.RecognizeRefund(reportedRefund(paid.Transaction, 1_00, 0), noon)
	if err != nil || change.Transaction.RefundedMinor != 1_00 || change.Subscription.RevenueMinor != whole-1_00 || len(change.Events) != 0 {
		t.Errorf("of a part: %s given back, %d told, %v", change.Transaction.RefundedMinor, len(change.Events), err)
	}
	if !same(refund.RefundOf, &paid.Transaction.ID) || !same(refund.LeadID, paid.Transaction.LeadID) || refund.Source != SourceImport {
		t.Errorf("the refund is of %v", refund.RefundOf)
	}
	change, _, err = change.RecognizeRefund(reportedRefund(paid.Transaction, whole-1_00, 0), noon)
	if err != nil || change.Transaction.Status != TransactionRefunded || change.Order.Status != OrderRefunded || change.Subscription.RevenueMinor != 0 || len(change.Events) != 1 {
		t.Errorf("of the rest: %s, %s, %d told, %v", change.Transaction.Status, change.Order.Status, len(change.Events), err)
	}
	// A file has marked the payment before: the refund is counted in that.
	elsewhere, err := paid.RefundElsewhere(usual, noon)
	if err != nil {
		t.Fatal(err)
	}
	change, _, err = elsewhere.RecognizeRefund(reportedRefund(paid.Transaction, 1_00, 0), noon)
	if err != nil || change.Transaction.RefundedMinor != whole || change.Subscription.RevenueMinor != 0 || len(change.Events) != 0 {
		t.Errorf("of what was marked: %s given back, %d told, %v", change.Transaction.RefundedMinor, len(change.Events), err)
	}
}

func TestARecognizedRefundThatIsOnItsWay(t *testing.T) {
	t.Parallel()
	paid := collection(t, withTerms(monthly))
	waiting := reportedRefund(paid.Transaction, 1_00, 0)
	waiting.Status = TransactionPending
	change, refund, err := paid.RecognizeRefund(waiting, noon)
	if err != nil || change.Transaction.RefundingMinor != 1_00 || change.Transaction.RefundedMinor != 0 {
		t.Fatalf("%s on its way, %v", change.Transaction.RefundingMinor, err)
	}
	settled, err := settledRefund(change.Debit, refund, Outcome{Verdict: VerdictApproved}, noon)
	if err != nil || settled.Transaction.RefundedMinor != 1_00 || settled.Transaction.RefundingMinor != 0 {
		t.Errorf("settled: %s given back, %v", settled.Transaction.RefundedMinor, err)
	}
	elsewhere, err := paid.RefundElsewhere(usual, noon)
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]Debit{"whole": elsewhere.Debit, "pending": accepted(t).Debit} {
		if _, _, err := of.RecognizeRefund(waiting, noon); KindOf(err) != Conflict {
			t.Errorf("of a payment that is %s: %v", name, err)
		}
	}
}
