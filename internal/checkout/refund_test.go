package checkout_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestWhatAGatewayIsToldOfARefund(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		amount := payment.Minor(9_99)
		refund, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, &amount, store.RequestKey{})
		if err != nil || refund.Status != payment.TransactionApproved || refund.RefundOf == nil || *refund.RefundOf != paid.Transaction.ID {
			t.Fatalf("the refund is %s: %v", refund.Status, err)
		}
		got := till.Gateway.Refunded()
		if len(got) != 1 {
			t.Fatalf("%d refunds were sent", len(got))
		}
		if left := got[0].SendBefore.Left(); left <= 0 || left > 5*time.Second {
			t.Errorf("it may be sent for another %s", left)
		}
		got[0].SendBefore = clock.Deadline{}
		storetest.Equal(t, got[0], gateway.Refund{
			MerchantTransactionID: refund.MerchantTransactionID, IdempotencyKey: payment.RefundKey(refund),
			PaymentID: paid.Transaction.MerchantTransactionID, PaymentReference: "GW-1",
			AmountMinor: amount, Currency: "EUR", Descriptor: till.Shop.Gateway.Descriptor,
			At: till.Time.Now(),
		})
		if d := till.Debit(t, paid.Transaction.ID); d.Transaction.Status != payment.TransactionApproved || d.Transaction.RefundedMinor != amount {
			t.Errorf("the payment is %s, %s given back", d.Transaction.Status, d.Transaction.RefundedMinor)
		}
	})
}

func TestWhatBecomesOfARefund(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name     string
			answer   func()
			kind     payment.Kind
			refund   payment.TransactionStatus
			paid     payment.TransactionStatus
			open     bool
			setAside payment.Minor
		}{
			{"given back", func() { till.Gateway.Answer(approved) }, 0, payment.TransactionApproved, payment.TransactionRefunded, false, 0},
			{"taken in", func() { till.Gateway.Answer(pending) }, 0, payment.TransactionPending, payment.TransactionApproved, false, storetest.OneOff.PriceMinor},
			{"refused", func() { till.Gateway.Answer(declined) }, 0, payment.TransactionDeclined, payment.TransactionApproved, false, 0},
			{"not sent", func() { till.Gateway.Fail(gateway.ErrNotSent) }, 0, payment.TransactionDeclined, payment.TransactionApproved, false, 0},
			{"without an answer", func() { till.Gateway.Silence() }, payment.OutcomeUnknown, payment.TransactionPending, payment.TransactionApproved, true, storetest.OneOff.PriceMinor},
		} {
			t.Run(c.name, func(t *testing.T) {
				paid := till.Paid(t, approved)
				c.answer()
				refund, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, nil, store.RequestKey{})
				if payment.KindOf(err) != c.kind || c.kind == 0 && err != nil || refund.ID == uuid.Nil {
					t.Fatalf("the answer is %v", err)
				}
				d := till.Debit(t, paid.Transaction.ID)
				if d.Transaction.Status != c.paid || d.Transaction.RefundingMinor != c.setAside {
					t.Errorf("the payment is %s with %s set aside", d.Transaction.Status, d.Transaction.RefundingMinor)
				}
				stored := till.Debit(t, refund.ID).Transaction
				if stored.Status != c.refund || stored.InFlight() != c.open {
					t.Errorf("the refund is %s, in flight: %t", stored.Status, stored.InFlight())
				}
				if c.open && !stored.Attempt.NextLookupAt.Equal(till.World.Now().Add(silence)) {
					t.Errorf("its question is %+v", stored.Attempt)
				}
			})
		}
	})
}

func TestWhatCannotBeRefunded(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		more := paid.Transaction.AmountMinor + 1
		for _, c := range []struct {
			name   string
			id     uuid.UUID
			amount *payment.Minor
			want   payment.Kind
		}{
			{"a payment that nobody knows", payment.NewID(), nil, payment.NotFound},
			{"more than was collected", paid.Transaction.ID, &more, payment.Invalid},
			{"a declined payment", till.Paid(t, declined).Transaction.ID, nil, payment.Conflict},
		} {
			t.Run(c.name, func(t *testing.T) {
				if _, err := till.Refund(t.Context(), till.Shop.ID, c.id, c.amount, store.RequestKey{}); payment.KindOf(err) != c.want {
					t.Errorf("the answer is %v", err)
				}
				if len(till.Gateway.Refunded()) != 0 {
					t.Error("a refund was sent")
				}
			})
		}
	})
}

func TestAGatewayThatCannotRefundIsNotAsked(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t), checkouttest.WithoutAbilities)
	paid := till.Paid(t, approved)
	if _, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, nil, store.RequestKey{}); payment.KindOf(err) != payment.Conflict {
		t.Errorf("the answer is %v", err)
	}
	if d := till.Debit(t, paid.Transaction.ID); d.Transaction.RefundingMinor != 0 {
		t.Errorf("%s is set aside", d.Transaction.RefundingMinor)
	}
}

func TestRefundsAtOnceGiveBackNoMoreThanWasCollected(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		half := paid.Transaction.AmountMinor/2 + 1
		errs := make([]error, 3)
		var operators sync.WaitGroup
		for i := range errs {
			operators.Go(func() {
				_, errs[i] = till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, &half, store.RequestKey{})
			})
		}
		operators.Wait()
		given := 0
		for _, err := range errs {
			if err == nil {
				given++
			} else if kind := payment.KindOf(err); kind != payment.Invalid && kind != payment.Conflict {
				t.Errorf("a refund that came second: %v", err)
			}
		}
		if given != 1 || len(till.Gateway.Refunded()) != 1 {
			t.Errorf("%d were given back, %d sent", given, len(till.Gateway.Refunded()))
		}
	})
}

// TestARefundThatWasForgottenIsTheSameAgain asks for refunds that a restored database
// does not know any more.
func TestARefundThatWasForgottenIsTheSameAgain(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		some, other := payment.Minor(1_00), payment.Minor(2_00)
		ask := func(amount payment.Minor, key string) gateway.Refund {
			t.Helper()
			named := store.RequestKey{}
			if key != "" {
				named = store.RequestKey{Scope: till.Shop.ID, Key: key, RequestHash: key, At: till.Time.Now()}
			}
			if _, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, &amount, named); err != nil {
				t.Fatal(err)
			}
			sent := till.Gateway.Refunded()
			last := sent[len(sent)-1]
			last.SendBefore, last.At = clock.Deadline{}, time.Time{}
			return last
		}
		story := func() []gateway.Refund {
			return []gateway.Refund{ask(some, ""), ask(some, ""), ask(some, "a"), ask(some, "b"), ask(other, "")}
		}
		first := story()
		seen := map[string]bool{}
		for _, refund := range first {
			if seen[refund.MerchantTransactionID] || seen[refund.IdempotencyKey] {
				t.Errorf("%s names two refunds", refund.MerchantTransactionID)
			}
			seen[refund.MerchantTransactionID], seen[refund.IdempotencyKey] = true, true
		}
		till.Env.Exec(t, `DELETE FROM transactions WHERE refund_of IS NOT NULL`)
		till.Env.Exec(t, `DELETE FROM idempotency_keys`)
		till.Env.Exec(t, `UPDATE transactions SET refunded_minor = 0`)
		till.Time.Pass(48 * time.Hour)
		storetest.Equal(t, story(), first)
	})
}

// TestARefundThatWasReportedIsNotMadeAgain: a file brings a refund that a restored database has lost, and its merchant asks
// for it again.
func TestARefundThatWasReportedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved).Transaction
		amount := payment.Minor(9_99)
		till.Env.Write(t, func(tx *store.Tx) error {
			tx.AddTransaction(payment.Transaction{
				ID: payment.NewID(), TenantID: paid.TenantID, GatewayID: paid.GatewayID, MerchantTransactionID: payment.RefundReference(paid, amount, "", 0),
				Status: payment.TransactionApproved, Type: payment.Refund, AmountMinor: amount, Currency: "EUR", Source: payment.SourceImport,
				ProcessedAt: till.Time.Now(),
			}, nil)
			return nil
		})
		if _, err := till.Refund(t.Context(), till.Shop.ID, paid.ID, &amount, store.RequestKey{}); payment.KindOf(err) != payment.Conflict {
			t.Errorf("asked for again: %v", err)
		}
		if sent := len(till.Gateway.Refunded()); sent != 0 {
			t.Errorf("%d refunds were sent", sent)
		}
	})
}
