package payment

import (
	"slices"
	"testing"
	"time"
)

// collection is a payment that was taken.
func collection(t *testing.T, change ...func(*Session)) Debit {
	t.Helper()
	s := settle(t, submitted(t, change...), Outcome{Verdict: VerdictApproved, GatewayReference: "GW-1"}, noon)
	return s.Debit
}

// settledRefund is what an outcome makes of a refund.
func settledRefund(paid Debit, refund Transaction, o Outcome, now time.Time) (Change, error) {
	paid.Refund = &refund
	return paid.Settle(o, usual, now)
}

// refunding is a collection of which an amount is on its way back.
func refunding(t *testing.T, c Debit, amount Minor) Change {
	t.Helper()
	change, err := c.BeginRefund(&amount, noon)
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func TestRefundedAmounts(t *testing.T) {
	t.Parallel()
	paid := collection(t, withTerms(monthly))
	first := refunding(t, paid, 10_00)
	if paid.Transaction.RefundingMinor != 0 {
		t.Error("what was read has changed")
	}
	if _, err := first.Debit.BeginRefund(new(Minor(20_00)), noon); KindOf(err) != Invalid {
		t.Errorf("more than is left gave %v", err)
	}
	if _, err := first.Debit.BeginRefund(new(Minor(0)), noon); KindOf(err) != Invalid {
		t.Errorf("nothing at all gave %v", err)
	}
	second := refunding(t, first.Debit, 19_99)
	if _, err := second.Debit.BeginRefund(nil, noon); KindOf(err) != Conflict {
		t.Errorf("nothing left gave %v", err)
	}
	if _, err := second.Debit.BeginRefund(new(Minor(1)), noon); KindOf(err) != Invalid {
		t.Errorf("a named amount of which nothing is left gave %v", err)
	}
	one, err := settledRefund(second.Debit, *first.Refund, Outcome{Verdict: VerdictApproved}, noon)
	if err != nil || one.Transaction.Status != TransactionApproved || one.Order.Status != OrderCompleted {
		t.Fatalf("after a part: %s, %s, %v", one.Transaction.Status, one.Order.Status, err)
	}
	two, err := settledRefund(one.Debit, *second.Refund, Outcome{Verdict: VerdictApproved}, noon)
	if err != nil || two.Transaction.Status != TransactionRefunded || two.Order.Status != OrderRefunded {
		t.Fatalf("after the whole: %s, %s, %v", two.Transaction.Status, two.Order.Status, err)
	}
	if two.Subscription.RevenueMinor != 0 || two.Subscription.Status != SubscriptionActive || two.Transaction.RefundingMinor != 0 {
		t.Errorf("the subscription has %s and is %s", two.Subscription.RevenueMinor, two.Subscription.Status)
	}
}

func TestSettledRefundsTell(t *testing.T) {
	t.Parallel()
	created, changed := EventTransactionCreated, EventTransactionStatusChanged
	for name, test := range map[string]struct {
		verdicts []Verdict
		want     []EventKind
		status   TransactionStatus
		left     Minor
	}{
		"approved":              {[]Verdict{VerdictApproved}, []EventKind{created, changed}, TransactionApproved, 0},
		"declined":              {[]Verdict{VerdictDeclined}, nil, TransactionDeclined, 29_99},
		"lost":                  {[]Verdict{VerdictLost}, nil, TransactionDeclined, 29_99},
		"unsent":                {[]Verdict{VerdictUnsent}, nil, TransactionDeclined, 29_99},
		"pending":               {[]Verdict{VerdictPending}, []EventKind{created}, TransactionPending, 0},
		"pending, asked twice":  {[]Verdict{VerdictPending, VerdictPending}, []EventKind{created}, TransactionPending, 0},
		"pending, then settled": {[]Verdict{VerdictPending, VerdictApproved}, []EventKind{created, changed, changed}, TransactionApproved, 0},
		"pending, then denied":  {[]Verdict{VerdictPending, VerdictLost}, []EventKind{created}, TransactionPending, 0},
		"pending, then refused": {[]Verdict{VerdictPending, VerdictDeclined}, []EventKind{created, changed}, TransactionDeclined, 29_99},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := refunding(t, collection(t), 29_99)
			var told []EventKind
			for _, verdict := range test.verdicts {
				var err error
				if change, err = settledRefund(change.Debit, *change.Refund, Outcome{Verdict: verdict}, noon.Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				told = append(told, kindsOf(change.Events)...)
			}
			if !slices.Equal(told, test.want) || change.Refund.Status != test.status || change.Transaction.RefundableMinor() != test.left {
				t.Errorf("told %v, the refund is %s, %s is left", told, change.Refund.Status, change.Transaction.RefundableMinor())
			}
			if change.Refund.InFlight() || change.Refund.ProcessedAt.IsZero() != (name == "unsent") {
				t.Error("the question is still open")
			}
		})
	}
}

func TestRefundOfARebillLeavesTheOrder(t *testing.T) {
	t.Parallel()
	paid := collection(t, withTerms(monthly))
	paid.Transaction.Type = Rebill
	change := refunding(t, paid, 29_99)
	change, err := settledRefund(change.Debit, *change.Refund, Outcome{Verdict: VerdictApproved}, noon)
	if err != nil || change.Transaction.Status != TransactionRefunded || change.Order.Status != OrderCompleted {
		t.Errorf("transaction %s, order %s, %v", change.Transaction.Status, change.Order.Status, err)
	}
}

func TestRefundThatComesAfterAChargeback(t *testing.T) {
	t.Parallel()
	change := refunding(t, collection(t, withTerms(monthly)), 29_99)
	lost, err := change.Debit.ChargeBack(Chargeback{}, Policy{KeepsClaimed: false}, noon)
	if err != nil {
		t.Fatal(err)
	}
	settled, err := settledRefund(lost.Debit, *change.Refund, Outcome{Verdict: VerdictApproved}, noon)
	if err != nil || settled.Transaction.Status != TransactionChargedBack || settled.Order.Status != OrderChargedBack {
		t.Fatalf("%s, %s, %v", settled.Transaction.Status, settled.Order.Status, err)
	}
	if settled.Subscription.RevenueMinor != -29_99 || settled.Transaction.RefundedMinor != 29_99 {
		t.Errorf("the revenue is %s", settled.Subscription.RevenueMinor)
	}
}

func TestChargeBackKeepsASubscription(t *testing.T) {
	t.Parallel()
	for keep, want := range map[bool]SubscriptionStatus{true: SubscriptionActive, false: SubscriptionCancelled} {
		change, err := collection(t, withTerms(monthly)).ChargeBack(Chargeback{}, Policy{KeepsClaimed: keep}, noon)
		if err != nil || change.Subscription.Status != want || change.Subscription.CancelledAt.IsZero() != keep {
			t.Errorf("kept %v: %s, %v", keep, change.Subscription.Status, err)
		}
	}
}
