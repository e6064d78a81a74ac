package checkout_test

import (
	"testing"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// TestReportsTogether settles many payments by one file: each comes to what it would have come to alone, and one that
// cannot be taken in holds up nobody.
func TestReportsTogether(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		first, second, refused := till.Paid(t, pending), till.Paid(t, pending), till.Paid(t, pending)
		collected := till.Paid(t, approved)
		reports := []checkout.Report{
			{TransactionID: first.Transaction.ID, Outcome: approved},
			{TransactionID: payment.NewID(), Outcome: approved},
			{TransactionID: second.Transaction.ID, Outcome: approved},
			{TransactionID: refused.Transaction.ID, Outcome: declined},
			{TransactionID: collected.Transaction.ID, Outcome: approved},
			{TransactionID: first.Transaction.ID, Outcome: approved},
		}
		before, wrote := till.Events(t), 0
		along := func(*store.Tx) { wrote++ }
		said, err := till.SettleReportedWith(t.Context(), till.Setup(t, till.Shop), reports, along)
		if err != nil || len(said) != len(reports) {
			t.Fatalf("%v: %v", said, err)
		}
		for i, why := range said {
			if isUnknown := i == 1; (why != nil) != isUnknown {
				t.Errorf("report %d: %v", i, why)
			}
		}
		for i, c := range []struct {
			of   checkout.Result
			want payment.TransactionStatus
		}{{first, payment.TransactionApproved}, {second, payment.TransactionApproved}, {refused, payment.TransactionDeclined}, {collected, payment.TransactionApproved}} {
			if d := till.Debit(t, c.of.Transaction.ID); d.Transaction.Status != c.want || d.Transaction.InFlight() {
				t.Errorf("payment %d is %s, want %s", i, d.Transaction.Status, c.want)
			}
		}
		kind := payment.EventTransactionStatusChanged
		if told := till.Events(t)[kind] - before[kind]; told != 3 {
			t.Errorf("%d changes were told of three", told)
		}
		if wrote != 0 {
			t.Error("beside what was refused something is written that must not be")
		}
		if _, err := till.SettleReportedWith(t.Context(), till.Setup(t, till.Shop), reports[:1], along); err != nil || wrote == 0 {
			t.Errorf("the same report again, with what goes along written %d times: %v", wrote, err)
		}
		if again := till.Events(t)[kind] - before[kind]; again != 3 {
			t.Errorf("the same report again tells of %d changes", again-3)
		}
	})
}

// TestAReportedRefundSettlesItsPayment has a refund that was taken in be given back, and another one be refused.
func TestAReportedRefundSettlesItsPayment(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name         string
			outcome      payment.Outcome
			refund, paid payment.TransactionStatus
			given        payment.Minor
		}{
			{"given back", approved, payment.TransactionApproved, payment.TransactionRefunded, -1},
			{"refused", declined, payment.TransactionDeclined, payment.TransactionApproved, 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				paid := till.Paid(t, approved)
				till.Gateway.Answer(pending)
				refund, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{}, store.RequestKey{})
				if err != nil {
					t.Fatal(err)
				}
				said, err := till.SettleReported(t.Context(), till.Setup(t, till.Shop), []checkout.Report{{TransactionID: refund.ID, Outcome: c.outcome}})
				if err != nil || len(said) != 1 || said[0] != nil {
					t.Fatalf("%v: %v", said, err)
				}
				given := c.given
				if given < 0 {
					given = paid.Transaction.AmountMinor
				}
				d := till.Debit(t, paid.Transaction.ID).Transaction
				if d.Status != c.paid || d.RefundedMinor != given || d.RefundingMinor != 0 {
					t.Errorf("the payment is %s, %s given back, %s set aside", d.Status, d.RefundedMinor, d.RefundingMinor)
				}
				if stored := till.Debit(t, refund.ID).Transaction; stored.Status != c.refund {
					t.Errorf("the refund is %s", stored.Status)
				}
			})
		}
	})
}

// TestAReportClosesTheSessionOfAnOpenPayment: nobody else brings the answer for which its payer waits.
func TestAReportClosesTheSessionOfAnOpenPayment(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		open := till.Unknown(t)
		said, err := till.SettleReported(t.Context(), till.Setup(t, till.Shop), []checkout.Report{{TransactionID: open.Transaction.ID, Outcome: approved}})
		if err != nil || said[0] != nil {
			t.Fatalf("%v: %v", said, err)
		}
		if s := till.Env.Find(t, open.Session.Token).Session; s.Status != payment.SessionCompleted || s.OpenTransactionID != nil {
			t.Errorf("the session is %s, and has an attempt under way: %t", s.Status, s.OpenTransactionID != nil)
		}
	})
}

func TestARefundUnderAKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		half := paid.Transaction.AmountMinor / 2
		key := store.RequestKey{Key: "refund-1", RequestHash: "the same", At: till.Time.Now()}
		till.Gateway.Silence()
		refund, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{AmountMinor: &half}, key)
		if payment.KindOf(err) != payment.OutcomeUnknown {
			t.Fatal(err)
		}
		if _, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{AmountMinor: &half}, key); payment.KindOf(err) != payment.KindOf(store.ErrRequestRunning) || err == nil {
			t.Errorf("the same request before its outcome is known: %v", err)
		}
		till.Gateway.Answer(approved)
		till.World.Pass(silence)
		if _, err := till.RunLookups(t.Context()); err != nil {
			t.Fatal(err)
		}
		again, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{AmountMinor: &half}, key)
		if err != nil || again.ID != refund.ID || again.Status != payment.TransactionApproved {
			t.Errorf("the same request afterwards gives %s, %s: %v", again.ID, again.Status, err)
		}
		if sent := till.Gateway.Refunded(); len(sent) != 1 {
			t.Errorf("%d refunds were sent", len(sent))
		}
	})
}
