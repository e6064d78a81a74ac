package checkout_test

import (
	"testing"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/payment"
)

// meanwhile has something happen once, between a use case's read and its write.
func meanwhile(till *checkouttest.Till, change func()) {
	clock := &busyClock{Clock: till.Time, changes: 1, change: change}
	till.Clock = clock
}

// broughtIn is a payment that a file has brought in, of somebody of whom nothing else is known.
func broughtIn(t *testing.T, till *checkouttest.Till, name string, status payment.TransactionStatus) payment.Transaction {
	t.Helper()
	paid := payment.Transaction{
		ID: payment.NewID(), TenantID: till.Shop.ID, GatewayID: till.Shop.Gateway.ID, MerchantTransactionID: name, GatewayReference: "GW-" + name,
		Type: payment.Sale, Status: status, AmountMinor: 49_00, Currency: "EUR", ProcessedAt: till.Time.Now(), CreatedAt: till.Time.Now(),
		UpdatedAt: till.Time.Now(), Source: payment.SourceImport, Email: "ada@payer.example", HolderName: "Ada Byron", MaskedIBAN: "DE00****0000",
	}
	till.Env.Write(t, addTransaction(paid, nil))
	return paid
}

// TestTwoNamesOfOneChargeback: two files call the chargeback of a payment that came in as charged back by two names, and each has
// read before the other wrote. One of them is recorded.
func TestTwoNamesOfOneChargeback(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for name, others := range map[string]int{"ALONE": 0, "AMONG-OTHERS": 2} {
			paid := broughtIn(t, till, name, payment.TransactionChargedBack)
			of := func(called string) (all []checkout.ReportedChargeback) {
				for i := range others {
					all = append(all, report(payment.Transaction{MerchantTransactionID: called + string(rune('A'+i)), AmountMinor: 1_00, Currency: "EUR"}))
				}
				r := report(paid)
				r.MerchantTransactionID, r.GatewayReference = called, paid.GatewayReference
				return append(all, r)
			}
			setup := till.Setup(t, till.Shop)
			second := *till.Checkout
			second.Clock = till.Time
			meanwhile(till, func() {
				taken, err := second.TakeChargebacks(t.Context(), setup, checkout.ChargebackReport{GatewayID: till.Shop.Gateway.ID, Chargebacks: of(name + "-1")})
				if err != nil || taken[others].Taken != payment.TakenNew {
					t.Errorf("%s, the first: %v, %v", name, taken, err)
				}
			})
			taken := take(t, till, setup, of(name+"-2")...)
			if taken[others].Taken != payment.TakenUnchanged || taken[others].Refused != nil {
				t.Errorf("%s, the second: %+v", name, taken[others])
			}
			if n := till.Env.Count(t, "chargebacks WHERE transaction_id = '"+paid.ID.String()+"'"); n != 1 {
				t.Errorf("%s: %d chargebacks", name, n)
			}
		}
	})
}
