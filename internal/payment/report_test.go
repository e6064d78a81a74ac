package payment

import (
	"errors"
	"testing"
)

// TestReportsAgainstWhatIsKnown tries every status in a report against every one
// that a payment can have.
func TestReportsAgainstWhatIsKnown(t *testing.T) {
	t.Parallel()
	const no = contradiction
	want := map[TransactionStatus]map[TransactionStatus]Reported{
		"pending":      {"approved": ReportsOutcome, "declined": ReportsOutcome, "refunded": ReportsRefund, "charged_back": ReportsChargeback},
		"approved":     {"declined": no, "refunded": ReportsRefund, "charged_back": ReportsChargeback},
		"declined":     {"approved": no, "refunded": no, "charged_back": no},
		"refunded":     {"declined": no, "charged_back": ReportsChargeback},
		"charged_back": {"declined": no},
	}
	known := Transaction{Type: Rebill, AmountMinor: 100, Currency: "EUR"}
	for _, from := range TransactionStatuses {
		for _, to := range TransactionStatuses {
			reported := known
			reported.Type, reported.Status = Sale, to
			known.Status = from
			means, err := known.Against(reported)
			expected := want[from][to]
			if (expected == no) != (KindOf(err) == Conflict) || expected != no && means != expected {
				t.Errorf("%s, reported %s: %q, %v", from, to, means, err)
			}
		}
	}
}

func TestReportsThatCannotBeTrue(t *testing.T) {
	t.Parallel()
	known := Transaction{Type: Sale, AmountMinor: 100, Currency: "EUR", Status: TransactionPending}
	for name, change := range map[string]func(*Transaction){
		"another gateway":  func(r *Transaction) { r.GatewayID = NewID() },
		"another type":     func(r *Transaction) { r.Type = Refund },
		"another amount":   func(r *Transaction) { r.AmountMinor++ },
		"another currency": func(r *Transaction) { r.Currency = "CHF" },
	} {
		reported := known
		reported.Status = TransactionApproved
		change(&reported)
		if _, err := known.Against(reported); KindOf(err) != Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefundElsewhere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		debit  Debit
		told   int
		refuse bool
	}{
		"of a payment that was collected":    {debit: collection(t, withTerms(monthly)), told: 1},
		"of one that we thought was pending": {debit: accepted(t, withTerms(monthly)).Debit, told: 2},
		"of one that awaits verification":    {debit: awaiting(t), refuse: true},
		"of one that is being processed":     {debit: submitted(t), refuse: true},
		"beside a refund of ours":            {debit: refunding(t, collection(t), 10_00).Debit, refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.debit.RefundElsewhere(usual, noon)
			if test.refuse {
				if KindOf(err) != Conflict {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || got.Transaction.Status != TransactionRefunded || got.Order.Status != OrderRefunded || len(got.Events) != test.told ||
				got.Subscription.RevenueMinor != 0 || got.Transaction.RefundableMinor() != 0 {
				t.Errorf("%s, %s, told %d, %v", got.Transaction.Status, got.Order.Status, len(got.Events), err)
			}
		})
	}
}

func TestRefundElsewhereIsOfAPayment(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	billed := rebill(t, sub, first, "2026-04-30", collected)
	got, err := billed.Debit.RefundElsewhere(usual, on(t, "2026-05-02"))
	if err != nil || got.Transaction.Status != TransactionRefunded || got.Subscription.RevenueMinor != first.AmountMinor {
		t.Errorf("of a rebill: %s, %v", got.Transaction.Status, err)
	}
	pending := Debit{Transaction: *refunding(t, collection(t), 10_00).Refund}
	if _, err := pending.RefundElsewhere(usual, noon); !errors.Is(err, errRefundType) {
		t.Errorf("of a refund: %v", err)
	}
}

func TestWhatAProcessorReportsIsBroughtIn(t *testing.T) {
	t.Parallel()
	refused := Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: AccountClosed, Message: "closed"}}
	for want, o := range map[TransactionStatus]Outcome{TransactionApproved: {Verdict: VerdictApproved}, TransactionPending: Undecided, TransactionDeclined: refused} {
		got := BringIn(Transaction{GatewayReference: "GW-1", AmountMinor: 2999}, o, SourceImport, noon)
		made := got.Transaction
		if made.Status != want || made.MerchantTransactionID != "GW-1" || made.Type != Sale || made.Source != SourceImport || !made.ProcessedAt.Equal(noon) {
			t.Errorf("brought in is %+v, want it %s", made, want)
		}
		if declined := want == TransactionDeclined; (made.Decline != nil) != declined || (len(got.Events) == 0) != declined || declined && made.Decline.Code != AccountClosed {
			t.Errorf("%s: the reason is %+v, told %v", want, made.Decline, got.Events)
		}
		reported := Transaction{Status: want, GatewayReference: "GW-1"}
		if back := ReportedOutcome(reported); back.Verdict != o.Verdict || back.GatewayReference != "GW-1" {
			t.Errorf("%s is reported as %+v", want, back)
		}
	}
}
