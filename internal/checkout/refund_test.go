package checkout_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestWhatAGatewayIsToldOfARefund(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		amount := payment.Minor(9_99)
		refund, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{AmountMinor: &amount}, store.RequestKey{})
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
				refund, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{}, store.RequestKey{})
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
				if _, err := till.Refund(t.Context(), till.Shop.ID, c.id, checkout.RefundRequest{AmountMinor: c.amount}, store.RequestKey{}); payment.KindOf(err) != c.want {
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
	if _, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{}, store.RequestKey{}); payment.KindOf(err) != payment.Conflict {
		t.Errorf("the answer is %v", err)
	}
	if d := till.Debit(t, paid.Transaction.ID); d.Transaction.RefundingMinor != 0 {
		t.Errorf("%s is set aside", d.Transaction.RefundingMinor)
	}
}

// TestAnAccountThatCannotBeUsed: a refund through one that this deployment does not use any more,
// or that is half set up, is refused with a sentence.
func TestAnAccountThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.Adapter = "retired" })
		_, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{}, store.RequestKey{})
		if payment.KindOf(err) != payment.Conflict {
			t.Errorf("got %v", err)
		}
	})
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
				_, errs[i] = till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{AmountMinor: &half}, store.RequestKey{})
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

// overtaken is a process's own clock by which somebody else's refund, and six seconds, come in between at the first look.
type overtaken struct {
	now    time.Time
	others func()
}

func (o *overtaken) Now() time.Time {
	if others := o.others; others != nil {
		looked := o.now
		o.others = nil
		others()
		o.now = o.now.Add(6 * time.Second)
		return looked
	}
	return o.now
}

// TestARefundThatComesSecondHasItsTime: its claim is written when it was its turn, and the
// gateway hears of it although it could not have been sent so long after it was asked for.
func TestARefundThatComesSecondHasItsTime(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		refund := func() {
			t.Helper()
			amount := payment.Minor(1_00)
			got, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{AmountMinor: &amount}, store.RequestKey{})
			if err != nil || got.Status != payment.TransactionApproved {
				t.Errorf("a refund is %s: %v", got.Status, err)
			}
		}
		till.Own = &overtaken{time.Now(), refund}
		refund()
		if sent := len(till.Gateway.Refunded()); sent != 2 {
			t.Errorf("%d refunds were sent", sent)
		}
	})
}

// TestARefundThatWasForgottenIsTheSameAgain asks for refunds that a restored database
// does not know any more: in another order, under other keys, as whoever repeats them would.
func TestARefundThatWasForgottenIsTheSameAgain(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		ask := func(amount payment.Minor, key string) gateway.Refund {
			t.Helper()
			if _, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{AmountMinor: &amount}, keyed(till, key)); err != nil {
				t.Fatal(err)
			}
			sent := till.Gateway.Refunded()
			last := sent[len(sent)-1]
			last.SendBefore, last.At = clock.Deadline{}, time.Time{}
			return last
		}
		first := map[string]gateway.Refund{}
		for _, key := range []string{"", "", "a", "b"} {
			one := ask(1_00, key)
			first[one.MerchantTransactionID] = one
		}
		other := ask(2_00, "")
		first[other.MerchantTransactionID] = other
		if len(first) != 5 {
			t.Errorf("five refunds have %d names", len(first))
		}
		till.Env.Exec(t, `DELETE FROM transactions WHERE refund_of IS NOT NULL`)
		till.Env.Exec(t, `DELETE FROM idempotency_keys`)
		till.Env.Exec(t, `UPDATE transactions SET refunded_minor = 0`)
		till.Time.Pass(48 * time.Hour)
		again := map[string]gateway.Refund{}
		for _, one := range []gateway.Refund{ask(2_00, "c"), ask(1_00, "b"), ask(1_00, "d"), ask(1_00, ""), ask(1_00, "e")} {
			again[one.MerchantTransactionID] = one
		}
		storetest.Equal(t, again, first)
	})
}

// keyed is a call's key, none for "".
func keyed(till *checkouttest.Till, key string) store.RequestKey {
	if key == "" {
		return store.RequestKey{}
	}
	return store.RequestKey{Scope: till.Shop.ID, Key: key, RequestHash: key, At: till.Time.Now()}
}

// reportRefund brings a refund in as a processor's file does, which a restored database has lost.
func reportRefund(t *testing.T, till *checkouttest.Till, paid payment.Transaction, amount payment.Minor, n int, status payment.TransactionStatus) uuid.UUID {
	t.Helper()
	lost := payment.Transaction{
		ID: payment.NewID(), TenantID: paid.TenantID, GatewayID: paid.GatewayID, MerchantTransactionID: payment.RefundReference(paid, amount, n),
		Status: status, Type: payment.Refund, AmountMinor: amount, Currency: "EUR", Source: payment.SourceImport,
		ProcessedAt: till.Time.Now(),
	}
	till.Env.Write(t, func(tx *store.Tx) error {
		tx.AddTransaction(lost, nil)
		return nil
	})
	return lost.ID
}

// TestARefundThatWasReportedIsNotMadeAgain: a file brings refunds that a restored database has lost, and they are asked for
// again, under whatever key.
func TestARefundThatWasReportedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved).Transaction
		one := reportRefund(t, till, paid, 1_00, 0, payment.TransactionApproved)
		two := reportRefund(t, till, paid, 1_00, 1, payment.TransactionPending)
		reportRefund(t, till, paid, 2_00, 0, payment.TransactionDeclined)
		reportRefund(t, till, paid, 3_00, 0, payment.TransactionApproved)
		ask := func(amount payment.Minor, key string) payment.Transaction {
			t.Helper()
			refund, err := till.Refund(t.Context(), till.Shop.ID, paid.ID, checkout.RefundRequest{AmountMinor: &amount}, keyed(till, key))
			if err != nil {
				t.Fatal(err)
			}
			return refund
		}
		got := []uuid.UUID{ask(1_00, "a").ID, ask(1_00, "a").ID, ask(1_00, "b").ID, ask(1_00, "b").ID}
		if want := []uuid.UUID{one, one, two, two}; !slices.Equal(got, want) {
			t.Errorf("asked for again they are %v, want %v", got, want)
		}
		if sent := len(till.Gateway.Refunded()); sent != 0 {
			t.Errorf("%d refunds were sent", sent)
		}
		// What nobody has asked for again is given back all the same, and what was refused is not.
		if now := till.Debit(t, paid.ID).Transaction; now.RefundedMinor != 4_00 || now.RefundingMinor != 1_00 {
			t.Errorf("%s are given back and %s on the way", now.RefundedMinor, now.RefundingMinor)
		}
		for _, amount := range []payment.Minor{1_00, 2_00} {
			if made := ask(amount, "c"+amount.String()); made.Source != payment.SourceRefund {
				t.Errorf("a further refund of %s is %s", amount, made.Source)
			}
		}
		if sent := till.Gateway.Refunded(); len(sent) != 2 || sent[0].MerchantTransactionID != payment.RefundReference(paid, 1_00, 2) ||
			sent[1].MerchantTransactionID != payment.RefundReference(paid, 2_00, 1) {
			t.Errorf("sent was %v", sent)
		}
	})
}

// TestAReportedRefundThatCouldNotBeBookedIsToldOf: whoever asks for another one hears that it is the database, and nothing is sent.
func TestAReportedRefundThatCouldNotBeBookedIsToldOf(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	paid, asked := till.Paid(t, approved).Transaction, payment.Minor(2_00)
	reportRefund(t, till, paid, 1_00, 0, payment.TransactionApproved)
	till.Env.Exec(t, `CREATE TRIGGER full BEFORE UPDATE ON transactions WHEN OLD.type = 'sdd_refund' BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
	_, err := till.Refund(t.Context(), till.Shop.ID, paid.ID, checkout.RefundRequest{AmountMinor: &asked}, store.RequestKey{})
	if err == nil || !strings.Contains(err.Error(), "the disk is full") || len(till.Gateway.Refunded()) != 0 {
		t.Errorf("%d were sent: %v", len(till.Gateway.Refunded()), err)
	}
}

// TestARefundThatOthersAlwaysOvertakeIsNotMade: who asks is told why, and may ask again.
func TestARefundThatOthersAlwaysOvertakeIsNotMade(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	paid := till.Paid(t, approved).Transaction
	// As if somebody else had changed the payment each time between its being read and being written.
	till.Env.Exec(t, `CREATE TRIGGER overtaken BEFORE UPDATE ON transactions BEGIN SELECT RAISE(IGNORE); END`)
	_, err := till.Refund(t.Context(), till.Shop.ID, paid.ID, checkout.RefundRequest{}, store.RequestKey{})
	if payment.KindOf(err) != payment.Conflict || !strings.Contains(err.Error(), "Other refunds") || len(till.Gateway.Refunded()) != 0 {
		t.Errorf("%d were sent: %v", len(till.Gateway.Refunded()), err)
	}
}

// TestWhatWasReportedAsRefundedIsNotLeft asks for another amount than was given back in the time that a restore has lost.
func TestWhatWasReportedAsRefundedIsNotLeft(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved).Transaction
		reportRefund(t, till, paid, paid.AmountMinor-1, 0, payment.TransactionApproved)
		tooMuch := payment.Minor(2)
		if _, err := till.Refund(t.Context(), till.Shop.ID, paid.ID, checkout.RefundRequest{AmountMinor: &tooMuch}, store.RequestKey{}); payment.KindOf(err) != payment.Invalid {
			t.Errorf("more than is left: %v", err)
		}
		rest, err := till.Refund(t.Context(), till.Shop.ID, paid.ID, checkout.RefundRequest{}, store.RequestKey{})
		if err != nil || rest.AmountMinor != 1 {
			t.Errorf("all that is left: %s, %v", rest.AmountMinor, err)
		}
		if now := till.Debit(t, paid.ID); now.Transaction.Status != payment.TransactionRefunded || now.Order.Status != payment.OrderRefunded {
			t.Errorf("the payment is %s and its order %s", now.Transaction.Status, now.Order.Status)
		}
		if sent := till.Gateway.Refunded(); len(sent) != 1 || sent[0].AmountMinor != 1 {
			t.Errorf("sent was %v", sent)
		}
	})
}

// TestARefundOfALostPaymentIsNotMadeAgain: a restored database has lost a payment with its refund, and a file brings both.
// The payment has another id then.
func TestARefundOfALostPaymentIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		lost := till.Paid(t, approved).Transaction
		lost.ID, lost.MerchantTransactionID, lost.CreatedAt = payment.NewID(), "TXN-20261031-LOSTSALE", lost.CreatedAt.AddDate(0, 0, -3)
		brought := payment.Transaction{
			ID: payment.NewID(), TenantID: lost.TenantID, GatewayID: lost.GatewayID, MerchantTransactionID: lost.MerchantTransactionID,
			Status: payment.TransactionApproved, Type: payment.Sale, AmountMinor: lost.AmountMinor, Currency: lost.Currency, Source: payment.SourceImport,
			ProcessedAt: till.Time.Now(),
		}
		till.Env.Write(t, func(tx *store.Tx) error {
			tx.AddTransaction(brought, nil)
			return nil
		})
		refund := reportRefund(t, till, lost, 1_00, 0, payment.TransactionApproved)
		asked := payment.Minor(1_00)
		got, err := till.Refund(t.Context(), till.Shop.ID, brought.ID, checkout.RefundRequest{AmountMinor: &asked}, keyed(till, "again"))
		if err != nil || got.ID != refund || len(till.Gateway.Refunded()) != 0 {
			t.Errorf("asked for again it is %s, %v, and %d were sent", got.MerchantTransactionID, err, len(till.Gateway.Refunded()))
		}
		if now := till.Debit(t, brought.ID).Transaction; now.RefundedMinor != 1_00 {
			t.Errorf("%s are given back", now.RefundedMinor)
		}
	})
}

// TestWhoeverAsksAtOnceForAReportedRefund: of those who repeat it at the same time, one gets it.
func TestWhoeverAsksAtOnceForAReportedRefund(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved).Transaction
		lost := reportRefund(t, till, paid, paid.AmountMinor, 0, payment.TransactionApproved)
		given := make([]payment.Transaction, 4)
		errs := make([]error, len(given))
		var operators sync.WaitGroup
		for i := range given {
			operators.Go(func() {
				given[i], errs[i] = till.Refund(t.Context(), till.Shop.ID, paid.ID, checkout.RefundRequest{AmountMinor: &paid.AmountMinor}, keyed(till, strconv.Itoa(i)))
			})
		}
		operators.Wait()
		found := 0
		for i, err := range errs {
			switch {
			case err == nil && given[i].ID == lost:
				found++
			case payment.KindOf(err) != payment.Invalid && payment.KindOf(err) != payment.Conflict:
				t.Errorf("somebody got %v, %v", given[i].ID, err)
			}
		}
		if found != 1 || len(till.Gateway.Refunded()) != 0 {
			t.Errorf("%d were told of it, and %d sent", found, len(till.Gateway.Refunded()))
		}
	})
}

// TestTwoWhoHaveSeenTheSameLeftGiveBackOnce: each may mean the same refund, and does not know of the other.
func TestTwoWhoHaveSeenTheSameLeftGiveBackOnce(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved).Transaction
		part, left := paid.AmountMinor/4, paid.RefundableMinor()
		errs := make([]error, 4)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				_, errs[i] = till.Refund(t.Context(), till.Shop.ID, paid.ID, checkout.RefundRequest{AmountMinor: &part, LeftMinor: &left}, keyed(till, strconv.Itoa(i)))
			})
		}
		all.Wait()
		done := 0
		for _, err := range errs {
			if err == nil {
				done++
			} else if payment.KindOf(err) != payment.Conflict {
				t.Errorf("got %v", err)
			}
		}
		if d := till.Debit(t, paid.ID); done != 1 || d.Transaction.RefundedMinor != part {
			t.Errorf("%d refunds, %s in all", done, d.Transaction.RefundedMinor)
		}
	})
}
