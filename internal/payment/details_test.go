package payment

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAPauseNamesItsAccount(t *testing.T) {
	t.Parallel()
	ours := Outcome{Verdict: VerdictDeclined, Decline: Decline{Code: DeclineUnknown, GatewayCode: "AC03"}}
	c := settle(t, submitted(t), ours, noon)
	want := RebillPause{TenantID: c.Transaction.TenantID, GatewayID: c.Transaction.GatewayID, Reason: PausedByCreditorCode, Code: "AC03", Since: noon}
	if got := c.Pause(noon); got == nil || *got != want {
		t.Errorf("paused is %+v", got)
	}
	if got := settle(t, submitted(t), noMoney, noon).Pause(noon); got != nil {
		t.Errorf("a payer without money pauses %+v", got)
	}
	away := PauseAway(c.Transaction, time.Time{}, noon)
	if away.TenantID != want.TenantID || away.GatewayID != want.GatewayID || !away.Since.Equal(noon) || !away.Until.After(noon) {
		t.Errorf("away is %+v", away)
	}
}

// announced is a rebill of the end of April that a bank has taken in for its day.
func announced(t *testing.T) Change {
	t.Helper()
	sub, first := subscribed(t, monthly)
	claimed, err := BeginRebill(sub, first, day(t, "2026-04-30"), on(t, "2026-04-28"))
	if err != nil {
		t.Fatal(err)
	}
	pending, err := claimed.Settle(takenIn(t, "2026-04-30"), usual, on(t, "2026-04-28"))
	if err != nil {
		t.Fatal(err)
	}
	return pending
}

func TestWhatIsWithdrawnIsPutBack(t *testing.T) {
	t.Parallel()
	pending := announced(t)
	later := on(t, "2026-04-29")
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
	after := got.Subscription
	if after.Tries != 0 || after.OpenTransactionID != nil || after.SequenceType != pending.Transaction.SequenceType || !after.UpdatedAt.Equal(later) {
		t.Errorf("the subscription is %+v", after)
	}
	if got.Transaction.Decline == nil || !strings.Contains(got.Transaction.Decline.Message, "withdrawn") {
		t.Errorf("the reason is %+v", got.Transaction.Decline)
	}
	other := d
	waits := *d.Subscription
	another := NewID()
	waits.OpenTransactionID = &another
	other.Subscription = &waits
	if got, err := other.Withdraw(later); err != nil || !same(got.Subscription.OpenTransactionID, &another) || got.Subscription.Tries != waits.Tries {
		t.Errorf("the try of another transaction is undone: %+v, %v", got.Subscription, err)
	}
	for name, change := range map[string]func(*Debit){
		"a sale":                    func(d *Debit) { d.Transaction.Type = Sale },
		"one that is decided":       func(d *Debit) { d.Transaction.Status = TransactionApproved },
		"one under way":             func(d *Debit) { d.Transaction.Attempt.Phase = PhaseSubmit },
		"one that a bank has":       func(d *Debit) { d.Transaction.GatewayReference = "SD-1" },
		"one nobody was told of":    func(d *Debit) { d.Transaction.DueDate = Date{} },
		"one of no subscription":    func(d *Debit) { d.Subscription = nil },
		"one of a spoilt record":    func(d *Debit) { d.Transaction.Status = "gone" },
		"one that goes on as it is": func(d *Debit) { d.Subscription = pending.Subscription },
	} {
		d := d
		change(&d)
		if _, err := d.Withdraw(later); KindOf(err) != Conflict {
			t.Errorf("%s is withdrawn: %v", name, err)
		}
	}
}

func TestWhoseAnswerIsWaitedFor(t *testing.T) {
	t.Parallel()
	asked, verified := submitted(t), awaiting(t)
	paid := settle(t, asked, Outcome{Verdict: VerdictApproved}, noon).Debit
	for name, test := range map[string]struct {
		now, earlier Debit
		want         bool
	}{
		"the same question": {asked, asked, true},
		"another one":       {verified, asked, false},
		"one that is given": {paid, asked, false},
		"decided both":      {paid, paid, false},
	} {
		if got := test.now.Waits(test.earlier); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	rebilled, err := RecallRebill(*collection(t, withTerms(monthly)).Subscription, paid.Transaction, noon)
	if err != nil {
		t.Fatal(err)
	}
	if rebilled.IsAnsweredBy(Outcome{Verdict: VerdictVerify}) || !rebilled.IsAnsweredBy(collected) || !asked.IsAnsweredBy(Outcome{Verdict: VerdictVerify}) {
		t.Error("a rebill has no payer who could verify it, a session has")
	}
}

// TestWhatWasTakenInIsNotLost, whatever its gateway says of it later.
func TestWhatWasTakenInIsNotLost(t *testing.T) {
	t.Parallel()
	asked, lost := submitted(t), Outcome{Verdict: VerdictLost}
	inQuestion := func(phase Phase) Debit {
		d, _ := inPhase(t, phase)
		return d
	}
	for name, test := range map[string]struct {
		of           Debit
		denied, news bool
	}{
		"one that may not have arrived": {asked, false, true},
		"one that awaits verification":  {awaiting(t), true, false},
		"one that may be confirmed":     {inQuestion(PhaseVerify), true, false},
		"one whose time is over":        {inQuestion(PhaseExpire), false, true},
		"one that was taken in":         {accepted(t).Debit, true, false},
		"one that was collected":        {settle(t, asked, collected, noon).Debit, true, false},
		"one that was refused":          {settle(t, asked, Outcome{Verdict: VerdictDeclined}, noon).Debit, false, false},
	} {
		if news, err := test.of.Hear(lost); test.of.IsDeniedBy(lost) != test.denied || news != test.news || (err != nil) != test.denied {
			t.Errorf("%s: denied %t, news %t: %v", name, test.of.IsDeniedBy(lost), news, err)
		}
	}
}

func TestARebillOfNothingThatIsDueIsNotBegun(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	for name, change := range map[string]func(*Subscription){
		"one without a date":   func(s *Subscription) { s.NextBillingDate = Date{} },
		"one that has ended":   func(s *Subscription) { s.Status = SubscriptionCancelled },
		"one that is not due":  func(s *Subscription) { s.NextBillingDate = day(t, "2026-05-01") },
		"one without a rhythm": func(s *Subscription) { s.Frequency = "" },
	} {
		s := sub
		change(&s)
		if _, err := BeginRebill(s, first, day(t, "2026-04-30"), on(t, "2026-04-30")); err == nil {
			t.Errorf("%s is billed", name)
		}
	}
	claimed, err := BeginRebill(sub, first, day(t, "2026-04-30"), on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	got := claimed.Transaction
	if got.TenantID != sub.TenantID || got.GatewayID != sub.GatewayID || !same(got.LeadID, &sub.LeadID) || !same(got.SubscriptionID, &sub.ID) ||
		got.MerchantTransactionID != RebillReference(sub, 1) || got.Email != first.Email || got.HolderName != first.HolderName || got.BIC != first.BIC {
		t.Errorf("the rebill is %s of lead %v under %s", got, got.LeadID, got.MerchantTransactionID)
	}
}

func TestARefundHasThePurchasesRelations(t *testing.T) {
	t.Parallel()
	paid := collection(t, withTerms(monthly))
	refund := *refunding(t, paid, 10_00).Refund
	sale := paid.Transaction
	if refund.ID == sale.ID || refund.ID == (Transaction{}).ID || !same(refund.SubscriptionID, sale.SubscriptionID) || refund.GatewayID != sale.GatewayID ||
		refund.TenantID != sale.TenantID || !same(refund.OrderID, sale.OrderID) || !same(refund.LeadID, sale.LeadID) {
		t.Errorf("the refund is %s of %v through %s", refund, refund.SubscriptionID, refund.GatewayID)
	}
	if refund.MaskedIBAN != sale.MaskedIBAN || refund.IBANCountry != sale.IBANCountry || refund.BIC != sale.BIC || refund.BankName != sale.BankName ||
		refund.HolderName != sale.HolderName || refund.Email != sale.Email || refund.MandateReference != sale.MandateReference || !refund.MandateAt.Equal(sale.MandateAt) {
		t.Errorf("the refund goes to %s at %s", refund.MaskedIBAN, refund.BankName)
	}
	if refund.MerchantTransactionID != RefundReference(sale, 10_00, 0) || refund.Currency != sale.Currency || !refund.CreatedAt.Equal(noon) || !refund.UpdatedAt.Equal(noon) {
		t.Errorf("the refund is named %q and was made at %s", refund.MerchantTransactionID, refund.CreatedAt)
	}
	if _, err := settledRefund(paid, refund, Outcome{Verdict: VerdictVerify}, noon); err == nil {
		t.Error("a refund was sent to the payer")
	}
	why := Decline{Code: AccountClosed, Message: "The account is closed."}
	change, err := settledRefund(refunding(t, paid, 10_00).Debit, refund, Outcome{Verdict: VerdictDeclined, Decline: why}, noon)
	if err != nil || change.Refund.Decline == nil || change.Refund.Decline.Code != AccountClosed {
		t.Errorf("it was refused for %+v: %v", change.Refund.Decline, err)
	}
}

func TestReferencesThatFollowFromANameAreApart(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	sub := january(t)
	for n := range 500 { // some need more than one round of bytes
		seen[RebillReference(sub, n)] = true
	}
	if len(seen) != 500 {
		t.Errorf("500 rebills have %d names", len(seen))
	}
	// 252 and above would favour the first letters; a byte of all ones is passed over.
	rounds := 0
	got := code(4, func(raw []byte) {
		for i := range raw {
			raw[i] = []byte{255, 252, 251, 0}[(i+rounds)%4]
		}
		rounds++
	})
	if got != "9A9A" {
		t.Errorf("the code is %s", got)
	}
}

func TestAddressesOfOneLead(t *testing.T) {
	t.Parallel()
	for email, want := range map[string]string{
		"Anna@Example.org":         "anna@example.org",
		"anna@xn--mller-kva.de":    "anna@müller.de",
		"anna@MÜLLER.de":           "anna@müller.de",
		"xn--mller-kva.de":         "xn--mller-kva.de",
		"xn--mller-kva@Example.de": "xn--mller-kva@example.de",
	} {
		if got := (Lead{Email: email}).EmailKey(); got != want {
			t.Errorf("%s is compared as %s, want %s", email, got, want)
		}
	}
}

func TestPeriodsThatAreOwedComeInOrder(t *testing.T) {
	t.Parallel()
	owed := Periods("").with(12).with(3).with(12).with(7)
	if owed != "3 7 12" {
		t.Errorf("owed are %q", owed)
	}
}

func TestWhatIsPrintedOfAPersonIsAnID(t *testing.T) {
	t.Parallel()
	d := collection(t)
	lead := aLead(*d.Session)
	lead.ID = NewID()
	for _, value := range []fmt.Stringer{
		lead, aSubmission(t).Instrument, *d.Session, d.Transaction, Chargeback{ID: NewID(), Email: "anna@example.org"}, Acceptance{TransactionID: d.Transaction.ID},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			if got := fmt.Sprintf(verb, value); got != value.String() || got == "" || strings.Contains(strings.ToLower(got), "anna") {
				t.Errorf("%T is printed by %s as %q", value, verb, got)
			}
		}
	}
}

func TestEveryKindOfEventIsListed(t *testing.T) {
	t.Parallel()
	if len(EventKinds) != len(eventTable) || len(UsualEvents) != 4 || !slices.Contains(EventKinds, EventMandateLapsed) {
		t.Errorf("kinds are %v, usual %v", EventKinds, UsualEvents)
	}
	c := accepted(t)
	for _, e := range c.Events {
		if e.Kind == EventTransactionCreated && (e.TransactionID != c.Transaction.ID || e.Status != TransactionPending) {
			t.Errorf("it is told of %s, %s", e.TransactionID, e.Status)
		}
	}
	announced := settle(t, submitted(t), takenIn(t, "2026-04-02"), noon)
	if e := announced.Events[len(announced.Events)-1]; e.TransactionID != announced.Transaction.ID {
		t.Errorf("it is announced of %s", e.TransactionID)
	}
}

func TestTheReasonOfAnEndIsTheBanksOwn(t *testing.T) {
	t.Parallel()
	for want, decline := range map[string]Decline{
		"AC04":           {Code: AccountClosed, GatewayCode: "AC04"},
		"account_closed": {Code: AccountClosed},
	} {
		if got := decline.reasonCode(); got != want && !strings.EqualFold(got, want) {
			t.Errorf("%+v ends by %s, want %s", decline, got, want)
		}
	}
}

// TestLaterReferences: further debits of a period are looked for behind its own, and a reference that is none of the period's
// ends the search.
func TestLaterReferences(t *testing.T) {
	t.Parallel()
	sub := Subscription{ID: NewID(), Period: 3, Frequency: Monthly, AnchorDate: day(t, "2026-03-15")}
	for number, own := range map[int]int{1: 1, 2: 5, 7: 38} {
		later := LaterReferences(sub, RebillReference(sub, own), number)
		if len(later) != mostPassedOver || later[0] != RebillReference(sub, own+1) || later[31] != RebillReference(sub, own+32) {
			t.Errorf("behind the %dth, from the %dth on: %v", own, number, later)
		}
	}
	for number, reference := range map[int]string{6: RebillReference(sub, 38), 2: RebillReference(sub, 1), 1: "TXN-20260315-OTHER"} {
		if later := LaterReferences(sub, reference, number); later != nil {
			t.Errorf("%s, from the %dth on: %v", reference, number, later)
		}
	}
}
