package checkout_test

import (
	"testing"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store"
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

// erase has the person of an address erased, as far as the rows of these stories go.
func erase(t *testing.T, till *checkouttest.Till, email string) {
	t.Helper()
	now := till.Time.Now()
	memory, err := till.Store.PrepareErasure(t.Context(), till.Shop.ID, now)
	if err != nil {
		t.Fatal(err)
	}
	who, err := till.Store.Tenant(till.Shop.ID).PersonByEmail(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	till.Env.Write(t, func(tx *store.Tx) error {
		who, err := tx.LockPerson(who)
		if err == nil {
			err = tx.RememberErased(who, memory)
		}
		if err != nil {
			return err
		}
		return tx.Erase(who, now, func(string) (string, error) { return "{}", nil })
	})
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
			meanwhile(till, func() {
				taken, err := till.TakeChargebacks(t.Context(), setup, checkout.ChargebackReport{GatewayID: till.Shop.Gateway.ID, Chargebacks: of(name + "-1")})
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

// TestANoticeBesideAnErasure: what a gateway reports while its payer is erased names nobody.
func TestANoticeBesideAnErasure(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		named := func() int {
			return till.Env.Count(t, "chargebacks WHERE email <> '' OR iban_masked <> ''") + till.Env.Count(t, "transactions WHERE email <> '' OR holder_name <> ''") +
				till.Env.Count(t, "events WHERE payload LIKE '%ada@payer%'")
		}
		paid := broughtIn(t, till, "KNOWN", payment.TransactionApproved)
		notice := gateway.Notice{Transaction: paid}
		meanwhile(till, func() { erase(t, till, paid.Email) })
		if told := hear(t, till, chargedBack(notice)); told != (checkout.Notified{Taken: 1}) || named() != 0 {
			t.Errorf("of a chargeback: told %+v, %d rows name the payer", told, named())
		}
		new := paid
		new.MerchantTransactionID, new.GatewayReference = "NEW", "GW-NEW"
		broughtIn(t, till, "OTHER", payment.TransactionApproved)
		meanwhile(till, func() { erase(t, till, paid.Email) })
		if told := hear(t, till, gateway.Notice{Transaction: new, Outcome: approved}); told != (checkout.Notified{Taken: 1}) || named() != 0 {
			t.Errorf("of a payment: told %+v, %d rows name the payer", told, named())
		}
		till.Clock = till.Time
		again := gateway.Notice{Transaction: new}
		again.Transaction.MerchantTransactionID, again.Transaction.GatewayReference = "LATER", "GW-LATER"
		again = chargedBack(again)
		again.Chargeback.Email, again.Chargeback.TransactionAt = paid.Email, paid.ProcessedAt
		if told := hear(t, till, again); told != (checkout.Notified{Taken: 1}) || named() != 0 {
			t.Errorf("of a chargeback of somebody who was erased: told %+v, %d rows name the payer", told, named())
		}
		if n := till.Env.Count(t, "chargebacks"); n != 2 {
			t.Errorf("%d chargebacks", n)
		}
	})
}
