package payment

import (
	"slices"
	"testing"
)

// takenIn is the answer of a gateway that collects later, on a day that it knows.
func takenIn(t *testing.T, due string) Outcome {
	t.Helper()
	return Outcome{Verdict: VerdictPending, Plan: Plan{DueDate: day(t, due), CreditorName: "Shop", CreditorIdentifier: "DE98ZZZ09999999999"}}
}

func TestACollectionIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	first := settle(t, submitted(t, withTerms(monthly)), takenIn(t, "2026-04-02"), noon)
	want := []EventKind{EventTransactionCreated, EventSessionCompleted, EventCollectionAnnounced}
	if kinds := kindsOf(first.Events); !slices.Equal(kinds, want) || first.Transaction.DueDate != day(t, "2026-04-02") || first.Plan.CreditorName != "Shop" {
		t.Errorf("told are %v, due on %s", kinds, first.Transaction.DueDate)
	}
	again := settle(t, first.Debit, takenIn(t, "2026-04-09"), noon)
	if len(again.Events) != 0 || again.Transaction.DueDate != day(t, "2026-04-02") {
		t.Errorf("asked again: %v, due on %s", kindsOf(again.Events), again.Transaction.DueDate)
	}
	moved := first.Debit.Move(takenIn(t, "2026-04-09").Plan, noon)
	if len(moved.Events) != 1 || moved.Transaction.DueDate != day(t, "2026-04-09") || moved.Events[0].Key == first.Events[2].Key {
		t.Errorf("moved: %v, due on %s", moved.Events, moved.Transaction.DueDate)
	}
	if free := settle(t, submitted(t, withTerms(freeTrial)), takenIn(t, "2026-04-02"), noon); slices.Contains(kindsOf(free.Events), EventCollectionAnnounced) {
		t.Error("a mandate alone is announced")
	}
	collected := takenIn(t, "2026-04-02")
	collected.Verdict = VerdictApproved
	if done := settle(t, submitted(t, withTerms(monthly)), collected, noon); slices.Contains(kindsOf(done.Events), EventCollectionAnnounced) || !done.Transaction.DueDate.IsZero() {
		t.Errorf("what is collected already is announced for %s", done.Transaction.DueDate)
	}
}

func TestOnlyARebillThatWaitsIsOwedFromADay(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	waits := Debit{Transaction: Transaction{Type: Rebill}, Subscription: &sub}
	if got := waits.OwedFrom(); got != sub.NextBillingDate {
		t.Errorf("it is owed from %s", got)
	}
	for name, d := range map[string]Debit{
		"a sale":                       {Transaction: first, Subscription: &sub},
		"of no subscription":           {Transaction: Transaction{Type: Rebill}},
		"one that its gateway has had": {Transaction: Transaction{Type: Rebill, ProcessedAt: noon}, Subscription: &sub},
	} {
		if got := d.OwedFrom(); !got.IsZero() {
			t.Errorf("%s is owed from %s", name, got)
		}
	}
}

func TestARebillIsMadeWhenItIsClaimed(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	at := on(t, "2026-04-28")
	claimed, err := BeginRebill(sub, first, day(t, "2026-04-30"), at)
	if made := claimed.Transaction; err != nil || !made.CreatedAt.Equal(at) || !made.UpdatedAt.Equal(at) {
		t.Errorf("it is made at %s and changed at %s: %v", made.CreatedAt, made.UpdatedAt, err)
	}
}

// TestARebillIsPreparedAhead opens a rebill before its day, which stays its day.
func TestARebillIsPreparedAhead(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	begin := func() Change {
		t.Helper()
		claimed, err := BeginRebill(sub, first, day(t, "2026-04-30"), on(t, "2026-04-28"))
		if err != nil {
			t.Fatal(err)
		}
		return claimed
	}
	settled := func(d Debit, o Outcome) Change {
		t.Helper()
		change, err := d.Settle(o, Policy{Dunning: DefaultDunning()}, on(t, "2026-04-28"))
		if err != nil {
			t.Fatal(err)
		}
		return change
	}
	if owed := begin().OwedFrom(); owed != day(t, "2026-04-30") {
		t.Errorf("it is owed from %s", owed)
	}
	pending := settled(begin().Debit, takenIn(t, "2026-04-30"))

	t.Run("one that was not sent keeps its day", func(t *testing.T) {
		t.Parallel()
		after := settled(begin().Debit, Outcome{Verdict: VerdictUnsent}).Subscription
		if after.NextBillingDate != sub.NextBillingDate || after.Tries != 0 || after.OpenTransactionID != nil {
			t.Errorf("%+v", after)
		}
	})
	t.Run("one that was refused for our mistake is due again on the day that was told", func(t *testing.T) {
		t.Parallel()
		ours := Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: DeclineUnknown, GatewayCode: "AC03"}}
		after := settled(pending.Debit, ours).Subscription
		if after.NextBillingDate != day(t, "2026-04-30") || after.Tries != 0 {
			t.Errorf("%+v", after)
		}
	})
	t.Run("one whose subscription goes on is not withdrawn", func(t *testing.T) {
		t.Parallel()
		if _, err := pending.Withdraw(on(t, "2026-04-29")); err == nil {
			t.Error("it was")
		}
	})
	ended := pending.Debit
	cancelled, err := CancelSubscription(*pending.Subscription, CancelledByOperator, on(t, "2026-04-29"))
	if err != nil {
		t.Fatal(err)
	}
	ended.Subscription = &cancelled
	t.Run("one whose subscription ended is withdrawn", func(t *testing.T) {
		t.Parallel()
		got, err := ended.Withdraw(on(t, "2026-04-29"))
		if err != nil || got.Transaction.Status != TransactionDeclined || got.Subscription.OpenTransactionID != nil || got.Subscription.FailedCount != 0 ||
			!slices.Equal(kindsOf(got.Events), []EventKind{EventTransactionStatusChanged}) || !got.Transaction.SettleDueAt.IsZero() {
			t.Errorf("%+v, told %v: %v", got.Transaction, kindsOf(got.Events), err)
		}
	})
	t.Run("one that a bank has is not", func(t *testing.T) {
		t.Parallel()
		sent := ended
		sent.Transaction.GatewayReference = "SD-1-1"
		if _, err := sent.Withdraw(on(t, "2026-04-29")); err == nil {
			t.Error("it was")
		}
	})
}
