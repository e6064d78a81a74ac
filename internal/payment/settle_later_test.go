package payment

import (
	"slices"
	"testing"
	"time"
)

func TestSettleLater(t *testing.T) {
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
		{VerdictLost, TransactionPending, OrderPending, SubscriptionActive, false},
		{VerdictPending, TransactionPending, OrderPending, SubscriptionActive, false},
		{VerdictUnsent, TransactionPending, OrderPending, SubscriptionActive, false},
		{VerdictVerify, TransactionPending, OrderPending, SubscriptionActive, false},
	}
	for _, c := range cases {
		for kind, terms := range map[string]Terms{"one-off": {PriceMinor: 2999, BillingType: OneOff}, "recurring": monthly} {
			t.Run(kind+" "+string(c.verdict), func(t *testing.T) {
				t.Parallel()
				before := accepted(t, withTerms(terms))
				s, err := before.Debit.Settle(Outcome{Verdict: c.verdict}, usual, later)
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

func checkStatusEvent(t *testing.T, s Change, changes bool) {
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

func checkLateSubscription(t *testing.T, before, s Change, want SubscriptionStatus, now time.Time) {
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

func TestSettleLaterRefuses(t *testing.T) {
	t.Parallel()
	approved := Outcome{Verdict: VerdictApproved}
	cases := map[string]Debit{
		"a payment that is approved already": settle(t, submitted(t), approved, noon).Debit,
		"a payment that was declined":        settle(t, submitted(t), Outcome{Verdict: VerdictDeclined}, noon).Debit,
	}
	for name, p := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := p.Settle(approved, usual, noon); err == nil {
				t.Error("it was settled")
			}
		})
	}
}

// TestOneRuleForPendingPayments: whatever is pending is settled alike, whoever
// asks or reports.
func TestOneRuleForPendingPayments(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	brought := BringIn(Transaction{GatewayReference: "GW-1", AmountMinor: 2999}, Undecided, SourceImport, noon).Debit
	brought.Transaction.GatewayReference = ""
	for kind, pending := range map[string]Debit{
		"a payment of a session":         accepted(t).Debit,
		"a payment that was brought in":  brought,
		"a rebill":                       rebill(t, sub, first, "2026-04-30", Outcome{Verdict: VerdictPending, GatewayReference: "GW-1"}).Debit,
		"the first of many to be billed": accepted(t, withTerms(monthly)).Debit,
	} {
		for verdict, want := range map[Verdict]TransactionStatus{
			VerdictApproved: TransactionApproved, VerdictDeclined: TransactionDeclined, VerdictLost: TransactionPending,
			VerdictPending: TransactionPending,
		} {
			t.Run(kind+" "+string(verdict), func(t *testing.T) {
				t.Parallel()
				got := settle(t, pending, Outcome{Verdict: verdict, GatewayReference: "GW-2"}, on(t, "2026-05-02"))
				reference := "GW-1"
				if pending.Transaction.GatewayReference == "" && verdict != VerdictLost {
					reference = "GW-2"
				} else if pending.Transaction.GatewayReference == "" {
					reference = "" // a denial names nothing
				}
				if got.Transaction.Status != want || got.Transaction.GatewayReference != reference {
					t.Errorf("it is %s under %q, want %s under %q", got.Transaction.Status, got.Transaction.GatewayReference, want, reference)
				}
				if (got.Transaction.Decline != nil) != got.Transaction.IsDeclined() || got.Transaction.SettleDueAt.IsZero() != got.Transaction.IsDecided() {
					t.Errorf("decline %v, asked again at %s", got.Transaction.Decline, got.Transaction.SettleDueAt)
				}
				checkStatusEvent(t, got, want != TransactionPending)
			})
		}
	}
}

// TestAnswersNobodyAskedFor: a payment that awaits verification is settled by a
// report as by the answer to the question.
func TestAnswersNobodyAskedFor(t *testing.T) {
	t.Parallel()
	for _, verdict := range verdicts {
		for _, late := range []bool{false, true} {
			question, now := PhaseVerify, noon.Add(time.Minute)
			if late {
				question, now = PhaseExpire, noon.Add(2*time.Hour)
			}
			t.Run(string(verdict)+" "+string(question), func(t *testing.T) {
				t.Parallel()
				asked, _ := inPhase(t, question)
				want := settle(t, asked, Outcome{Verdict: verdict}, now)
				got := settle(t, awaiting(t), Outcome{Verdict: verdict}, now)
				if got.Session.Status != want.Session.Status || got.Order.Status != want.Order.Status ||
					got.Transaction.Status != want.Transaction.Status || got.Result != want.Result {
					t.Errorf("got %s %s %s", got.Session.Status, got.Order.Status, got.Transaction.Status)
				}
			})
		}
	}
}

func TestSettleLaterLeavesACancelledSubscription(t *testing.T) {
	t.Parallel()
	ended := noon.Add(time.Hour)
	p := accepted(t, withTerms(monthly)).Debit
	p.Subscription.Status, p.Subscription.CancelledAt = SubscriptionCancelled, ended
	for verdict, revenue := range map[Verdict]Minor{VerdictApproved: 2999, VerdictDeclined: 0} {
		s, err := p.Settle(Outcome{Verdict: verdict}, usual, noon.Add(24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if sub := s.Subscription; sub.Status != SubscriptionCancelled || !sub.CancelledAt.Equal(ended) || sub.RevenueMinor != revenue {
			t.Errorf("%s: %s at %s with %s", verdict, sub.Status, sub.CancelledAt, sub.RevenueMinor)
		}
	}
}

// TestWhenAGatewayIsAskedAgain: neither at once and for ever nor never, whatever day it names.
func TestWhenAGatewayIsAskedAgain(t *testing.T) {
	t.Parallel()
	const days = 24 * time.Hour
	for name, test := range map[string]struct{ settles, want time.Time }{
		"on its day":                    {noon.Add(10 * days), noon.Add(10 * days)},
		"a day later where it has none": {time.Time{}, noon.Add(days)},
		"or one that has passed":        {noon.Add(-time.Hour), noon.Add(days)},
		"or one that is now":            {noon, noon.Add(days)},
		"within a month":                {noon.Add(31 * days), noon.Add(31 * days)},
		"where it is further off":       {noon.Add(31*days + time.Second), noon.Add(31 * days)},
		"and in another century":        {noon.AddDate(100, 0, 0), noon.Add(31 * days)},
	} {
		if got := settle(t, submitted(t), Outcome{Verdict: VerdictPending, SettlesAt: test.settles}, noon).Transaction.SettleDueAt; !got.Equal(test.want) {
			t.Errorf("%s: at %s, want %s", name, got, test.want)
		}
	}
}
