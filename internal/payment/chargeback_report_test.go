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
		"of a payment brought in as charged back are kept":    {paid: &lost.Debit, hasNone: true, report: report, want: TakenNew},
		"of a payment of which a part is back are refused":    {paid: &lost.Debit, part: true, report: report, refused: Conflict},
		"without an amount are not, of such a payment":        {paid: &lost.Debit, part: true, report: with(func(c *Chargeback) { c.AmountMinor = 0 }), want: TakenUnchanged},
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
