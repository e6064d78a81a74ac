package payment

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// january is a subscription of the 31st of January whose first rebill is to come.
func january(t *testing.T) Subscription {
	t.Helper()
	return Subscription{
		ID: NewID(), TenantID: NewID(), Status: SubscriptionActive, AmountMinor: 2999, Currency: "EUR", Frequency: Monthly,
		AnchorDate: DateOf(on(t, "2026-01-31")), NextBillingDate: DateOf(on(t, "2026-02-28")), Period: 1,
		MandateUsedAt: on(t, "2026-01-31"), SequenceType: SequenceRecurring,
	}
}

func TestSteeringHasConditions(t *testing.T) {
	t.Parallel()
	now := on(t, "2026-02-10")
	amount := Minor(100)
	actions := map[string]func(Subscription) (Subscription, error){
		"end":    func(s Subscription) (Subscription, error) { return CancelAtPeriodEnd(s, CancelledByMerchant, now) },
		"pause":  func(s Subscription) (Subscription, error) { return PauseSubscription(s, now) },
		"resume": func(s Subscription) (Subscription, error) { return ResumeSubscription(s, now) },
		"price":  func(s Subscription) (Subscription, error) { return ChangeTerms(s, NewTerms{AmountMinor: &amount}, now) },
		"date": func(s Subscription) (Subscription, error) {
			return ChangeTerms(s, NewTerms{NextBillingDate: day(t, "2026-03-15")}, now)
		},
	}
	open := NewID()
	for name, test := range map[string]struct {
		change  func(*Subscription)
		allowed string
	}{
		"active":       {func(*Subscription) {}, "end pause price date"},
		"past due":     {func(s *Subscription) { s.Status, s.Tries = SubscriptionPastDue, 1 }, "pause price"},
		"being billed": {func(s *Subscription) { s.OpenTransactionID, s.Tries = &open, 1 }, "end pause price"},
		"first paid":   {func(s *Subscription) { s.OpenTransactionID = &open }, "end pause price date"},
		"paused":       {func(s *Subscription) { s.PausedAt, s.NextBillingDate = now, Date{} }, "resume price"},
		"ending": {func(s *Subscription) {
			s.EndsBy, s.EndsOn, s.NextBillingDate = CancelledByMerchant, s.NextBillingDate, Date{}
		}, "resume price"},
		"without rhythm": {func(s *Subscription) { s.Frequency, s.NextBillingDate = "", Date{} }, "pause price"},
		"cancelled":      {func(s *Subscription) { s.Status, s.NextBillingDate = SubscriptionCancelled, Date{} }, ""},
	} {
		for action, do := range actions {
			s := january(t)
			test.change(&s)
			_, err := do(s)
			if want := slices.Contains(strings.Fields(test.allowed), action); (err == nil) != want || err != nil && KindOf(err) != Conflict {
				t.Errorf("%s while %s: %v", action, name, err)
			}
		}
	}
}

func TestASubscriptionEndsWithItsPeriod(t *testing.T) {
	t.Parallel()
	s, err := CancelAtPeriodEnd(january(t), CancelledByOperator, on(t, "2026-02-10"))
	if err != nil || s.EndsOn != day(t, "2026-02-28") || !s.NextBillingDate.IsZero() || s.Status != SubscriptionActive || !s.DueAt().Equal(on(t, "2026-02-28")) {
		t.Fatalf("it ends on %s, next on %q, due at %s: %v", s.EndsOn, s.NextBillingDate, s.DueAt(), err)
	}
	if ended, err := s.EndWithPeriod(on(t, "2026-02-28").Add(-time.Microsecond)); ended || err != nil {
		t.Errorf("it ends before its day: %v", err)
	}
	back, err := ResumeSubscription(s, on(t, "2026-02-12"))
	if err != nil || back.NextBillingDate != day(t, "2026-02-28") || back.EndsBy != "" {
		t.Errorf("taken back, it is billed on %q: %v", back.NextBillingDate, err)
	}
	if ended, err := s.EndWithPeriod(on(t, "2026-02-28")); !ended || err != nil || s.Status != SubscriptionCancelled || s.CancelReason != CancelledByOperator || !s.EndsOn.IsZero() {
		t.Errorf("on its day it is %s by %s: %v", s.Status, s.CancelReason, err)
	}
}

func TestResumingBillsNoPeriodThatHasBegun(t *testing.T) {
	t.Parallel()
	paused, err := PauseSubscription(january(t), on(t, "2026-02-10"))
	if err != nil || !paused.NextBillingDate.IsZero() || paused.DueAt().Year() != 2029 {
		t.Fatalf("paused, it is due at %s: %v", paused.DueAt(), err)
	}
	for at, want := range map[string]string{"2026-02-20": "2026-02-28", "2026-02-28": "2026-02-28", "2026-03-01": "2026-03-31", "2026-06-10": "2026-06-30"} {
		if back, err := ResumeSubscription(paused, on(t, at)); err != nil || back.NextBillingDate != day(t, want) || back.NextBillingDate != back.PeriodStart(back.Period) {
			t.Errorf("resumed on %s it is billed on %q in period %d: %v", at, back.NextBillingDate, back.Period, err)
		}
	}
	owing := january(t)
	owing.Status, owing.Tries = SubscriptionPastDue, 1
	owing, _ = PauseSubscription(owing, on(t, "2026-03-02"))
	if back, err := ResumeSubscription(owing, on(t, "2026-03-09")); err != nil || back.NextBillingDate != day(t, "2026-03-09") || back.Period != 1 {
		t.Errorf("one that owes is tried on %q: %v", back.NextBillingDate, err)
	}
}

// TestAFirstPaymentThatIsPendingIsNoPeriod: the period after it is the next one, whatever is done meanwhile.
func TestAFirstPaymentThatIsPendingIsNoPeriod(t *testing.T) {
	t.Parallel()
	paid := accepted(t, withTerms(monthly))
	sub, now := *paid.Subscription, noon.Add(time.Hour)
	if next := sub.Upcoming(2); next[0] != day(t, "2026-04-30") || next[1] != day(t, "2026-05-31") {
		t.Errorf("it is billed on %v", next)
	}
	ending, err := CancelAtPeriodEnd(sub, CancelledByMerchant, now)
	if err != nil || ending.EndsOn != day(t, "2026-04-30") || !ending.NextBillingDate.IsZero() {
		t.Errorf("it ends on %s and is billed on %q before: %v", ending.EndsOn, ending.NextBillingDate, err)
	}
	if back, err := ResumeSubscription(ending, now); err != nil || back.NextBillingDate != day(t, "2026-04-30") {
		t.Errorf("taken back, it is billed on %q: %v", back.NextBillingDate, err)
	}
	paused, err := PauseSubscription(sub, now)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ResumeSubscription(paused, now)
	if err != nil || back.NextBillingDate != day(t, "2026-04-30") || back.Period != 1 {
		t.Errorf("resumed, it is billed on %q in period %d: %v", back.NextBillingDate, back.Period, err)
	}
	settled := paid.Debit
	settled.Subscription = &ending
	over := settle(t, settled, collected, on(t, "2026-04-03")).Subscription
	if !over.NextBillingDate.IsZero() || !over.DueAt().Equal(on(t, "2026-04-30")) {
		t.Errorf("once it is settled there is something to do at %s, and it is billed on %q", over.DueAt(), over.NextBillingDate)
	}
}

// TestAPausedSubscriptionHasNoNextTry: the refusal of a rebill that was under way waits for whoever resumes it.
func TestAPausedSubscriptionHasNoNextTry(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	claimed, err := BeginRebill(sub, first, day(t, "2026-04-30"), on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	paused, err := PauseSubscription(*claimed.Subscription, on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	claimed.Subscription = &paused
	if s := settle(t, claimed.Debit, noMoney, on(t, "2026-04-30")).Subscription; s.Status != SubscriptionPastDue || !s.NextBillingDate.IsZero() {
		t.Errorf("it is %s and tried again on %s", s.Status, s.NextBillingDate)
	}
	tried, c := Minor(1234), claimed
	if c.KeepPrice(nil); c.Transaction.AmountMinor != sub.AmountMinor {
		t.Errorf("without a try before, the price is %s", c.Transaction.AmountMinor)
	}
	if c.KeepPrice(&tried); c.Transaction.AmountMinor != tried {
		t.Errorf("tried before at %s, the price is %s", tried, c.Transaction.AmountMinor)
	}
}

func TestAMovedRhythm(t *testing.T) {
	t.Parallel()
	s, err := ChangeTerms(january(t), NewTerms{NextBillingDate: day(t, "2026-03-15")}, on(t, "2026-02-10"))
	if err != nil {
		t.Fatal(err)
	}
	for period, want := range map[int]string{0: "2026-01-31", 1: "2026-03-15", 2: "2026-04-15", 13: "2027-03-15"} {
		if got := s.PeriodStart(period); got != day(t, want) {
			t.Errorf("period %d begins on %s, want %s", period, got, want)
		}
	}
	if s.Anchor() != day(t, "2026-03-15") || RebillReference(s, 1) != RebillReference(unmoved(t, s), 1) {
		t.Error("a backup from before would give its debit another name")
	}
	for _, bad := range []string{"2026-02-10", "2026-02-09", "2029-02-01"} {
		if _, err := ChangeTerms(january(t), NewTerms{NextBillingDate: day(t, bad)}, on(t, "2026-02-10")); KindOf(err) != Invalid {
			t.Errorf("moved to %s: %v", bad, err)
		}
	}
	if _, err := ChangeTerms(january(t), NewTerms{}, on(t, "2026-02-10")); KindOf(err) != Invalid {
		t.Errorf("nothing changes: %v", err)
	}
}

// unmoved is the same subscription before its rhythm was moved.
func unmoved(t *testing.T, s Subscription) Subscription {
	t.Helper()
	before := january(t)
	before.ID = s.ID
	return before
}

func TestNoTwoChangesHaveTheSameMark(t *testing.T) {
	t.Parallel()
	now := on(t, "2026-02-10")
	first, _ := PauseSubscription(january(t), now)
	second, _ := ResumeSubscription(first, now)
	if !second.SteeredAt.After(first.SteeredAt) {
		t.Errorf("%s is not after %s", second.SteeredAt, first.SteeredAt)
	}
}
