package checkout_test

import (
	"strings"
	"testing"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestRefundsThatTheBankStillHas: a restored database has lost them, and opens each under the name that the bank knows, once, and
// never more than was paid.
func TestRefundsThatTheBankStillHas(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup, paid := till.Setup(t, till.Shop), till.Paid(t, approved).Transaction
		half := paid.AmountMinor / 2
		lost := func(amount payment.Minor, n int) store.Adopted {
			return store.Adopted{EndToEndID: payment.RefundReference(paid, amount, n), AmountMinor: amount}
		}
		first, rest := lost(half, 0), lost(paid.AmountMinor-half, 1)
		till.Gateway.Answer(pending)
		reopen := func(want int, all ...store.Adopted) error {
			t.Helper()
			opened, err := till.ReopenRefunds(t.Context(), setup, paid.ID, all)
			if opened != want {
				t.Errorf("%d were opened, want %d: %v", opened, want, err)
			}
			return err
		}
		if err := reopen(2, first, rest); err != nil {
			t.Fatal(err)
		}
		if told := strings.Count(till.Log(), "a refund that the bank has is one that was lost"); told != 2 {
			t.Errorf("the operator hears of %d", told)
		}
		if err := reopen(0, first, rest); err != nil {
			t.Errorf("those that are there: %v", err)
		}
		if err := reopen(0, lost(1, 2)); payment.KindOf(err) != payment.Conflict {
			t.Errorf("more than was paid: %v", err)
		}
		if sent := till.Gateway.Refunded(); len(sent) != 2 || sent[0].MerchantTransactionID != first.EndToEndID || sent[1].MerchantTransactionID != rest.EndToEndID {
			t.Errorf("the bank was told of %+v", sent)
		}
		if d := till.Debit(t, paid.ID).Transaction; d.RefundingMinor != paid.AmountMinor {
			t.Errorf("%s are set aside", d.RefundingMinor)
		}
		for _, one := range []store.Adopted{first, rest} {
			refund, isOpen, err := till.Store.Tenant(till.Shop.ID).Named(t.Context(), one.EndToEndID)
			if err != nil || !isOpen || refund.InFlight() || refund.ProcessedAt.IsZero() {
				t.Errorf("%s waits for an answer: %v", one.EndToEndID, err)
			}
		}
	}, checkouttest.WithNotice(3))
}

// TestOneThatWasOpenedMayBeTheLast: where its payment cannot be read any more nobody knows what is left of it.
func TestOneThatWasOpenedMayBeTheLast(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	setup, paid := till.Setup(t, till.Shop), till.Paid(t, approved).Transaction
	till.Env.Exec(t, `CREATE TRIGGER spoilt AFTER UPDATE ON transactions WHEN NEW.type = 'sdd_refund'
		BEGIN UPDATE transactions SET lead_id = 'spoilt' WHERE id = NEW.refund_of; END`)
	var lost []store.Adopted
	for i := range 2 {
		lost = append(lost, store.Adopted{EndToEndID: payment.RefundReference(paid, 1_00, i), AmountMinor: 1_00})
	}
	if opened, err := till.ReopenRefunds(t.Context(), setup, paid.ID, lost); opened != 1 || err == nil || len(till.Gateway.Refunded()) != 1 {
		t.Errorf("%d were opened, and %d sent: %v", opened, len(till.Gateway.Refunded()), err)
	}
}

// TestNothingIsGivenBackWhileABankHasMoreThanIsLeft: a restored database has lost that refund, and a part was given back since. A
// person looks first.
func TestNothingIsGivenBackWhileABankHasMoreThanIsLeft(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid, part := till.Paid(t, approved).Transaction, payment.Minor(1_00)
		till.Gateway.Answer(pending)
		ask := func() error {
			_, err := till.Refund(t.Context(), till.Shop.ID, paid.ID, checkout.RefundRequest{AmountMinor: &part}, store.RequestKey{})
			return err
		}
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		till.Env.Write(t, func(tx *store.Tx) error {
			tx.AddAdopted(store.BankFile{TenantID: till.Shop.ID, GatewayID: paid.GatewayID, MessageID: "SD-LOST"}, []store.Adopted{
				{EndToEndID: payment.RefundReference(paid, paid.AmountMinor, 0), Position: 1, AmountMinor: paid.AmountMinor},
			})
			return nil
		})
		if err := ask(); payment.KindOf(err) != payment.Conflict || len(till.Gateway.Refunded()) != 1 {
			t.Errorf("%d were sent: %v", len(till.Gateway.Refunded()), err)
		}
	}, checkouttest.WithNotice(3))
}

// TestABankCannotGiveBackWithoutAnAccount: the payer was erased, or the payment was brought in.
func TestABankCannotGiveBackWithoutAnAccount(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		till.Env.Exec(t, `UPDATE transactions SET iban_sealed = ''`)
		_, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{}, store.RequestKey{})
		if d := till.Debit(t, paid.Transaction.ID); payment.KindOf(err) != payment.Conflict || len(till.Gateway.Refunded()) != 0 || d.Transaction.RefundingMinor != 0 {
			t.Errorf("%s are set aside: %v", d.Transaction.RefundingMinor, err)
		}
	}, checkouttest.WithNotice(3))
}
