package payment

import (
	"slices"
	"testing"
	"time"
)

// on is the first instant of a date.
func on(t *testing.T, date string) time.Time {
	t.Helper()
	return day(t, date).Start()
}

// subscribed is a subscription that was bought on the last day of March 2026.
func subscribed(t *testing.T, terms Terms) (Subscription, Transaction) {
	t.Helper()
	s := settle(t, submitted(t, withTerms(terms)), Outcome{Verdict: VerdictApproved}, noon)
	return *s.Subscription, s.Transaction
}

// rebill tries to bill a subscription on a day, with an outcome.
func rebill(t *testing.T, sub Subscription, first Transaction, date string, o Outcome) Change {
	t.Helper()
	claimed, err := BeginRebill(sub, first, DateOf(on(t, date)), on(t, date))
	if err != nil {
		t.Fatal(err)
	}
	change, err := claimed.Settle(o, Policy{Dunning: DefaultDunning()}, on(t, date))
	if err != nil {
		t.Fatal(err)
	}
	return change
}

var (
	collected = Outcome{Verdict: VerdictApproved, GatewayReference: "GW-2"}
	noMoney   = Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: InsufficientFunds}}
)

func TestRebillCollected(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	got := rebill(t, sub, first, "2026-04-30", collected)
	tx, now := got.Transaction, *got.Subscription
	if tx.Status != TransactionApproved || tx.Type != Rebill || tx.Currency != "EUR" || tx.SequenceType != SequenceRecurring || tx.Source != SourceAPI ||
		tx.AmountMinor != 2999 || tx.MandateReference != first.MandateReference || !tx.MandateAt.Equal(first.MandateAt) ||
		tx.MaskedIBAN != first.MaskedIBAN || tx.TenantReferenceID != nil || *tx.OrderID != sub.OrderID || *tx.Period != 1 {
		t.Errorf("the rebill is %+v", tx)
	}
	if now.Status != SubscriptionActive || now.SuccessfulCount != 1 || now.FailedCount != 0 || now.RevenueMinor != 2*2999 ||
		!now.LastBilledAt.Equal(on(t, "2026-04-30")) || now.OpenTransactionID != nil {
		t.Errorf("the subscription is %+v", now)
	}
	if now.NextBillingDate.String() != "2026-05-31" {
		t.Errorf("the next date is %s: a subscription of the 31st finds back to it", now.NextBillingDate)
	}
	if kinds := kindsOf(got.Events); !slices.Equal(kinds, []EventKind{EventTransactionCreated}) {
		t.Errorf("told are %v", kinds)
	}
}

// TestAPlaceThatIsBehindIsNotGoneBackTo: a program of the version before has billed on and left it there.
func TestAPlaceThatIsBehindIsNotGoneBackTo(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	sub = *rebill(t, sub, first, "2026-04-30", collected).Subscription
	sub.Owed = sub.Owed.withPlace(1)
	got := rebill(t, sub, first, "2026-05-31", collected).Subscription
	if got.Period != 3 || got.Owed != "" || got.NextBillingDate.String() != "2026-06-30" {
		t.Errorf("it goes on at period %d on %s, with %q", got.Period, got.NextBillingDate, got.Owed)
	}
}

func TestRebillIsRefusedBeforeItsDay(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	if _, err := BeginRebill(sub, first, DateOf(on(t, "2026-04-30").Add(-time.Microsecond)), on(t, "2026-04-30").Add(-time.Microsecond)); err == nil {
		t.Error("it was billed a moment too early")
	}
	claimed, err := BeginRebill(sub, first, DateOf(on(t, "2026-04-30")), on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := BeginRebill(*claimed.Subscription, first, DateOf(on(t, "2026-05-31")), on(t, "2026-05-31")); err == nil {
		t.Error("a second rebill was begun while the first is under way")
	}
	ended, err := CancelSubscription(sub, CancelledByOperator, noon)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := BeginRebill(ended, first, DateOf(on(t, "2026-04-30")), on(t, "2026-04-30")); err == nil {
		t.Error("a cancelled subscription was billed")
	}
}

func TestDunning(t *testing.T) {
	t.Parallel()

	t.Run("tries again after 3, 5 and 7 days and then cancels", func(t *testing.T) {
		t.Parallel()
		sub, first := subscribed(t, monthly)
		for i, next := range []string{"2026-05-03", "2026-05-08", "2026-05-15"} {
			got := rebill(t, sub, first, sub.NextBillingDate.String(), noMoney)
			sub = *got.Subscription
			if sub.Status != SubscriptionPastDue || sub.NextBillingDate.String() != next || sub.FailedCount != i+1 || len(got.Events) != 0 {
				t.Fatalf("try %d leaves %+v, told %v", i+1, sub, got.Events)
			}
			if got.Transaction.Decline.Code != InsufficientFunds || *got.Transaction.Period != 1 || got.Transaction.Attempt.Number != i+1 {
				t.Errorf("try %d is recorded as %+v", i+1, got.Transaction)
			}
		}
		sub = *rebill(t, sub, first, "2026-05-15", noMoney).Subscription
		if sub.Status != SubscriptionCancelled || !sub.NextBillingDate.IsZero() || !sub.CancelledAt.Equal(on(t, "2026-05-15")) || sub.RevenueMinor != 2999 {
			t.Errorf("the last try leaves %+v", sub)
		}
	})

	t.Run("goes on with the next date in the future when a later try succeeds", func(t *testing.T) {
		t.Parallel()
		terms := monthly
		terms.Frequency = Weekly
		sub, first := subscribed(t, terms)
		for range 3 {
			sub = *rebill(t, sub, first, sub.NextBillingDate.String(), noMoney).Subscription
		}
		// Tried on 7, 10, 15 and 22 April; the 14th and 21st have passed.
		sub = *rebill(t, sub, first, "2026-04-22", collected).Subscription
		if sub.Status != SubscriptionActive || sub.NextBillingDate.String() != "2026-04-28" || sub.Period != 4 || sub.Tries != 0 {
			t.Errorf("the subscription is %+v", sub)
		}
	})

	t.Run("leaves out no period when the first try succeeds late", func(t *testing.T) {
		t.Parallel()
		sub, first := subscribed(t, monthly)
		for _, next := range []string{"2026-05-31", "2026-06-30", "2026-07-31", "2026-08-31"} {
			sub = *rebill(t, sub, first, "2026-07-31", collected).Subscription
			if sub.NextBillingDate.String() != next {
				t.Fatalf("the next date is %s, want %s", sub.NextBillingDate, next)
			}
			if next == "2026-08-31" {
				break
			}
		}
		if sub.SuccessfulCount != 4 {
			t.Errorf("billed %d times", sub.SuccessfulCount)
		}
	})
}

func TestDunningByReason(t *testing.T) {
	t.Parallel()

	t.Run("knows no second try for a hard reason", func(t *testing.T) {
		t.Parallel()
		for _, code := range []DeclineCode{AccountClosed, MandateRejected, InvalidIBAN} {
			sub, first := subscribed(t, monthly)
			sub = *rebill(t, sub, first, "2026-04-30", Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: code}}).Subscription
			if sub.Status != SubscriptionCancelled || sub.FailedCount != 1 {
				t.Errorf("%s leaves %+v", code, sub)
			}
		}
	})

	t.Run("tries again for every other reason", func(t *testing.T) {
		t.Parallel()
		outcomes := []Outcome{{Verdict: VerdictDeclined}}
		for _, code := range []DeclineCode{InsufficientFunds, DoNotHonor, GatewayUnavailable, DeclineUnknown} {
			outcomes = append(outcomes, Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: code}})
		}
		for _, o := range outcomes {
			sub, first := subscribed(t, monthly)
			sub = *rebill(t, sub, first, "2026-04-30", o).Subscription
			if sub.Status != SubscriptionPastDue || sub.NextBillingDate.String() != "2026-05-03" {
				t.Errorf("%+v leaves %+v", o, sub)
			}
		}
	})

	t.Run("without any days cancels at the first refusal", func(t *testing.T) {
		t.Parallel()
		sub, first := subscribed(t, monthly)
		claimed, err := BeginRebill(sub, first, DateOf(on(t, "2026-04-30")), on(t, "2026-04-30"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := claimed.Settle(noMoney, Policy{Dunning: Dunning{}}, on(t, "2026-04-30"))
		if err != nil || got.Subscription.Status != SubscriptionCancelled {
			t.Errorf("got %+v, %v", got.Subscription, err)
		}
	})
}

func TestPendingRebill(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	taken := rebill(t, sub, first, "2026-04-30", Outcome{Verdict: VerdictPending})
	if s := taken.Subscription; s.OpenTransactionID == nil || !s.DueAt().IsZero() || s.NextBillingDate.String() != "2026-05-31" ||
		s.SuccessfulCount != 0 || s.RevenueMinor != 2999 || !slices.Equal(kindsOf(taken.Events), []EventKind{EventTransactionCreated}) {
		t.Fatalf("taken in, the subscription is %+v, told %v", s, taken.Events)
	}

	t.Run("that is settled is collected then", func(t *testing.T) {
		t.Parallel()
		got, err := taken.Debit.Settle(collected, Policy{Dunning: DefaultDunning()}, on(t, "2026-05-02"))
		if err != nil {
			t.Fatal(err)
		}
		if s := got.Subscription; s.SuccessfulCount != 1 || s.RevenueMinor != 2*2999 || s.OpenTransactionID != nil || s.NextBillingDate.String() != "2026-05-31" {
			t.Errorf("the subscription is %+v", s)
		}
		if !slices.Equal(kindsOf(got.Events), []EventKind{EventTransactionStatusChanged}) || !got.Transaction.ProcessedAt.Equal(on(t, "2026-04-30")) {
			t.Errorf("told %v, processed %s", got.Events, got.Transaction.ProcessedAt)
		}
	})

	t.Run("that is refused is a failed rebill", func(t *testing.T) {
		t.Parallel()
		got, err := taken.Debit.Settle(noMoney, Policy{Dunning: DefaultDunning()}, on(t, "2026-05-02"))
		if err != nil {
			t.Fatal(err)
		}
		if s := got.Subscription; s.Status != SubscriptionPastDue || s.FailedCount != 1 || s.NextBillingDate.String() != "2026-05-05" || s.Period != 1 {
			t.Errorf("the subscription is %+v", s)
		}
		if !slices.Equal(kindsOf(got.Events), []EventKind{EventTransactionStatusChanged}) {
			t.Errorf("told %v", got.Events)
		}
	})

	t.Run("that is charged back before it settles is not billed again where subscriptions are kept", func(t *testing.T) {
		t.Parallel()
		got, err := taken.Debit.ChargeBack(Chargeback{}, Policy{KeepsClaimed: true}, on(t, "2026-05-02"))
		if err != nil {
			t.Fatal(err)
		}
		if s := got.Subscription; s.Status != SubscriptionActive || s.Period != 2 || s.RevenueMinor != 2999 || s.DueAt().IsZero() {
			t.Errorf("the subscription is %+v", s)
		}
	})
}

func TestRebillOfACancelledSubscription(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	claimed, err := BeginRebill(sub, first, DateOf(on(t, "2026-04-30")), on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	ended, err := CancelSubscription(*claimed.Subscription, CancelledByOperator, on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	claimed.Subscription = &ended
	for _, o := range []Outcome{collected, noMoney, {Verdict: VerdictPending}} {
		got, err := claimed.Settle(o, Policy{Dunning: DefaultDunning()}, on(t, "2026-04-30"))
		if err != nil {
			t.Fatal(err)
		}
		s := got.Subscription
		if s.Status != SubscriptionCancelled || !s.NextBillingDate.IsZero() || !s.DueAt().IsZero() {
			t.Errorf("%s leaves %+v", o.Verdict, s)
		}
		if o.Verdict == VerdictApproved && (s.RevenueMinor != 2*2999 || s.SuccessfulCount != 1) {
			t.Errorf("what was collected is not booked: %+v", s)
		}
	}
}

func TestFirstCollectionAfterAFreeTrial(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, freeTrial)
	refused := rebill(t, sub, first, "2026-04-14", noMoney)
	if refused.Transaction.SequenceType != SequenceFirst {
		t.Errorf("the first try is %s", refused.Transaction.SequenceType)
	}
	again := rebill(t, *refused.Subscription, first, "2026-04-17", collected)
	if again.Transaction.SequenceType != SequenceFirst || again.Subscription.NextBillingDate.String() != "2026-05-14" {
		t.Errorf("the second try is %s, the next date %s", again.Transaction.SequenceType, again.Subscription.NextBillingDate)
	}
	taken := rebill(t, *refused.Subscription, first, "2026-04-17", Outcome{Verdict: VerdictPending})
	if taken.Transaction.SequenceType != SequenceFirst || taken.Subscription.SequenceType != SequenceRecurring {
		t.Errorf("taken in as %s, the next one is %s", taken.Transaction.SequenceType, taken.Subscription.SequenceType)
	}
	if s := settle(t, taken.Debit, noMoney, on(t, "2026-04-20")).Subscription; s.SequenceType != SequenceFirst {
		t.Errorf("refused after that, the next one is %s", s.SequenceType)
	}
	later := rebill(t, *again.Subscription, first, "2026-05-14", collected)
	if later.Transaction.SequenceType != SequenceRecurring || later.Subscription.RevenueMinor != 2*2999 {
		t.Errorf("later it is %s, the revenue %s", later.Transaction.SequenceType, later.Subscription.RevenueMinor)
	}
}

func TestSettleRebillRefuses(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	claimed, err := BeginRebill(sub, first, DateOf(on(t, "2026-04-30")), on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := claimed.Settle(Outcome{Verdict: VerdictVerify}, Policy{Dunning: nil}, noon); err == nil {
		t.Error("a rebill was sent to the payer")
	}
	done := rebill(t, sub, first, "2026-04-30", collected)
	if _, err := done.Debit.Settle(noMoney, Policy{Dunning: nil}, noon); err == nil {
		t.Error("a settled rebill was settled again")
	}
}

func TestMandateLapse(t *testing.T) {
	t.Parallel()
	without := monthly
	without.Frequency = ""
	sub, _ := subscribed(t, without)
	if got := DateOf(sub.DueAt()).String(); got != "2029-04-01" {
		t.Errorf("there is something to do on %s", got)
	}
	if lapsed, err := sub.Lapse(on(t, "2029-03-31")); lapsed || err != nil {
		t.Errorf("on the last day: %t, %v", lapsed, err)
	}
	if lapsed, err := sub.Lapse(on(t, "2029-04-01")); !lapsed || err != nil || sub.Status != SubscriptionCancelled {
		t.Errorf("after 36 months: %t, %v, %s", lapsed, err, sub.Status)
	}
	if _, err := sub.Lapse(on(t, "2029-04-02")); err == nil {
		t.Error("what has lapsed has lapsed again")
	}
	used, first := subscribed(t, monthly)
	used = *rebill(t, used, first, "2026-04-30", collected).Subscription
	if lapsed, err := used.Lapse(on(t, "2029-04-15")); lapsed || err != nil {
		t.Errorf("a mandate that was used since lapsed: %v", err)
	}
}

func TestUpcoming(t *testing.T) {
	t.Parallel()
	texts := func(dates []Date) (all []string) {
		for _, date := range dates {
			all = append(all, date.String())
		}
		return all
	}
	sub, first := subscribed(t, monthly)
	if got := texts(sub.Upcoming(4)); !slices.Equal(got, []string{"2026-04-30", "2026-05-31", "2026-06-30", "2026-07-31"}) {
		t.Errorf("got %v", got)
	}
	late := *rebill(t, sub, first, "2026-04-30", noMoney).Subscription
	if got := texts(late.Upcoming(2)); !slices.Equal(got, []string{"2026-05-03", "2026-05-31"}) {
		t.Errorf("past due: got %v", got)
	}
	open, err := BeginRebill(sub, first, DateOf(on(t, "2026-04-30")), on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(open.Subscription.Upcoming(1)); !slices.Equal(got, []string{"2026-05-31"}) {
		t.Errorf("while a rebill is under way: got %v", got)
	}
	ended, err := CancelSubscription(sub, CancelledByOperator, noon)
	if err != nil || len(ended.Upcoming(24)) != 0 {
		t.Errorf("cancelled: %v, %v", ended.Upcoming(24), err)
	}
	if _, err := CancelSubscription(ended, CancelledByOperator, noon); KindOf(err) != Conflict {
		t.Errorf("cancelled twice: %v", err)
	}
}
