package payment

import (
	"slices"
	"testing"
	"time"
)

// returned is a rebill of period 1 that was collected on the last day of April
// and came back with a code three days later.
func returned(t *testing.T, code string, policy Policy) Change {
	t.Helper()
	sub, first := subscribed(t, monthly)
	billed := rebill(t, sub, first, "2026-04-30", collected)
	back, err := billed.ChargeBack(Chargeback{ReasonCode: code, Source: ChargebackNotified}, policy, on(t, "2026-05-03"))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestReturnsActByTheirCode(t *testing.T) {
	t.Parallel()
	keeping := Policy{Dunning: DefaultDunning(), KeepsClaimed: true}
	for name, test := range map[string]struct {
		code   string
		policy Policy
		status SubscriptionStatus
		next   string
		pauses string
	}{
		"no money is tried again":                     {"AM04", usual, SubscriptionPastDue, "2026-05-06", ""},
		"no money is tried again where claims are ok": {"AM04", keeping, SubscriptionPastDue, "2026-05-06", ""},
		"no mandate ends it":                          {"MD01", usual, SubscriptionCancelled, "", ""},
		"no mandate ends it where claims are ok":      {"MD01", keeping, SubscriptionCancelled, "", ""},
		"a closed account ends it":                    {"AC04", keeping, SubscriptionCancelled, "", ""},
		"the payer's claim ends it":                   {"MD06", usual, SubscriptionCancelled, "", ""},
		"the payer's claim may be let pass":           {"MD06", keeping, SubscriptionActive, "2026-05-31", ""},
		"an unknown reason counts as a claim":         {"", usual, SubscriptionCancelled, "", ""},
		"our mistake ends nothing and pauses":         {"AC03", usual, SubscriptionActive, "2026-05-31", "AC03"},
		"our identifier's fault ends nothing":         {"BE05", usual, SubscriptionActive, "2026-05-31", "BE05"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := returned(t, test.code, test.policy)
			sub := got.Subscription
			if sub.Status != test.status || sub.NextBillingDate.String() != test.next || got.PausesRebills != test.pauses {
				t.Errorf("%s, next %s, pauses %q", sub.Status, sub.NextBillingDate, got.PausesRebills)
			}
			if got.Transaction.Status != TransactionChargedBack || sub.RevenueMinor != 2999 || sub.SuccessfulCount != 1 {
				t.Errorf("%s, revenue %s, %d billed", got.Transaction.Status, sub.RevenueMinor, sub.SuccessfulCount)
			}
			if (sub.CancelReason == CancelledByChargeback) != (test.status == SubscriptionCancelled) || sub.CancelReason != "" && sub.CancelCode != test.code {
				t.Errorf("cancelled by %q %q", sub.CancelReason, sub.CancelCode)
			}
		})
	}
}

func TestAReturnedPeriodIsCollectedAgain(t *testing.T) {
	t.Parallel()
	_, first := subscribed(t, monthly)

	t.Run("as a new transaction of the same period", func(t *testing.T) {
		t.Parallel()
		back := returned(t, "AM04", usual)
		again := rebill(t, *back.Subscription, first, "2026-05-06", collected)
		if *again.Transaction.Period != 1 || again.Transaction.Attempt.Number != 2 || again.Transaction.ID == back.Transaction.ID {
			t.Errorf("period %d, try %d", *again.Transaction.Period, again.Transaction.Attempt.Number)
		}
		if sub := again.Subscription; sub.Status != SubscriptionActive || sub.NextBillingDate.String() != "2026-05-31" || sub.RevenueMinor != 2*2999 || sub.FailedCount != 1 {
			t.Errorf("%s, next %s, revenue %s", sub.Status, sub.NextBillingDate, sub.RevenueMinor)
		}
	})

	t.Run("until no try is left", func(t *testing.T) {
		t.Parallel()
		back := returned(t, "AM04", usual)
		for _, day := range []string{"2026-05-06", "2026-05-11", "2026-05-18"} {
			again := rebill(t, *back.Subscription, first, day, collected)
			var err error
			if back, err = again.ChargeBack(Chargeback{ReasonCode: "AM04"}, usual, on(t, day)); err != nil {
				t.Fatal(err)
			}
		}
		if sub := back.Subscription; sub.Status != SubscriptionCancelled || sub.CancelReason != CancelledByDunning || sub.RevenueMinor != 2999 {
			t.Errorf("%s by %q, revenue %s", sub.Status, sub.CancelReason, sub.RevenueMinor)
		}
	})

	t.Run("once another one that is under way is collected", func(t *testing.T) {
		t.Parallel()
		sub, first := subscribed(t, monthly)
		billed := rebill(t, sub, first, "2026-04-30", collected)
		open, err := BeginRebill(*billed.Subscription, first, DateOf(on(t, "2026-05-31")), on(t, "2026-05-31"))
		if err != nil {
			t.Fatal(err)
		}
		paid := billed.Debit
		paid.Subscription = open.Subscription
		back, err := paid.ChargeBack(Chargeback{ReasonCode: "AM04"}, usual, on(t, "2026-05-31"))
		if err != nil || back.Subscription.Owed != "1" || back.Subscription.Period != 2 {
			t.Fatalf("owed %q, period %d, %v", back.Subscription.Owed, back.Subscription.Period, err)
		}
		open.Subscription = back.Subscription
		done := settle(t, open.Debit, collected, on(t, "2026-05-31"))
		if s := done.Subscription; s.Owed != "" || s.Period != 1 || s.Status != SubscriptionPastDue || s.NextBillingDate.String() != "2026-06-03" {
			t.Fatalf("owed %q, period %d, %s, next %s", s.Owed, s.Period, s.Status, s.NextBillingDate)
		}
		again := rebill(t, *done.Subscription, first, "2026-06-03", collected)
		if s := again.Subscription; s.Period != 3 || s.NextBillingDate.String() != "2026-06-30" || s.RevenueMinor != 3*2999 {
			t.Errorf("period %d, next %s, revenue %s", s.Period, s.NextBillingDate, s.RevenueMinor)
		}
	})
}

func TestAPeriodThatWaitsForItsTurnKeepsItsCount(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	billed := rebill(t, sub, first, "2026-04-30", collected)
	open, err := BeginRebill(*billed.Subscription, first, DateOf(on(t, "2026-05-31")), on(t, "2026-05-31"))
	if err != nil {
		t.Fatal(err)
	}
	open.KeepCount(2)
	if open.Subscription.Tries != 3 || open.Transaction.Attempt.Number != 3 {
		t.Errorf("after two tries that came back it is try %d, number %d", open.Subscription.Tries, open.Transaction.Attempt.Number)
	}
	open.KeepCount(1)
	if open.Subscription.Tries != 3 {
		t.Errorf("an earlier one makes it %d", open.Subscription.Tries)
	}
	paid := billed.Debit
	paid.Transaction.Attempt.Number, paid.Subscription = 1+len(usual.Dunning), open.Subscription
	back, err := paid.ChargeBack(Chargeback{ReasonCode: "AM04"}, usual, on(t, "2026-05-31"))
	if err != nil || back.Subscription.Status != SubscriptionCancelled || back.Subscription.CancelReason != CancelledByDunning {
		t.Errorf("after the last try it is %s by %q, %v", back.Subscription.Status, back.Subscription.CancelReason, err)
	}
}

func TestAReturnedFirstPaymentIsCollectedAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		terms  Terms
		amount Minor
		next   string
	}{
		"at its price":           {monthly, 2999, "2026-04-30"},
		"at the trial's price":   {paidTrial(100), 100, "2026-04-14"},
		"and not without rhythm": {Terms{PriceMinor: 2999, Currency: "EUR", BillingType: Recurring}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paid := collection(t, withTerms(test.terms))
			back, err := paid.ChargeBack(Chargeback{ReasonCode: "AM04"}, usual, noon.Add(72*time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			if test.amount == 0 {
				if back.Subscription.Status != SubscriptionActive || !back.Subscription.NextBillingDate.IsZero() {
					t.Errorf("%s, next %s", back.Subscription.Status, back.Subscription.NextBillingDate)
				}
				return
			}
			again := rebill(t, *back.Subscription, paid.Transaction, "2026-04-06", collected)
			if again.Transaction.AmountMinor != test.amount || again.Subscription.NextBillingDate.String() != test.next || again.Subscription.RevenueMinor != test.amount {
				t.Errorf("%s, next %s, revenue %s", again.Transaction.AmountMinor, again.Subscription.NextBillingDate, again.Subscription.RevenueMinor)
			}
		})
	}
}

func TestWhatWasOurFaultCostsNoTry(t *testing.T) {
	t.Parallel()
	wrongCreditor := Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: DeclineUnknown, GatewayCode: "AC03"}}
	for name, o := range map[string]Outcome{
		"never sent": {Verdict: VerdictUnsent}, "our mistake": wrongCreditor,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub, first := subscribed(t, monthly)
			got := rebill(t, sub, first, "2026-05-02", o)
			s := got.Subscription
			if s.Status != SubscriptionActive || s.Tries != 0 || s.FailedCount != 0 || s.DueAt().After(on(t, "2026-05-02")) || s.OpenTransactionID != nil {
				t.Errorf("%s after %d tries, %d failed, due %s", s.Status, s.Tries, s.FailedCount, s.DueAt())
			}
			if presented := !s.MandateUsedAt.Equal(sub.MandateUsedAt); presented != (name == "our mistake") {
				t.Errorf("the mandate was presented: %t", presented)
			}
			if got.Transaction.Status != TransactionDeclined || (got.PausesRebills == "AC03") != (name == "our mistake") {
				t.Errorf("%s, pauses %q", got.Transaction.Status, got.PausesRebills)
			}
		})
	}

	t.Run("a pending rebill refused by our mistake is due again", func(t *testing.T) {
		t.Parallel()
		sub, first := subscribed(t, monthly)
		taken := rebill(t, sub, first, "2026-04-30", Outcome{Verdict: VerdictPending})
		got := settle(t, taken.Debit, wrongCreditor, on(t, "2026-05-02"))
		if s := got.Subscription; s.Period != 1 || s.DueAt().After(on(t, "2026-05-02")) || s.Status != SubscriptionActive {
			t.Errorf("period %d, due %s, %s", s.Period, s.DueAt(), s.Status)
		}
	})

	t.Run("a pending rebill that nobody waits for any more gives no try back", func(t *testing.T) {
		t.Parallel()
		sub, first := subscribed(t, monthly)
		taken := rebill(t, sub, first, "2026-04-30", Outcome{Verdict: VerdictPending})
		another, d := NewID(), taken.Debit
		waits := *d.Subscription
		waits.OpenTransactionID, d.Subscription = &another, &waits
		if s := settle(t, d, wrongCreditor, on(t, "2026-05-02")).Subscription; s.Tries != waits.Tries || s.NextBillingDate != waits.NextBillingDate {
			t.Errorf("%d tries, next on %s", s.Tries, s.NextBillingDate)
		}
	})

	t.Run("a first payment refused by our mistake is collected later", func(t *testing.T) {
		t.Parallel()
		got := settle(t, accepted(t, withTerms(monthly)).Debit, wrongCreditor, on(t, "2026-04-02"))
		s := got.Subscription
		if s.Status != SubscriptionActive || s.Period != 0 || got.Transaction.Status != TransactionDeclined || s.DueAt().After(on(t, "2026-04-02")) {
			t.Fatalf("%s, period %d, due %s", s.Status, s.Period, s.DueAt())
		}
		if !s.UpdatedAt.Equal(on(t, "2026-04-02")) {
			t.Errorf("it was changed at %s", s.UpdatedAt)
		}
		again := rebill(t, *s, got.Transaction, "2026-04-02", collected)
		if again.Transaction.SequenceType != SequenceFirst || again.Subscription.NextBillingDate.String() != "2026-04-30" || again.Subscription.RevenueMinor != 2999 {
			t.Errorf("%s, next %s", again.Transaction.SequenceType, again.Subscription.NextBillingDate)
		}
	})
}

// TestAFreeTrialThatWasRefusedByOurMistake owes nothing: it goes on, and its first collection is that of its end.
func TestAFreeTrialThatWasRefusedByOurMistake(t *testing.T) {
	t.Parallel()
	wrongCreditor := Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: DeclineUnknown, GatewayCode: "AC03"}}
	began := accepted(t, withTerms(freeTrial)).Debit
	got := settle(t, began, wrongCreditor, on(t, "2026-04-02"))
	s := *got.Subscription
	if s.Status != SubscriptionActive || s.OpenTransactionID != nil || s.NextBillingDate != began.Subscription.TrialEndDate || !got.Transaction.IsDeclined() || got.PausesRebills != "AC03" {
		t.Fatalf("%s, next on %s, waits: %t", s.Status, s.NextBillingDate, s.OpenTransactionID != nil)
	}
	first := rebill(t, s, got.Transaction, "2026-04-14", collected)
	if first.Transaction.AmountMinor != 29_99 || first.Transaction.SequenceType != SequenceFirst || first.Subscription.NextBillingDate != first.Subscription.PeriodStart(1) {
		t.Errorf("%s as %s, next on %s", first.Transaction.AmountMinor, first.Transaction.SequenceType, first.Subscription.NextBillingDate)
	}
}

func TestLastBillingIncludesTheFirstPayment(t *testing.T) {
	t.Parallel()
	if sub, _ := subscribed(t, monthly); !sub.LastBilledAt.Equal(noon) {
		t.Errorf("after the first payment it is %s", sub.LastBilledAt)
	}
	if sub, _ := subscribed(t, freeTrial); !sub.LastBilledAt.IsZero() {
		t.Errorf("after nothing was collected it is %s", sub.LastBilledAt)
	}
	later := noon.Add(48 * time.Hour)
	if got := settle(t, accepted(t, withTerms(monthly)).Debit, collected, later).Subscription.LastBilledAt; !got.Equal(later) {
		t.Errorf("after a late settlement it is %s", got)
	}
}

func TestAChargebackProvesTheCollection(t *testing.T) {
	t.Parallel()
	approved, back := EventTransactionStatusChanged, EventChargebackCreated
	for _, source := range ChargebackSources {
		t.Run("of a pending payment, by "+string(source), func(t *testing.T) {
			t.Parallel()
			got, err := accepted(t, withTerms(monthly)).ChargeBack(Chargeback{Source: source, ReasonCode: "MD06"}, usual, noon)
			if err != nil || !slices.Equal(kindsOf(got.Events), []EventKind{approved, back, approved}) {
				t.Fatalf("told %v, %v", kindsOf(got.Events), err)
			}
			if first, last := got.Events[0], got.Events[2]; first.Status != TransactionApproved || last.PreviousStatus != TransactionApproved || last.Status != TransactionChargedBack {
				t.Errorf("told %s, then %s after %s", first.Status, last.Status, last.PreviousStatus)
			}
			if got.Subscription.RevenueMinor != 0 || got.Order.Status != OrderChargedBack {
				t.Errorf("revenue %s, order %s", got.Subscription.RevenueMinor, got.Order.Status)
			}
		})
		t.Run("of one that awaits verification, by "+string(source), func(t *testing.T) {
			t.Parallel()
			got, err := awaiting(t, withTerms(monthly)).ChargeBack(Chargeback{Source: source}, usual, noon)
			if source != ChargebackNotified {
				if KindOf(err) != Conflict {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || got.Session.Status != SessionCompleted || got.Transaction.Status != TransactionChargedBack ||
				!slices.Equal(kindsOf(got.Events), []EventKind{EventTransactionCreated, EventSessionCompleted, back, approved}) {
				t.Errorf("%s, told %v, %v", got.Session.Status, kindsOf(got.Events), err)
			}
		})
	}
}
