package payment

import "testing"

func TestWhatMayComeBack(t *testing.T) {
	t.Parallel()
	paid := collection(t)
	refund := refunding(t, paid, 1_00).Refund
	refund.Attempt = Attempt{}
	free, declined := paid.Transaction, paid.Transaction
	free.AmountMinor, declined.Status = 0, TransactionDeclined
	for name, test := range map[string]struct {
		of   Transaction
		want bool
	}{
		"collected":      {paid.Transaction, true},
		"taken in":       {accepted(t).Transaction, true},
		"on its way":     {submitted(t).Transaction, false},
		"to be verified": {awaiting(t).Transaction, false},
		"refused":        {declined, false},
		"for nothing":    {free, false},
		"a refund":       {*refund, false},
	} {
		if got := test.of.MayComeBack(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
