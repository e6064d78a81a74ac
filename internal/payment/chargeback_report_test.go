package payment

import (
	"testing"
	"time"
)

func TestReportedChargebacks(t *testing.T) {
	t.Parallel()
	paid := collection(t)
	report := Chargeback{
		GatewayID: paid.Transaction.GatewayID, MerchantTransactionID: paid.Transaction.MerchantTransactionID,
		AmountMinor: paid.Transaction.AmountMinor, Currency: "EUR", Source: ChargebackImported,
	}
	with := func(change func(*Chargeback)) Chargeback {
		changed := report
		change(&changed)
		return changed
	}
	waiting := *RecordUnlinked(report, noon).Chargeback
	lost, err := paid.ChargeBack(report, Policy{KeepsClaimed: false}, noon)
	if err != nil {
		t.Fatal(err)
	}
	part := *lost.Chargeback
	part.AmountMinor--
	other, declined := collection(t), paid
	declined.Transaction.Status = TransactionDeclined
	for name, test := range map[string]struct {
		paid    *Debit
		earlier *Chargeback
		hasNone bool
		part    bool
		report  Chargeback
		want    Taken
		status  TransactionStatus
		refused Kind
	}{
		"of a payment that is known take it back":             {paid: &paid, report: report, want: TakenNew, status: TransactionChargedBack},
		"without an amount mean all of it":                    {paid: &paid, report: with(func(c *Chargeback) { c.AmountMinor = 0 }), want: TakenNew, status: TransactionChargedBack},
		"of a payment that is not known are kept":             {report: report, want: TakenNew},
		"that are kept already change nothing":                {earlier: &waiting, report: report, want: TakenUnchanged},
		"that are kept find their payment":                    {paid: &paid, earlier: &waiting, report: report, want: TakenUpdated, status: TransactionChargedBack},
		"that are recorded with their payment change nothing": {paid: &lost.Debit, earlier: lost.Chargeback, report: report, want: TakenUnchanged},
		"of a payment charged back otherwise change nothing":  {paid: &lost.Debit, report: report, want: TakenUnchanged},
		"that come back otherwise in other money are refused": {paid: &lost.Debit, report: with(func(c *Chargeback) { c.Currency = "CHF" }), refused: Conflict},
		"of a payment brought in as charged back are kept":    {paid: &lost.Debit, hasNone: true, report: report, want: TakenNew},
		"of a payment of which a part is back are refused":    {paid: &lost.Debit, part: true, report: report, refused: Conflict},
		"without an amount are not, of such a payment":        {paid: &lost.Debit, part: true, report: with(func(c *Chargeback) { c.AmountMinor = 0 }), want: TakenUnchanged},
		"without a currency are not, of such a payment":       {paid: &lost.Debit, report: with(func(c *Chargeback) { c.Currency = "" }), want: TakenUnchanged},
		"that are kept find one brought in as charged back":   {paid: &lost.Debit, earlier: &waiting, hasNone: true, report: report, want: TakenUpdated},
		"that are kept and find another one are refused":      {paid: &lost.Debit, earlier: &waiting, report: report, refused: Conflict},
		"of such a payment in another currency are refused":   {paid: &lost.Debit, hasNone: true, report: with(func(c *Chargeback) { c.Currency = "CHF" }), refused: Invalid},
		"with another amount than before are refused":         {earlier: &waiting, report: with(func(c *Chargeback) { c.AmountMinor++ }), refused: Conflict},
		"with another currency than before are refused":       {earlier: &waiting, report: with(func(c *Chargeback) { c.Currency = "CHF" }), refused: Conflict},
		"of a part of the payment are refused":                {paid: &paid, report: with(func(c *Chargeback) { c.AmountMinor-- }), refused: Conflict},
		"in another currency than the payment are refused":    {paid: &paid, report: with(func(c *Chargeback) { c.Currency = "CHF" }), refused: Invalid},
		"of another gateway are refused":                      {paid: &paid, report: with(func(c *Chargeback) { c.GatewayID = NewID() }), refused: Conflict},
		"that are kept for another gateway are refused":       {earlier: &waiting, report: with(func(c *Chargeback) { c.GatewayID = NewID() }), refused: Conflict},
		"that another payment has are refused":                {paid: &other, earlier: lost.Chargeback, report: report, refused: Conflict},
		"of a declined payment are refused":                   {paid: &declined, report: report, refused: Conflict},
		"that find a declined payment are refused":            {paid: &declined, earlier: &waiting, report: report, refused: Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorded := map[bool]*Chargeback{test.part: &part, !test.part && !test.hasNone: lost.Chargeback, test.hasNone: nil}[true]
			change, taken, err := TakeChargeback(test.paid, test.earlier, recorded, test.report, Policy{}, noon.Add(time.Hour))
			if KindOf(err) != test.refused || taken != test.want || change.Transaction.Status != test.status {
				t.Errorf("taken as %q, payment %q, error %v", taken, change.Transaction.Status, err)
			}
			if changes := taken == TakenNew || taken == TakenUpdated; (change.Chargeback != nil) != changes {
				t.Errorf("the chargeback is %v", change.Chargeback)
			}
		})
	}
}

// TestWhatTheBankTakes for a chargeback that is known: the most that any report says, whichever way that is known.
func TestWhatTheBankTakes(t *testing.T) {
	t.Parallel()
	paid := collection(t)
	fee := func(minor Minor) Chargeback {
		return Chargeback{
			GatewayID: paid.Transaction.GatewayID, MerchantTransactionID: paid.Transaction.MerchantTransactionID,
			AmountMinor: paid.Transaction.AmountMinor, Currency: "EUR", Source: ChargebackReconciled, BankFeeMinor: &minor,
		}
	}
	lost, err := paid.ChargeBack(fee(2_00), Policy{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	waiting := *RecordUnlinked(fee(2_00), noon).Chargeback
	for minor, want := range map[Minor]Taken{0: TakenUnchanged, 1_99: TakenUnchanged, 2_00: TakenUnchanged, 2_01: TakenUpdated} {
		for name, known := range map[string]struct{ earlier, recorded *Chargeback }{
			"by its name": {lost.Chargeback, lost.Chargeback}, "by another name": {nil, lost.Chargeback}, "without its payment": {&waiting, nil},
		} {
			of := &lost.Debit
			if known.recorded == nil {
				of = nil
			}
			change, taken, err := TakeChargeback(of, known.earlier, known.recorded, fee(minor), Policy{}, noon.Add(time.Hour))
			if err != nil || taken != want || (change.Fee != nil) != (want == TakenUpdated) || change.Chargeback != nil || len(change.Events) > 0 {
				t.Errorf("%s, %s: taken as %q, %v", minor, name, taken, err)
			}
			if change.Fee != nil && (*change.Fee.BankFeeMinor != minor || !change.Fee.UpdatedAt.Equal(noon.Add(time.Hour))) {
				t.Errorf("%s, %s: it takes %s since %s", minor, name, *change.Fee.BankFeeMinor, change.Fee.UpdatedAt)
			}
		}
	}
	if *lost.Chargeback.BankFeeMinor != 2_00 {
		t.Error("what was known has changed")
	}
}
