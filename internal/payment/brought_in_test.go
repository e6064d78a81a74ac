package payment

import "testing"

// reportedRebill is a rebill as a file brings it, of which we know nothing.
func reportedRebill(lost Transaction) Transaction {
	return Transaction{
		ID: NewID(), TenantID: lost.TenantID, GatewayID: lost.GatewayID, MerchantTransactionID: lost.MerchantTransactionID,
		Status: TransactionApproved, Type: Sale, AmountMinor: lost.AmountMinor, Currency: lost.Currency, Source: SourceImport,
	}
}

// lostRebill is one that a restored database is about to send once more.
func lostRebill(t *testing.T) Change {
	t.Helper()
	sub, first := subscribed(t, monthly)
	lost, err := RecallRebill(sub, first, on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	return lost
}

func TestWhichPaymentIsARebillThatWasLost(t *testing.T) {
	t.Parallel()
	lost := lostRebill(t).Transaction
	for name, test := range map[string]struct {
		change func(*Transaction)
		want   bool
	}{
		"by its name":              {func(*Transaction) {}, true},
		"told as a rebill":         {func(b *Transaction) { b.Type = Rebill }, true},
		"of another amount":        {func(b *Transaction) { b.AmountMinor++ }, true},
		"a notified one":           {func(b *Transaction) { b.Source = SourceWebhook }, true},
		"another name":             {func(b *Transaction) { b.MerchantTransactionID += "X" }, false},
		"another account's":        {func(b *Transaction) { b.GatewayID = NewID() }, false},
		"a refund":                 {func(b *Transaction) { b.Type = Refund }, false},
		"one that we made":         {func(b *Transaction) { b.Source = SourceAPI }, false},
		"of a subscription's own":  {func(b *Transaction) { b.SubscriptionID = lost.SubscriptionID }, false},
		"of a session that we had": {func(b *Transaction) { b.SessionID = lost.OrderID }, false},
	} {
		brought := reportedRebill(lost)
		test.change(&brought)
		if got := brought.IsRebill(lost); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestWhatCannotBeRecognizedIsAnError: taken for recognized, a rebill would neither be in the books nor be sent.
func TestWhatCannotBeRecognizedIsAnError(t *testing.T) {
	t.Parallel()
	for _, status := range []TransactionStatus{TransactionApproved, TransactionDeclined, TransactionRefunded, TransactionChargedBack} {
		lost := lostRebill(t)
		brought := reportedRebill(lost.Transaction)
		brought.Status = status
		if known, err := lost.Recognize(brought, Chargeback{Source: ChargebackImported, ReasonCode: "MD06"}, usual, noon); err != nil || known.Transaction.Status != status {
			t.Errorf("%s is recognized as %s: %v", status, known.Transaction.Status, err)
		}
		lost.Subscription.Status = "GONE"
		if _, err := lost.Recognize(brought, Chargeback{Source: ChargebackImported, ReasonCode: "MD06"}, usual, noon); err == nil {
			t.Errorf("%s: the subscription is gone, and no error", status)
		}
	}
}
