package payment

import (
	"slices"
	"testing"
	"time"
)

func TestSettleLate(t *testing.T) {
	t.Parallel()
	later := noon.Add(24 * time.Hour)
	cases := []struct {
		verdict Verdict
		tx      TransactionStatus
		order   OrderStatus
		sub     SubscriptionStatus
		changes bool
	}{
		{VerdictApproved, TransactionApproved, OrderCompleted, SubscriptionActive, true},
		{VerdictDeclined, TransactionDeclined, OrderFailed, SubscriptionCancelled, true},
		{VerdictLost, TransactionDeclined, OrderFailed, SubscriptionCancelled, true},
		{VerdictPending, TransactionPending, OrderPending, SubscriptionActive, false},
		{VerdictUnsent, TransactionPending, OrderPending, SubscriptionActive, false},
		{VerdictVerify, TransactionPending, OrderPending, SubscriptionActive, false},
	}
	for _, c := range cases {
		for kind, terms := range map[string]Terms{"one-off": {PriceMinor: 2999, BillingType: OneOff}, "recurring": monthly} {
			t.Run(kind+" "+string(c.verdict), func(t *testing.T) {
				t.Parallel()
				before := accepted(t, withTerms(terms))
				s, err := SettleLate(before.Purchase, Outcome{Verdict: c.verdict}, later)
				if err != nil {
					t.Fatal(err)
				}
				if s.Transaction.Status != c.tx || s.Order.Status != c.order || s.Session.Status != SessionCompleted || s.Result != "" {
					t.Errorf("got %s %s %s %s", s.Transaction.Status, s.Order.Status, s.Session.Status, s.Result)
				}
				if !s.Transaction.ProcessedAt.Equal(noon) || !s.Transaction.UpdatedAt.Equal(later) {
					t.Errorf("processed at %s, updated at %s", s.Transaction.ProcessedAt, s.Transaction.UpdatedAt)
				}
				if (s.Transaction.Decline != nil) != (c.tx == TransactionDeclined) || s.Transaction.SettleDueAt.IsZero() != c.changes {
					t.Errorf("decline %v, due %s", s.Transaction.Decline, s.Transaction.SettleDueAt)
				}
				checkStatusEvent(t, s, c.changes)
				checkLateSubscription(t, before, s, c.sub, later)
			})
		}
	}
}

func checkStatusEvent(t *testing.T, s Settlement, changes bool) {
	t.Helper()
	var want []EventKind
	if changes {
		want = []EventKind{EventTransactionStatusChanged}
	}
	if got := kindsOf(s.Events); !slices.Equal(got, want) {
		t.Fatalf("events are %v, want %v", got, want)
	}
	if !changes {
		return
	}
	key := "transaction.status_changed:" + s.Transaction.ID.String() + ":pending>" + string(s.Transaction.Status)
	if e := s.Events[0]; e.PreviousStatus != TransactionPending || e.Key != key {
		t.Errorf("event is %+v", e)
	}
}

func checkLateSubscription(t *testing.T, before, s Settlement, want SubscriptionStatus, now time.Time) {
	t.Helper()
	if before.Subscription == nil {
		if s.Subscription != nil {
			t.Error("a subscription came from nowhere")
		}
		return
	}
	sub := s.Subscription
	cancelled := want == SubscriptionCancelled
	if sub.Status != want || sub.CancelledAt.Equal(now) != cancelled || sub.NextBillingDate.IsZero() != cancelled {
		t.Errorf("subscription is %s, cancelled at %s, next %s", sub.Status, sub.CancelledAt, sub.NextBillingDate)
	}
	revenue := Minor(0)
	if s.Transaction.Status == TransactionApproved {
		revenue = 2999
	}
	if sub.RevenueMinor != revenue {
		t.Errorf("revenue is %s, want %s", sub.RevenueMinor, revenue)
	}
	if before.Subscription.Status != SubscriptionActive || before.Subscription.RevenueMinor != 0 {
		t.Error("the caller's subscription was changed")
	}
}

func TestSettleLateRefuses(t *testing.T) {
	t.Parallel()
	approved := Outcome{Verdict: VerdictApproved}
	cases := map[string]Purchase{
		"a payment whose attempt is open":       submitted(t),
		"a payment that awaits verification":    awaiting(t),
		"a payment that is approved already":    settle(t, submitted(t), approved, noon).Purchase,
		"a payment that was declined":           settle(t, submitted(t), Outcome{Verdict: VerdictDeclined}, noon).Purchase,
		"a payment whose order does not fit it": func() Purchase { p := accepted(t).Purchase; p.Order.Status = OrderFailed; return p }(),
	}
	for name, p := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := SettleLate(p, approved, noon); err == nil {
				t.Error("it was settled")
			}
		})
	}
}

func TestSettleLateLeavesACancelledSubscription(t *testing.T) {
	t.Parallel()
	ended := noon.Add(time.Hour)
	p := accepted(t, withTerms(monthly)).Purchase
	p.Subscription.Status, p.Subscription.CancelledAt = SubscriptionCancelled, ended
	for verdict, revenue := range map[Verdict]Minor{VerdictApproved: 2999, VerdictDeclined: 0} {
		s, err := SettleLate(p, Outcome{Verdict: verdict}, noon.Add(24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if sub := s.Subscription; sub.Status != SubscriptionCancelled || !sub.CancelledAt.Equal(ended) || sub.RevenueMinor != revenue {
			t.Errorf("%s: %s at %s with %s", verdict, sub.Status, sub.CancelledAt, sub.RevenueMinor)
		}
	}
}

func TestADateOfSettlementThatHasPassed(t *testing.T) {
	t.Parallel()
	s := settle(t, submitted(t), Outcome{Verdict: VerdictPending, SettlesAt: noon.Add(-time.Hour)}, noon)
	if got := s.Transaction.SettleDueAt; !got.Equal(noon.Add(24 * time.Hour)) {
		t.Errorf("the gateway is asked again at %s, at once and for ever", got)
	}
}
