package payment

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// renewing is a subscription of a price a month, and the attempt by which its payer gives another account.
func renewing(t *testing.T, change ...func(*Subscription)) (Subscription, Debit) {
	t.Helper()
	bought := settle(t, submitted(t, withTerms(monthly)), Outcome{Verdict: VerdictApproved}, noon)
	sub := *bought.Subscription
	for _, c := range change {
		c(&sub)
	}
	s, err := NewMandateSession(sub, *bought.Session, noon)
	if err != nil {
		t.Fatal(err)
	}
	begun, err := Begin(s, aLead(s), nil, aSubmission(t), noon)
	if err != nil {
		t.Fatal(err)
	}
	d := begun.Debit
	d.Subscription = &sub
	return sub, d
}

func TestTheSessionOfANewMandate(t *testing.T) {
	t.Parallel()
	reference, offer := "order-7", NewID()
	bought := accepted(t, withTerms(monthly), func(s *Session) {
		s.TenantReferenceID, s.CustomerIP, s.OfferID = &reference, "192.0.2.1", &offer
	})
	sub, first := *bought.Subscription, *bought.Session
	sub.AmountMinor, sub.GatewayID, sub.LeadID = 1999, NewID(), NewID()
	later := noon.Add(time.Hour)
	s, err := NewMandateSession(sub, first, later)
	if err != nil {
		t.Fatal(err)
	}
	if s.ID == first.ID || s.Status != SessionPending || !s.HoldsLead || s.MandateReference == first.MandateReference || s.MandateReference == "" {
		t.Errorf("it begins as %v with mandate %s", s, s.MandateReference)
	}
	if !same(s.RenewsID, &sub.ID) || s.GatewayID != sub.GatewayID || s.LeadID != sub.LeadID || !same(s.OfferID, &offer) {
		t.Errorf("it belongs to %v, gateway %s, lead %s, offer %v", s.RenewsID, s.GatewayID, s.LeadID, s.OfferID)
	}
	if s.AttemptsUsed != 0 || s.OpenTransactionID != nil || s.LastTransactionID != nil || s.TenantReferenceID != nil || s.CustomerIP != "" {
		t.Error("it carries on what happened in the purchase")
	}
	if !s.CreatedAt.Equal(later) || !s.UpdatedAt.Equal(later) {
		t.Errorf("made at %s, changed at %s", s.CreatedAt, s.UpdatedAt)
	}
	want := Terms{PriceMinor: 1999, Currency: "EUR", BillingType: TrialRecurring, Frequency: Monthly, TrialUnit: TrialDay, TrialPeriod: 30}
	if s.Terms != want || s.Terms.DueMinor() != 0 {
		t.Errorf("its terms are %+v", s.Terms)
	}
	sub.Status = SubscriptionCancelled
	if _, err := NewMandateSession(sub, first, later); KindOf(err) != Conflict {
		t.Errorf("a subscription that has ended gets another mandate: %v", err)
	}
}

func TestDaysUntilTheNextBilling(t *testing.T) {
	t.Parallel()
	for date, want := range map[string]int{"2026-03-30": 1, "2026-03-31": 1, "2026-04-01": 1, "2026-04-02": 2, "2126-01-01": MaxTrialPeriod} {
		if got := daysUntil(day(t, date), noon); got != want {
			t.Errorf("until %s: %d days, want %d", date, got, want)
		}
	}
	if got := daysUntil(Date{}, noon); got != 1 {
		t.Errorf("without a date: %d days", got)
	}
}

func TestANewMandateCountsOnceItIsApproved(t *testing.T) {
	t.Parallel()
	later := noon.AddDate(0, 0, 2)
	pending := Outcome{Verdict: VerdictPending, GatewayReference: "GW-9"}
	approved := Outcome{Verdict: VerdictApproved}
	for name, test := range map[string]struct {
		outcomes []Outcome
		renewed  bool
	}{
		"approved at once": {[]Outcome{approved}, true},
		"taken in":         {[]Outcome{pending}, false},
		"approved later":   {[]Outcome{pending, approved}, true},
		"refused":          {[]Outcome{noMoney}, false},
		"refused later":    {[]Outcome{pending, noMoney}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub, d := renewing(t)
			if d.Transaction.Type != Mandate || d.Transaction.AmountMinor != 0 || d.Transaction.SequenceType != "" || !same(d.Transaction.SubscriptionID, &sub.ID) {
				t.Fatalf("the attempt is %v of %v", d.Transaction, d.Transaction.SubscriptionID)
			}
			for _, o := range test.outcomes {
				d = settle(t, d, o, later).Debit
			}
			got := *d.Subscription
			if got.ID != sub.ID || got.Status != SubscriptionActive || got.NextBillingDate != sub.NextBillingDate || !got.LastBilledAt.Equal(sub.LastBilledAt) {
				t.Errorf("it is %s, billed next %s, last %s", got.Status, got.NextBillingDate, got.LastBilledAt)
			}
			if !test.renewed {
				if got.MandateReference != sub.MandateReference || got.MandateSessionID != nil || got.SequenceType != sub.SequenceType || !got.SteeredAt.Equal(sub.SteeredAt) {
					t.Errorf("it has another mandate: %+v", got)
				}
				return
			}
			if got.MandateReference != d.Transaction.MandateReference || !same(got.MandateSessionID, d.Transaction.SessionID) {
				t.Errorf("its mandate is %s of %v", got.MandateReference, got.MandateSessionID)
			}
			if got.SequenceType != SequenceFirst || !got.MandateUsedAt.Equal(later) || !got.SteeredAt.Equal(later) {
				t.Errorf("the next is %s, its mandate used at %s, changed at %s", got.SequenceType, got.MandateUsedAt, got.SteeredAt)
			}
		})
	}
}

// TestTheLastMandateCounts has a payer give an account that the gateway confirms some days later, and another one
// meanwhile, as the first was the wrong one, or as the time to confirm it at the bank was over.
func TestTheLastMandateCounts(t *testing.T) {
	t.Parallel()
	for _, first := range []Verdict{VerdictPending, VerdictVerify} {
		approved := Outcome{Verdict: VerdictApproved}
		_, wrong := renewing(t)
		wrong = settle(t, wrong, Outcome{Verdict: first, GatewayReference: "GW-9"}, noon).Debit
		_, right := renewing(t)
		right.Subscription = wrong.Subscription
		right = settle(t, right, approved, noon.Add(time.Hour)).Debit
		chosen := *right.Subscription
		if chosen.MandateReference != right.Transaction.MandateReference {
			t.Fatalf("its mandate is %s", chosen.MandateReference)
		}
		wrong.Subscription = &chosen
		late := settle(t, wrong, approved, noon.AddDate(0, 0, 2))
		if late.Transaction.Status != TransactionApproved {
			t.Errorf("%s: the first mandate is %s", first, late.Transaction.Status)
		}
		got := late.Subscription
		if got.MandateReference != chosen.MandateReference || !same(got.MandateSessionID, right.Transaction.SessionID) ||
			!got.MandateUsedAt.Equal(chosen.MandateUsedAt) || !got.SteeredAt.Equal(chosen.SteeredAt) {
			t.Errorf("%s: its mandate is %s of %v, want that which was given last, %s", first, got.MandateReference, got.MandateSessionID, chosen.MandateReference)
		}
		_, third := renewing(t)
		third.Subscription = got
		if after := settle(t, third, approved, noon.AddDate(0, 0, 3)).Subscription; after.MandateReference != third.Transaction.MandateReference {
			t.Errorf("%s: its mandate is %s after a further one, want %s", first, after.MandateReference, third.Transaction.MandateReference)
		}
	}
}

// TestTheLastMandateCountsWhateverTheClocksSay: the account before it was given at a machine whose clock is an hour ahead.
func TestTheLastMandateCountsWhateverTheClocksSay(t *testing.T) {
	t.Parallel()
	ahead := NewID()
	at := uint64(time.Now().Add(time.Hour).UnixMilli())
	copy(ahead[:6], binary.BigEndian.AppendUint64(nil, at)[2:])
	wrong := NewMandateReference()
	before, right := renewing(t, func(s *Subscription) { s.MandateSessionID, s.MandateReference = &ahead, wrong })
	if id := *right.Transaction.SessionID; bytes.Compare(id[:], ahead[:]) <= 0 || id.Version() != 7 {
		t.Errorf("the session that is made later is %s, the one before it %s", id, ahead)
	}
	after := settle(t, right, Outcome{Verdict: VerdictApproved}, noon.Add(time.Minute)).Subscription
	if after.MandateReference == before.MandateReference || after.MandateReference != right.Transaction.MandateReference {
		t.Errorf("its mandate is %s, want the one that was given last, %s", after.MandateReference, right.Transaction.MandateReference)
	}
}

func TestWhatIsOwedIsTriedUnderTheNewMandate(t *testing.T) {
	t.Parallel()
	open := NewID()
	for name, test := range map[string]struct {
		change func(*Subscription)
		want   string
	}{
		"at once when it is past due":        {func(s *Subscription) { s.Status = SubscriptionPastDue }, "2026-03-31"},
		"not beside a try that is under way": {func(s *Subscription) { s.Status, s.OpenTransactionID = SubscriptionPastDue, &open }, "2026-04-30"},
		"not before it is due":               {func(*Subscription) {}, "2026-04-30"},
	} {
		_, d := renewing(t, test.change)
		if got := settle(t, d, Outcome{Verdict: VerdictApproved}, noon).Subscription.NextBillingDate; got.String() != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	sub, d := renewing(t)
	d.Subscription.Status = SubscriptionCancelled
	if got := settle(t, d, Outcome{Verdict: VerdictApproved}, noon).Subscription; got.MandateReference != sub.MandateReference {
		t.Error("a subscription that has ended meanwhile has another mandate")
	}
}

// renewed is the same subscription after its payer has given another account.
func renewed(sub Subscription) *Subscription {
	id := NewID()
	sub.MandateReference, sub.MandateSessionID, sub.SequenceType = NewMandateReference(), &id, SequenceFirst
	return &sub
}

func TestWhatComesBackFromTheOldAccount(t *testing.T) {
	t.Parallel()
	back := on(t, "2026-05-02")
	for name, test := range map[string]struct {
		reason string
		try    int
		status SubscriptionStatus
		next   string
	}{
		"it was closed":             {"AC04", 1, SubscriptionPastDue, "2026-05-05"},
		"it is unknown":             {"AC01", 1, SubscriptionPastDue, "2026-05-05"},
		"it was closed, after all":  {"AC04", 4, SubscriptionPastDue, "2026-05-09"},
		"it was empty, after all":   {"AM04", 4, SubscriptionPastDue, "2026-05-09"},
		"its mandate is gone":       {"MD01", 1, SubscriptionActive, "2026-05-31"},
		"the payer claims it":       {"MD06", 1, SubscriptionCancelled, "none"},
		"nobody knows what that is": {"XXXX", 1, SubscriptionCancelled, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub, first := subscribed(t, monthly)
			paid := rebill(t, sub, first, "2026-04-30", collected).Debit
			paid.Transaction.Attempt.Number, paid.Subscription = test.try, renewed(*paid.Subscription)
			got, err := paid.ChargeBack(Chargeback{ReasonCode: test.reason}, usual, back)
			if err != nil {
				t.Fatal(err)
			}
			next := got.Subscription.NextBillingDate.String()
			if got.Subscription.NextBillingDate.IsZero() {
				next = "none"
			}
			if got.Subscription.Status != test.status || next != test.next {
				t.Errorf("it is %s, billed next %s; want %s, %s", got.Subscription.Status, next, test.status, test.next)
			}
		})
	}
}

func TestWhatTheOldAccountRefuses(t *testing.T) {
	t.Parallel()
	closed := Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: AccountClosed}}
	for name, test := range map[string]struct {
		outcome Outcome
		tries   int
		isOver  bool
	}{
		"it is closed":                            {closed, 0, false},
		"it is empty at the last try":             {noMoney, 3, false},
		"it is closed, and the subscription over": {closed, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub, first := subscribed(t, monthly)
			sub.Tries = test.tries
			open, err := BeginRebill(sub, first, day(t, "2026-04-30"), on(t, "2026-04-30"))
			if err != nil {
				t.Fatal(err)
			}
			open.Subscription = renewed(*open.Subscription)
			if test.isOver {
				over, err := CancelSubscription(*open.Subscription, CancelledByMerchant, noon)
				if err != nil {
					t.Fatal(err)
				}
				open.Subscription = &over
			}
			got := settle(t, open.Debit, test.outcome, on(t, "2026-05-01")).Subscription
			if test.isOver != got.IsOver() || !test.isOver && (got.Status != SubscriptionPastDue || got.NextBillingDate.String() != "2026-05-01" || got.SequenceType != SequenceFirst) {
				t.Fatalf("it is %s, billed next %s as %s", got.Status, got.NextBillingDate, got.SequenceType)
			}
			if test.isOver {
				return
			}
			again := rebill(t, *got, first, "2026-05-01", closed)
			if again.Transaction.MandateReference != got.MandateReference || !again.Subscription.IsOver() {
				t.Errorf("what the new account refuses leaves it %s", again.Subscription.Status)
			}
		})
	}
}

// TestTheOldAccountRefusesTheFirstPayment, which a batch gateway had taken in, after the payer has given another one.
func TestTheOldAccountRefusesTheFirstPayment(t *testing.T) {
	t.Parallel()
	refused := on(t, "2026-04-03")
	for name, test := range map[string]struct {
		terms  Terms
		change func(*Subscription)
		status SubscriptionStatus
		next   string
		owes   Minor
	}{
		"it is tried at once":                   {monthly, func(*Subscription) {}, SubscriptionPastDue, "2026-04-03", 29_99},
		"of a trial, at its price":              {paidTrial(100), func(*Subscription) {}, SubscriptionPastDue, "2026-04-03", 1_00},
		"of a free trial nothing is owed":       {freeTrial, func(*Subscription) {}, SubscriptionActive, "2026-04-14", 0},
		"a paused one waits for who resumes it": {monthly, func(s *Subscription) { s.PausedAt, s.NextBillingDate = noon, Date{} }, SubscriptionPastDue, "", 0},
		"what is never billed by itself ends": {
			Terms{PriceMinor: 2999, Currency: "EUR", BillingType: Recurring}, func(*Subscription) {}, SubscriptionCancelled, "", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paid := accepted(t, withTerms(test.terms)).Debit
			paid.Subscription = renewed(*paid.Subscription)
			test.change(paid.Subscription)
			got := settle(t, paid, Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: AccountClosed}}, refused)
			sub := *got.Subscription
			if sub.Status != test.status || sub.NextBillingDate.String() != test.next && !(test.next == "" && sub.NextBillingDate.IsZero()) ||
				sub.OpenTransactionID != nil || sub.SequenceType != SequenceFirst || got.Order.Status != OrderFailed || !got.Transaction.IsDeclined() {
				t.Fatalf("it is %s, billed next %s as %s", sub.Status, sub.NextBillingDate, sub.SequenceType)
			}
			if test.owes == 0 {
				return
			}
			again := rebill(t, sub, paid.Transaction, "2026-04-03", collected)
			if again.Transaction.AmountMinor != test.owes || again.Transaction.MandateReference != sub.MandateReference {
				t.Errorf("it is tried with %s under %s", again.Transaction.AmountMinor, again.Transaction.MandateReference)
			}
			if after := again.Subscription; after.Status != SubscriptionActive || after.NextBillingDate != after.PeriodStart(paid.Subscription.Period) || after.RevenueMinor != test.owes {
				t.Errorf("then it is %s and billed on %s", after.Status, after.NextBillingDate)
			}
		})
	}
}

// TestWhatIsWithdrawnSaysNothingOfTheNewMandate has a payer give another account between the announcement of a rebill
// and its file, and the subscription paused then: the new mandate was not used yet.
func TestWhatIsWithdrawnSaysNothingOfTheNewMandate(t *testing.T) {
	t.Parallel()
	pending := announced(t)
	later, session := on(t, "2026-04-29"), NewID()
	renewal := Change{Debit: Debit{
		Transaction:  Transaction{Type: Mandate, SessionID: &session, MandateReference: "MND-NEW"},
		Subscription: pending.Subscription,
	}}
	renewal.renewMandate(later)
	paused, err := PauseSubscription(*pending.Subscription, later)
	if err != nil {
		t.Fatal(err)
	}
	d := pending.Debit
	d.Subscription = &paused
	got, err := d.Withdraw(later)
	if err != nil {
		t.Fatal(err)
	}
	if after := got.Subscription; after.SequenceType != SequenceFirst || after.MandateReference != "MND-NEW" || after.Tries != 0 {
		t.Errorf("the next collection is %s under %s, try %d", after.SequenceType, after.MandateReference, after.Tries+1)
	}
}
