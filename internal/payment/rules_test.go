package payment

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sepad/internal/sepa"
)

func TestAnAttemptTakesTheSessionsReference(t *testing.T) {
	t.Parallel()
	ofSession, ofForm := "session-7", "form-8"
	s := aSession(func(s *Session) { s.TenantReferenceID = &ofSession })
	for name, test := range map[string]struct {
		said     *string
		want     string
		inherits bool
	}{
		"where the form says none": {nil, ofSession, true},
		"unless the form says one": {&ofForm, ofForm, false},
	} {
		sub := aSubmission(t)
		sub.TenantReferenceID = test.said
		begun, err := Begin(s, aLead(s), nil, sub, noon)
		if err != nil {
			t.Fatal(err)
		}
		if got := begun.Transaction; *got.TenantReferenceID != test.want || got.InheritsReference != test.inherits {
			t.Errorf("%s: %q, inherited %t", name, *got.TenantReferenceID, got.InheritsReference)
		}
	}
	later := noon.Add(time.Minute)
	begun, err := Begin(aSession(), aLead(s), nil, aSubmission(t), later)
	if err != nil {
		t.Fatal(err)
	}
	if begun.Transaction.TenantReferenceID != nil || begun.Transaction.InheritsReference || !begun.Session.UpdatedAt.Equal(later) {
		t.Errorf("where nobody says one: %+v, changed at %s", begun.Transaction.TenantReferenceID, begun.Session.UpdatedAt)
	}
}

func TestAnotherAttemptTakesTheOrderBack(t *testing.T) {
	t.Parallel()
	declined := settle(t, submitted(t), Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: InsufficientFunds}}, noon)
	later := noon.Add(time.Minute)
	again, err := Begin(*declined.Session, aLead(*declined.Session), declined.Order, aSubmission(t), later)
	if err != nil {
		t.Fatal(err)
	}
	if again.Order.ID != declined.Order.ID || again.Order.Status != OrderSubmitting || !again.Order.UpdatedAt.Equal(later) {
		t.Errorf("the order is %+v", again.Order)
	}
	if again.Before.Order == nil || again.Before.Order.Status != declined.Order.Status {
		t.Errorf("the change does not know what the order was: %+v", again.Before.Order)
	}
	paid := *declined.Order
	paid.Status = OrderCompleted
	if _, err := Begin(*declined.Session, aLead(*declined.Session), &paid, aSubmission(t), later); KindOf(err) != Conflict {
		t.Errorf("an order that is paid is submitted again: %v", err)
	}
}

func TestAnAttemptNeedsAPayerWhoCanBeDebited(t *testing.T) {
	t.Parallel()
	s := aSession()
	sub, lead := aSubmission(t), aLead(s)
	var err error
	if sub.Instrument.IBAN, err = sepa.ParseIBAN("GB29NWBK60161331926819"); err != nil {
		t.Fatal(err)
	}
	if _, err := Begin(s, lead, nil, sub, noon); err == nil {
		t.Error("an account outside the EEA is debited without an address")
	}
}

func TestAskingAgainIsAChangeOfTheTransaction(t *testing.T) {
	t.Parallel()
	for _, phase := range []Phase{PhaseVerify, PhaseExpire} {
		d, at := inPhase(t, phase)
		if !d.Transaction.UpdatedAt.Equal(at) || !d.Session.UpdatedAt.Equal(at) || d.Transaction.Attempt.LookupCount != 0 {
			t.Errorf("%s: changed at %s and %s", phase, d.Transaction.UpdatedAt, d.Session.UpdatedAt)
		}
	}
}

func TestAChargebackOfAnUnknownPaymentIsKept(t *testing.T) {
	t.Parallel()
	reported := noon.Add(-time.Hour)
	for name, test := range map[string]struct {
		reported, want time.Time
	}{
		"with its own date":            {reported, reported},
		"with today's, if it has none": {time.Time{}, noon},
	} {
		c := RecordUnlinked(Chargeback{ReasonCode: "MD06", ReportedAt: test.reported}, noon)
		got := c.Chargeback
		if !got.ReportedAt.Equal(test.want) || !got.CreatedAt.Equal(noon) || !got.UpdatedAt.Equal(noon) || got.ID == (Chargeback{}).ID {
			t.Errorf("%s: %+v", name, got)
		}
		if len(c.Events) != 1 || c.Events[0].Kind != EventChargebackCreated || !strings.HasSuffix(c.Events[0].Key, got.ID.String()) {
			t.Errorf("%s: told %+v", name, c.Events)
		}
	}
}

func TestAKnownChargebackFindsItsPayment(t *testing.T) {
	t.Parallel()
	known := *RecordUnlinked(Chargeback{ReasonCode: "MD06"}, noon).Chargeback
	later := noon.Add(time.Hour)
	c, err := accepted(t, withTerms(monthly)).LinkChargeback(known, nil, usual, later)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Chargeback; got.ID != known.ID || !same(got.TransactionID, &c.Transaction.ID) || got.AmountMinor != 2999 || !got.UpdatedAt.Equal(later) {
		t.Errorf("it is completed as %+v", got)
	}
	if c.Transaction.Status != TransactionChargedBack || c.Subscription.Status != SubscriptionCancelled || slices.Contains(kindsOf(c.Events), EventChargebackCreated) {
		t.Errorf("%s, subscription %s, told %v", c.Transaction.Status, c.Subscription.Status, kindsOf(c.Events))
	}
	if _, err := c.LinkChargeback(known, c.Chargeback, usual, later); err == nil {
		t.Error("it is taken back twice")
	}
}

func TestAKnownChargebackOfMoreThanWasPaidIsNoOneOfAPaymentThatCameBack(t *testing.T) {
	t.Parallel()
	back := accepted(t).Debit
	back.Transaction.Status = TransactionChargedBack
	for amount, isTaken := range map[Minor]bool{back.Transaction.AmountMinor: true, back.Transaction.AmountMinor + 1: false} {
		known := *RecordUnlinked(Chargeback{ReasonCode: "MD06", AmountMinor: amount}, noon).Chargeback
		if _, err := back.LinkChargeback(known, nil, usual, noon); err == nil != isTaken {
			t.Errorf("%s of %s: %v", amount, back.Transaction.AmountMinor, err)
		}
	}
}

func TestOfAPaymentUnderWayOnlyItsGatewayReports(t *testing.T) {
	t.Parallel()
	for _, source := range ChargebackSources {
		c, err := submitted(t).ChargeBack(Chargeback{Source: source, ReasonCode: "MD06"}, usual, noon)
		if isGateway := source == ChargebackNotified; (err == nil) != isGateway || isGateway && c.Transaction.Status != TransactionChargedBack {
			t.Errorf("by %s: %s, %v", source, c.Transaction.Status, err)
		}
	}
}

func TestAReportIsDatedFromThePayment(t *testing.T) {
	t.Parallel()
	begun := submitted(t)
	begun.Transaction.CreatedAt, begun.Transaction.ProcessedAt = noon.AddDate(0, 0, -5), noon
	report := Chargeback{ReportedAt: noon.AddDate(0, 0, -2), Source: ChargebackNotified}
	if _, err := begun.ChargeBackByHand(report, usual, noon); err == nil {
		t.Error("it was reported before the payment was processed")
	}
	begun.Transaction.ProcessedAt = time.Time{}
	if _, err := begun.ChargeBackByHand(report, usual, noon); err != nil {
		t.Errorf("not processed, it counts from the day on which it was begun: %v", err)
	}
}

func TestThePayersCountryGoesBeforeTheAccounts(t *testing.T) {
	t.Parallel()
	paid := paidFor(t)
	paid.LeadCountry = "AT"
	if c, err := paid.ChargeBack(Chargeback{ReasonCode: "MD06"}, usual, noon); err != nil || c.Chargeback.Country != "AT" {
		t.Errorf("it is %v, %v", c.Chargeback, err)
	}
}

func TestARefusedRebillFollowsTheBanksCode(t *testing.T) {
	t.Parallel()
	refusal := func(code DeclineCode, bank string) Outcome {
		return Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: code, GatewayCode: bank}}
	}
	final := refusal(InsufficientFunds, "")
	final.Final = true
	for name, test := range map[string]struct {
		answer Outcome
		status SubscriptionStatus
	}{
		"no money":                           {refusal(InsufficientFunds, "AM04"), SubscriptionPastDue},
		"no code that tells":                 {refusal(DeclineUnknown, ""), SubscriptionPastDue},
		"the gateway was away":               {refusal(GatewayUnavailable, "MD01"), SubscriptionPastDue},
		"the gateway says it is final":       {final, SubscriptionCancelled},
		"a closed account, by our code":      {refusal(AccountClosed, ""), SubscriptionCancelled},
		"no mandate, by the bank's code":     {refusal(DeclineUnknown, "MD01"), SubscriptionCancelled},
		"the payer's claim, by that code":    {refusal(DeclineUnknown, "MD06"), SubscriptionCancelled},
		"our mistake ends and costs nothing": {refusal(DeclineUnknown, "AC03"), SubscriptionActive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub, first := subscribed(t, monthly)
			if got := rebill(t, sub, first, "2026-04-30", test.answer).Subscription; got.Status != test.status {
				t.Errorf("it is %s, cancelled by %q", got.Status, got.CancelReason)
			}
		})
	}
}

func TestWhenAPauseNeedsAPerson(t *testing.T) {
	t.Parallel()
	away := PauseAway(Transaction{}, time.Time{}, noon)
	if !away.Since.Equal(noon) || !away.Until.Equal(noon.Add(10*time.Minute)) {
		t.Errorf("newly away, it waits from %s until %s", away.Since, away.Until)
	}
	for after, want := range map[time.Duration]time.Duration{time.Minute: 10 * time.Minute, 30 * time.Minute: 30 * time.Minute, 5 * time.Hour: time.Hour} {
		if got := PauseAway(Transaction{}, noon, noon.Add(after)); !got.Until.Equal(noon.Add(after+want)) || !got.Since.Equal(noon) {
			t.Errorf("away for %s, it waits until %s", after, got.Until)
		}
	}
	if away.NeedsPerson(noon.Add(24 * time.Hour)) {
		t.Error("after a day a person is called")
	}
	if !away.NeedsPerson(noon.Add(24*time.Hour + time.Second)) {
		t.Error("after more than a day nobody is called")
	}
	if ours := (RebillPause{Reason: PausedByCreditorCode, Since: noon}); !ours.NeedsPerson(noon) {
		t.Error("our own mistake needs nobody")
	}
}

func TestARebillIsBegunOnce(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	open := NewID()
	for name, change := range map[string]func(*Subscription){
		"while another is under way": func(s *Subscription) { s.OpenTransactionID = &open },
		"without a rhythm":           func(s *Subscription) { s.Frequency = "" },
	} {
		s := sub
		change(&s)
		if _, err := RecallRebill(s, first, noon); err == nil {
			t.Errorf("%s it is recalled", name)
		}
	}
	due := on(t, "2026-04-30")
	if _, err := BeginRebill(sub, first, DateOf(due.AddDate(0, 0, -1)), due); err == nil {
		t.Error("it is begun before its day")
	}
	begun, err := BeginRebill(sub, first, DateOf(due), due)
	if err != nil || !same(begun.Subscription.OpenTransactionID, &begun.Transaction.ID) {
		t.Errorf("on its day: %v", err)
	}
	if before := begun.Before.Subscription; before == nil || before.OpenTransactionID != nil || before.Tries != sub.Tries {
		t.Errorf("before it the subscription was %+v", before)
	}
}

func TestACollectionMovesItsOwnSubscriptionAlone(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	open, err := BeginRebill(sub, first, DateOf(on(t, "2026-04-30")), on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	other := NewID()
	open.Subscription.OpenTransactionID = &other
	got := settle(t, open.Debit, collected, on(t, "2026-04-30")).Subscription
	if got.Period != 1 || got.OpenTransactionID == nil || *got.OpenTransactionID != other {
		t.Errorf("it waits for another collection and is moved on to period %d", got.Period)
	}
	cancelled := open.Debit
	ended := *open.Subscription
	ended.Status, ended.OpenTransactionID = SubscriptionCancelled, &cancelled.Transaction.ID
	cancelled.Subscription = &ended
	if got := settle(t, cancelled, collected, on(t, "2026-04-30")).Subscription; got.Period != 1 || got.Status != SubscriptionCancelled || !same(got.OpenTransactionID, nil) {
		t.Errorf("cancelled, it is %s in period %d", got.Status, got.Period)
	}
}

func TestARebillThatComesBackLeavesThePurchase(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	order := Order{ID: sub.OrderID, Status: OrderCompleted}
	open, err := BeginRebill(sub, first, DateOf(on(t, "2026-04-30")), on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	open.Order = &order
	if got := settle(t, open.Debit, Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: InsufficientFunds}}, on(t, "2026-05-01")); got.Order.Status != OrderCompleted {
		t.Errorf("a refused rebill makes the order %s", got.Order.Status)
	}
	billed := rebill(t, sub, first, "2026-04-30", collected)
	billed.Order = &order
	back, err := billed.ChargeBack(Chargeback{ReasonCode: "AM04"}, usual, on(t, "2026-05-01"))
	if err != nil || back.Order.Status != OrderChargedBack {
		t.Errorf("charged back, the order is %v: %v", back.Order, err)
	}
}

func TestTheAnswerForWhoeverAsksAgain(t *testing.T) {
	t.Parallel()
	refused := Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: InsufficientFunds}}
	for name, test := range map[string]struct {
		of   Debit
		want ResultStatus
	}{
		"refused with tries left": {settle(t, submitted(t), refused, noon).Debit, ResultDeclined},
		"refused for good":        {settle(t, submitted(t, withMaxAttempts(1)), refused, noon).Debit, ResultFailed},
		"to be verified":          {awaiting(t), ResultAwaiting},
		"collected":               {paidFor(t), ResultCompleted},
		"taken in":                {accepted(t).Debit, ResultCompleted},
	} {
		if got, err := test.of.ResultAt(noon); err != nil || got != test.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := submitted(t).ResultAt(noon); KindOf(err) != OutcomeUnknown {
		t.Errorf("under way: %v", err)
	}
}

func TestTheDayAfterThePeriodUnderWay(t *testing.T) {
	t.Parallel()
	open := NewID()
	s := january(t)
	s.OpenTransactionID, s.Tries = &open, 1
	ending, err := CancelAtPeriodEnd(s, CancelledByMerchant, on(t, "2026-02-28"))
	if err != nil || ending.EndsOn != day(t, "2026-03-31") || ending.NextBillingDate != day(t, "2026-02-28") {
		t.Errorf("while a period is collected it ends on %s, next %s: %v", ending.EndsOn, ending.NextBillingDate, err)
	}
	s.NextBillingDate = day(t, "2026-03-31")
	if ending, err = CancelAtPeriodEnd(s, CancelledByMerchant, on(t, "2026-03-02")); err != nil || ending.EndsOn != day(t, "2026-03-31") || !ending.NextBillingDate.IsZero() {
		t.Errorf("with the next day shown already it ends on %s, next %s: %v", ending.EndsOn, ending.NextBillingDate, err)
	}
	going := january(t)
	if ended, err := going.EndWithPeriod(on(t, "2040-01-01")); ended || err != nil {
		t.Errorf("one that does not end is ended: %v", err)
	}
	if got := january(t).Upcoming(3); !slices.Equal(got, []Date{day(t, "2026-02-28"), day(t, "2026-03-31"), day(t, "2026-04-30")}) {
		t.Errorf("it is billed on %v", got)
	}
}

func TestWhatNobodyWaitsForAnyMore(t *testing.T) {
	t.Parallel()
	expired, _ := inPhase(t, PhaseExpire)
	verified, _ := inPhase(t, PhaseVerify)
	sub, first := subscribed(t, monthly)
	for name, test := range map[string]struct {
		of   Transaction
		want bool
	}{
		"a payment that is submitted":        {submitted(t).Transaction, false},
		"one that is being verified":         {verified.Transaction, false},
		"one whose verification ran out":     {expired.Transaction, true},
		"a rebill, at which nobody looks on": {rebill(t, sub, first, "2026-04-30", Outcome{Verdict: VerdictPending}).Transaction, true},
	} {
		if got := test.of.IsAbandoned(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
