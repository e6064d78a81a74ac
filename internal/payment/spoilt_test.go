package payment

import "testing"

// TestARecordInAStateThatNobodyKnowsIsAnError spoils one record of a payment at a time, as a restore by hand or another
// program may: nothing that would move the record may be said to have happened.
func TestARecordInAStateThatNobodyKnowsIsAnError(t *testing.T) {
	t.Parallel()
	spoil := map[string]func(*Debit){
		"session":      func(d *Debit) { d.Session.Status = "GONE" },
		"order":        func(d *Debit) { d.Order.Status = "GONE" },
		"transaction":  func(d *Debit) { d.Transaction.Status = "gone" },
		"subscription": func(d *Debit) { d.Subscription.Status = "GONE" },
		"refund":       func(d *Debit) { d.Refund.Status = "gone" },
	}
	approved, final := Outcome{Verdict: VerdictApproved}, Outcome{Verdict: VerdictDeclined, Final: true}
	settledBy := func(o Outcome) func(Debit) error {
		return func(d Debit) error { _, err := d.Settle(o, usual, noon); return err }
	}
	comesBack := func(code string) func(Debit) error {
		return func(d Debit) error {
			_, err := d.ChargeBack(Chargeback{Source: ChargebackNotified, ReasonCode: code}, usual, noon)
			return err
		}
	}
	begun := submitted(t, withTerms(monthly))
	waiting := awaiting(t, withTerms(monthly))
	unverified, _ := inPhase(t, PhaseExpire)
	taken := accepted(t, withTerms(monthly)).Debit
	paid := collection(t, withTerms(monthly))
	rebilled, err := BeginRebill(*paid.Subscription, paid.Transaction, DateOf(on(t, "2026-04-30")), on(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	lastTry := changeOf(rebilled.Debit).Debit
	lastTry.Subscription.Tries = len(usual.Dunning) + 1
	back := refunding(t, paid, paid.Transaction.AmountMinor).Debit
	back.Refund = refunding(t, paid, paid.Transaction.AmountMinor).Refund
	for name, test := range map[string]struct {
		debit  Debit
		act    func(Debit) error
		spoilt []string
	}{
		"paid":                  {begun, settledBy(approved), []string{"session", "order", "transaction"}},
		"taken in":              {begun, settledBy(Outcome{Verdict: VerdictPending}), []string{"session", "order", "transaction"}},
		"to be verified":        {begun, settledBy(Outcome{Verdict: VerdictVerify}), []string{"session", "order", "transaction"}},
		"refused":               {begun, settledBy(noMoney), []string{"session", "order", "transaction"}},
		"never verified":        {unverified, settledBy(Outcome{Verdict: VerdictVerify}), []string{"session", "order", "transaction"}},
		"paid unasked":          {waiting, settledBy(approved), []string{"session", "order"}},
		"paid later":            {taken, settledBy(approved), []string{"transaction"}},
		"refused later":         {taken, settledBy(noMoney), []string{"transaction", "subscription"}},
		"back before it came":   {taken, comesBack("MD06"), []string{"transaction", "subscription"}},
		"claimed back":          {paid, comesBack("MD06"), []string{"transaction", "subscription"}},
		"back for want of it":   {paid, comesBack("AM04"), []string{"transaction", "subscription"}},
		"rebilled":              {rebilled.Debit, settledBy(approved), []string{"transaction", "subscription"}},
		"rebill refused":        {rebilled.Debit, settledBy(noMoney), []string{"transaction", "subscription"}},
		"rebill's last try":     {lastTry, settledBy(noMoney), []string{"subscription"}},
		"rebill's last refusal": {rebilled.Debit, settledBy(final), []string{"transaction", "subscription"}},
		"refunded":              {back, settledBy(approved), []string{"refund"}},
		"not refunded":          {back, settledBy(noMoney), []string{"refund"}},
	} {
		for _, record := range test.spoilt {
			d := changeOf(test.debit).Debit
			if d.Refund != nil {
				d.Refund = clone(d.Refund)
			}
			if err := test.act(d); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			spoil[record](&d)
			if err := test.act(d); err == nil {
				t.Errorf("%s with a spoilt %s: no error", name, record)
			}
		}
	}
}

func TestAKnownChargebackOfASpoiltPaymentIsAnError(t *testing.T) {
	t.Parallel()
	known := *RecordUnlinked(Chargeback{ReasonCode: "MD06"}, noon).Chargeback
	for name, d := range map[string]Debit{"paid": collection(t, withTerms(monthly)), "taken in": accepted(t, withTerms(monthly)).Debit} {
		d := changeOf(d).Debit
		d.Subscription.Status = "GONE"
		if _, err := d.LinkChargeback(known, nil, usual, noon); err == nil {
			t.Errorf("%s: the subscription is gone, and no error", name)
		}
		d.Transaction.Status = "gone"
		if _, err := d.LinkChargeback(known, nil, usual, noon); err == nil {
			t.Errorf("%s: the payment is gone, and no error", name)
		}
	}
}

func TestASpoiltRebillIsNotRefundedElsewhere(t *testing.T) {
	t.Parallel()
	sub, first := subscribed(t, monthly)
	pending := rebill(t, sub, first, "2026-04-30", Outcome{Verdict: VerdictPending}).Debit
	if _, err := pending.RefundElsewhere(usual, noon); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Debit){
		"payment":      func(d *Debit) { d.Transaction.Status = "gone" },
		"subscription": func(d *Debit) { d.Subscription.Status = "GONE" },
	} {
		d := changeOf(pending).Debit
		spoil(&d)
		if _, err := d.RefundElsewhere(usual, noon); err == nil {
			t.Errorf("the %s is gone, and no error", name)
		}
	}
}
