package checkout_test

import (
	"strings"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func addTransaction(t payment.Transaction, events []store.EventRow) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		tx.AddTransaction(t, events)
		return nil
	}
}

// hear has the gateway report something of the till's shop.
func hear(t *testing.T, till *checkouttest.Till, notices ...gateway.Notice) checkout.Notified {
	t.Helper()
	till.Gateway.Report(notices...)
	told, err := till.Notify(t.Context(), till.Shop.Gateway.ID, gateway.Notification{})
	if err != nil {
		t.Fatalf("notify: %v", err)
	}
	return told
}

// chargedBack makes a report one of a chargeback.
func chargedBack(n gateway.Notice) gateway.Notice {
	n.Chargeback = &payment.Chargeback{
		MerchantTransactionID: n.Transaction.MerchantTransactionID, AmountMinor: n.Transaction.AmountMinor, Currency: "EUR",
	}
	return n
}

func inFrancs(n gateway.Notice) gateway.Notice {
	n.Chargeback.Currency = "CHF"
	return n
}

func dearer(n gateway.Notice) gateway.Notice {
	n.Transaction.AmountMinor++
	return n
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name    string
			known   func(*testing.T) payment.Debit
			notice  func(payment.Debit) gateway.Notice
			refused bool
			want    payment.TransactionStatus
		}{
			{
				"a payment under way is settled", func(t *testing.T) payment.Debit { t.Helper(); return till.Unknown(t) },
				func(d payment.Debit) gateway.Notice { return noticeOf(d, approved) }, false, payment.TransactionApproved,
			},
			{
				"a payment that awaits verification is settled", func(t *testing.T) payment.Debit { t.Helper(); return till.Paid(t, storetest.Verification).Debit },
				func(d payment.Debit) gateway.Notice { return noticeOf(d, approved) }, false, payment.TransactionApproved,
			},
			{
				"a pending payment is refused", func(t *testing.T) payment.Debit { t.Helper(); return till.Paid(t, pending).Debit },
				func(d payment.Debit) gateway.Notice { return noticeOf(d, declined) }, false, payment.TransactionDeclined,
			},
			{
				"what is known changes nothing", func(t *testing.T) payment.Debit { t.Helper(); return till.Paid(t, approved).Debit },
				func(d payment.Debit) gateway.Notice { return noticeOf(d, approved) }, false, payment.TransactionApproved,
			},
			{
				"what contradicts our records is refused", func(t *testing.T) payment.Debit { t.Helper(); return till.Paid(t, approved).Debit },
				func(d payment.Debit) gateway.Notice { return noticeOf(d, declined) }, true, payment.TransactionApproved,
			},
			{
				"another amount is refused", func(t *testing.T) payment.Debit { t.Helper(); return till.Unknown(t) },
				func(d payment.Debit) gateway.Notice { return dearer(noticeOf(d, approved)) }, true, payment.TransactionPending,
			},
			{
				"a chargeback is taken", func(t *testing.T) payment.Debit { t.Helper(); return till.Paid(t, approved).Debit },
				func(d payment.Debit) gateway.Notice { return chargedBack(noticeOf(d, payment.Outcome{})) }, false, payment.TransactionChargedBack,
			},
			{
				"a chargeback of another currency is refused", func(t *testing.T) payment.Debit { t.Helper(); return till.Paid(t, approved).Debit },
				func(d payment.Debit) gateway.Notice { return inFrancs(chargedBack(noticeOf(d, payment.Outcome{}))) }, true, payment.TransactionApproved,
			},
			{
				"a chargeback proves that the payment was collected", func(t *testing.T) payment.Debit { t.Helper(); return till.Paid(t, pending).Debit },
				func(d payment.Debit) gateway.Notice { return chargedBack(noticeOf(d, payment.Outcome{})) }, false, payment.TransactionChargedBack,
			},
		} {
			t.Run(c.name, func(t *testing.T) {
				known := c.known(t)
				told := hear(t, till, c.notice(known))
				want := checkout.Notified{Taken: 1}
				if c.refused {
					want = checkout.Notified{Refused: 1}
				}
				if told != want {
					t.Errorf("told %+v, want %+v", told, want)
				}
				if got := till.Debit(t, known.Transaction.ID).Transaction.Status; got != c.want {
					t.Errorf("the payment is %s, want %s", got, c.want)
				}
				if c.refused != strings.Contains(till.Log(), known.Transaction.MerchantTransactionID) {
					t.Errorf("logged: %s", till.Log())
				}
			})
		}
	})
}

func TestANotificationOfAPaymentThatWeDoNotKnowBringsItIn(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		unknown := payment.Debit{Transaction: payment.Transaction{MerchantTransactionID: "TXN-theirs", AmountMinor: 7_00, Currency: "EUR"}}
		for range 2 { // the second time it is known
			if told := hear(t, till, noticeOf(unknown, approved)); told.Taken != 1 {
				t.Fatalf("told %+v", told)
			}
		}
		found, err := till.Store.Tenant(till.Shop.ID).DebitByMerchantID(t.Context(), "TXN-theirs")
		if err != nil {
			t.Fatal(err)
		}
		if r := found.Transaction; r.Status != payment.TransactionApproved || r.GatewayID != till.Shop.Gateway.ID || r.Source != payment.SourceWebhook || r.GatewayReference != "GW-1" {
			t.Errorf("it is %s through %s from %s", r.Status, r.GatewayID, r.Source)
		}
		if n := till.Events(t)[payment.EventTransactionCreated]; n != 1 {
			t.Errorf("it was told of %d times", n)
		}
	})
}

// TestAChargebackThatCameBeforeItsPayment has whoever brings the payment in die before it comes to the chargeback: the
// gateway, which had no answer, says the same again.
func TestAChargebackThatCameBeforeItsPayment(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		notice := noticeOf(payment.Debit{Transaction: payment.Transaction{MerchantTransactionID: "TXN-theirs", AmountMinor: 7_00, Currency: "EUR"}}, approved)
		hear(t, till, chargedBack(notice))
		reported := notice.Transaction
		reported.TenantID, reported.GatewayID = till.Shop.ID, till.Shop.Gateway.ID
		brought := payment.BringIn(reported, approved, payment.SourceWebhook, till.Time.Now())
		till.Env.Write(t, addTransaction(brought.Transaction, nil))
		hear(t, till, notice)
		if d := till.Debit(t, brought.Transaction.ID); d.Transaction.Status != payment.TransactionChargedBack {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
	})
}

func TestARefundIsSettledByItsNotification(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved)
		till.Gateway.Silence()
		refund, err := till.Refund(t.Context(), till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{}, store.RequestKey{})
		if payment.KindOf(err) != payment.OutcomeUnknown {
			t.Fatal(err)
		}
		if told := hear(t, till, noticeOf(payment.Debit{Transaction: refund}, approved)); told.Taken != 1 {
			t.Fatalf("told %+v", told)
		}
		if d := till.Debit(t, paid.Transaction.ID); d.Transaction.Status != payment.TransactionRefunded {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
	})
}

func TestWhoseNotificationIsNotHeard(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		if _, err := till.Notify(t.Context(), payment.NewID(), gateway.Notification{}); payment.KindOf(err) != payment.NotFound {
			t.Errorf("a gateway that nobody has: %v", err)
		}
		if _, err := till.Notify(t.Context(), till.Shop.Offer.ID, gateway.Notification{}); payment.KindOf(err) != payment.NotFound {
			t.Errorf("what is no gateway: %v", err)
		}
		open := till.Unknown(t)
		till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.Active = false })
		if told := hear(t, till, noticeOf(open, approved)); told.Taken != 1 {
			t.Errorf("one that was switched off since is not heard: %+v", told)
		}
		elsewhere := till.NewShop(t)
		till.Gateway.Report(noticeOf(open, declined))
		if _, err := till.Notify(t.Context(), elsewhere.Gateway.ID, gateway.Notification{}); err != nil {
			t.Fatal(err)
		}
		if d := till.Debit(t, open.Transaction.ID); d.Transaction.Status != payment.TransactionApproved {
			t.Errorf("another tenant's gateway made it %s", d.Transaction.Status)
		}
	})
	t.Run("one that sends none", func(t *testing.T) {
		t.Parallel()
		till := checkouttest.Open(t, storetest.SQLite(t), checkouttest.WithoutAbilities)
		if _, err := till.Notify(t.Context(), till.Shop.Gateway.ID, gateway.Notification{}); payment.KindOf(err) != payment.NotFound {
			t.Errorf("the answer is %v", err)
		}
	})
}

// TestOneGatewaysReferenceIsNotAnothers: references are a gateway's own, and two
// accounts of a tenant may have given the same one.
func TestOneGatewaysReferenceIsNotAnothers(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		ours := till.Paid(t, pending)
		other := till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.ID = payment.NewID() })
		theirs := till.Paid(t, pending, func(d *storetest.Draft) { d.GatewayID = other.ID })
		notice := noticeOf(ours.Debit, payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "GW-2"})
		notice.Transaction.MerchantTransactionID = ""
		till.Gateway.Report(notice)
		if _, err := till.Notify(t.Context(), other.ID, gateway.Notification{}); err != nil {
			t.Fatal(err)
		}
		if a, b := till.Debit(t, ours.Transaction.ID), till.Debit(t, theirs.Transaction.ID); a.Transaction.Status != payment.TransactionPending || b.Transaction.Status != payment.TransactionApproved {
			t.Errorf("ours is %s, theirs %s", a.Transaction.Status, b.Transaction.Status)
		}
	})
}

// TestABankThatBlamesUsIsToldOf: somebody is called once the account is paused, and not for what was not written.
func TestABankThatBlamesUsIsToldOf(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, pending)
		blames := payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.DeclineUnknown, GatewayCode: "AC03"}}
		till.Gateway.Report(noticeOf(paid.Debit, blames))
		wantCalls := func(want int) {
			t.Helper()
			if calls := strings.Count(till.Log(), "a bank blames the creditor"); calls != want {
				t.Errorf("somebody is called %d times, want %d: %s", calls, want, till.Log())
			}
		}
		without(t, till, "events", func() {
			if _, err := till.Notify(t.Context(), till.Shop.Gateway.ID, gateway.Notification{}); err == nil {
				t.Error("it is told as taken")
			}
		})
		wantCalls(0)
		if told, err := till.Notify(t.Context(), till.Shop.Gateway.ID, gateway.Notification{}); err != nil || told.Taken != 1 {
			t.Errorf("%d were taken: %v", told.Taken, err)
		}
		wantCalls(1)
	})
}

func TestAFileReportsThatAPaymentWentBack(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup, paid := till.Setup(t, till.Shop), till.Paid(t, approved).Transaction
		at := till.Time.Now().Add(-time.Hour)
		line := payment.Transaction{GatewayReference: "CB-7", AmountMinor: paid.AmountMinor, Currency: paid.Currency, ProcessedAt: at}
		part := line
		part.AmountMinor--
		if err := till.ApplyReported(t.Context(), setup, paid.ID, payment.ReportsChargeback, part, payment.ChargebackReconciled); payment.KindOf(err) != payment.Conflict {
			t.Errorf("of a part of it: %v", err)
		}
		francs := line
		francs.Currency = "CHF"
		if err := till.ApplyReported(t.Context(), setup, paid.ID, payment.ReportsChargeback, francs, payment.ChargebackReconciled); payment.KindOf(err) != payment.Invalid {
			t.Errorf("in other money: %v", err)
		}
		if err := till.ApplyReported(t.Context(), setup, paid.ID, payment.ReportsChargeback, line, payment.ChargebackReconciled); err != nil {
			t.Fatal(err)
		}
		if d := till.Debit(t, paid.ID); d.Transaction.Status != payment.TransactionChargedBack {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
		taken, err := till.Store.Tenant(till.Shop.ID).ChargebackByMerchantID(t.Context(), paid.MerchantTransactionID)
		if err != nil || taken == nil {
			t.Fatalf("there is no chargeback: %v", err)
		}
		if taken.GatewayReference != "CB-7" || taken.AmountMinor != paid.AmountMinor || taken.Currency != "EUR" || !taken.ReportedAt.Equal(at) ||
			taken.Source != payment.ChargebackReconciled || *taken.TransactionID != paid.ID {
			t.Errorf("the chargeback is %+v", *taken)
		}
		line.AmountMinor++
		if err := till.ApplyReported(t.Context(), setup, paid.ID, payment.ReportsChargeback, line, payment.ChargebackReconciled); payment.KindOf(err) != payment.Conflict {
			t.Errorf("of another amount: %v", err)
		}
	})
}

func TestWhatAFileReportsSettlesAPendingPayment(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup, paid := till.Setup(t, till.Shop), till.Paid(t, pending)
		if err := till.ApplyReported(t.Context(), setup, paid.Transaction.ID, payment.ReportsOutcome, payment.Transaction{Status: payment.TransactionApproved}, payment.ChargebackImported); err != nil {
			t.Fatal(err)
		}
		if d := till.Debit(t, paid.Transaction.ID); d.Transaction.Status != payment.TransactionApproved || d.Order.Status != payment.OrderCompleted {
			t.Errorf("payment %s, order %s", d.Transaction.Status, d.Order.Status)
		}
		if err := till.ApplyReported(t.Context(), setup, paid.Transaction.ID, payment.ReportsOutcome, payment.Transaction{Status: payment.TransactionDeclined}, payment.ChargebackImported); payment.KindOf(err) != payment.Conflict {
			t.Errorf("the opposite afterwards: %v", err)
		}
		if err := till.ApplyReported(t.Context(), setup, payment.NewID(), payment.ReportsOutcome, payment.Transaction{Status: payment.TransactionApproved}, payment.ChargebackImported); payment.KindOf(err) != payment.NotFound {
			t.Errorf("of what nobody knows: %v", err)
		}
	})
}

// TestAFileGivesAPaymentItsSecondName, once: that is how the processor's later files call it.
func TestAFileGivesAPaymentItsSecondName(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		setup, paid := till.Setup(t, till.Shop), till.Paid(t, pending)
		for _, line := range []struct {
			means payment.Reported
			says  payment.Transaction
		}{
			{payment.ReportsOutcome, payment.Transaction{Status: payment.TransactionApproved, ProcessorID: "P-1"}},
			{payment.ReportsRefund, payment.Transaction{ProcessorID: "P-2"}},
		} {
			if err := till.ApplyReported(t.Context(), setup, paid.Transaction.ID, line.means, line.says, payment.ChargebackImported); err != nil {
				t.Fatal(err)
			}
			if d := till.Debit(t, paid.Transaction.ID).Transaction; d.ProcessorID != "P-1" {
				t.Errorf("%s, it is called %q", d.Status, d.ProcessorID)
			}
		}
	})
}

// TestAGatewayInsideThisProgramIsHeardOnItsDay: what was not taken is said again an
// hour later.
func TestAGatewayInsideThisProgramIsHeardOnItsDay(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, payment.Outcome{Verdict: payment.VerdictPending, SettlesAt: till.Time.Now().Add(time.Hour * 24)})
		run := func(want int) {
			t.Helper()
			if n, err := till.RunDue(t.Context(), till.Time.Now()); n != want || err != nil {
				t.Fatalf("%d things were done, want %d: %v", n, want, err)
			}
		}
		till.Gateway.Announce(paid.Transaction, till.Time.Now().Add(time.Minute))
		run(0)
		till.Time.Pass(time.Minute)
		till.Gateway.Report(gateway.Notice{}) // it names no payment, and cannot be taken
		run(1)
		if !strings.Contains(till.Log(), "was not taken") {
			t.Errorf("logged: %s", till.Log())
		}
		till.Gateway.Report(noticeOf(paid.Debit, approved))
		till.Time.Pass(time.Hour - time.Microsecond)
		run(0)
		till.Time.Pass(time.Microsecond)
		run(1)
		if d := till.Debit(t, paid.Transaction.ID); d.Transaction.Status != payment.TransactionApproved {
			t.Errorf("the payment is %s", d.Transaction.Status)
		}
		run(0)
	})
}
