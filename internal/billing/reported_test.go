package billing_test

import (
	"testing"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// reported has a processor's file bring the n-th debit of a subscription's period, of which the database knows nothing.
func (d desk) reported(t *testing.T, sub payment.Subscription, n int, status payment.TransactionStatus) payment.Transaction {
	t.Helper()
	brought := payment.Transaction{
		ID: payment.NewID(), TenantID: sub.TenantID, GatewayID: sub.GatewayID, MerchantTransactionID: payment.RebillReference(sub, n),
		Status: status, Type: payment.Sale, AmountMinor: sub.AmountMinor, Currency: sub.Currency, Source: payment.SourceImport,
		GatewayReference: "GW-LOST", ProcessedAt: d.Time.Now(),
	}
	d.Env.Write(t, func(tx *store.Tx) error {
		tx.AddTransaction(brought, nil)
		return nil
	})
	return brought
}

// TestADebitThatWasReportedIsNotMadeAgain: after a restore, a file or a notification brings a rebill that was lost before
// its gateway was asked about it, or before it is due by what is known now.
func TestADebitThatWasReportedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]func(*testing.T, desk){
		"asked": func(t *testing.T, d desk) {
			d.restore(t)
			d.recallAll(t)
			d.bill(t, 0)
		},
		"due": func(t *testing.T, d desk) { d.bill(t, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) {
				sub := d.due(t)
				brought := d.reported(t, sub, 1, payment.TransactionApproved)
				d.Gateway.AnswerEach(map[string]payment.Outcome{brought.MerchantTransactionID: approved})
				told := d.Events(t)[payment.EventTransactionCreated]
				found(t, d)
				if now := d.Events(t)[payment.EventTransactionCreated]; now != told {
					t.Errorf("of %d payments it was told anew", now-told) // the report has told of it
				}
				if sent := len(d.Gateway.Submitted()); sent != 1 {
					t.Errorf("%d payments were sent", sent)
				}
				rebills, after := d.rebills(t, sub), d.Subscription(t, sub.ID)
				if len(rebills) != 1 || rebills[0].ID != brought.ID || rebills[0].Status != payment.TransactionApproved || *rebills[0].Period != sub.Period {
					t.Fatalf("the books have %+v", rebills)
				}
				if after.Period != 2 || after.SuccessfulCount != 1 || after.RevenueMinor != 2*storetest.Monthly.PriceMinor || after.OpenTransactionID != nil {
					t.Errorf("period %d, %d collected, %s in all", after.Period, after.SuccessfulCount, after.RevenueMinor)
				}
			})
		})
	}
}

// TestAllThatWasReportedOfASubscriptionIsRecalled, however many periods a restore has lost.
func TestAllThatWasReportedOfASubscriptionIsRecalled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		next := sub
		next.Period++
		d.reported(t, sub, 1, payment.TransactionApproved)
		d.reported(t, next, 1, payment.TransactionApproved)
		d.Gateway.AnswerEach(map[string]payment.Outcome{}) // it knows of no further one
		d.restore(t)
		if err := d.Recall(t.Context(), d.Time.Now()); err != nil {
			t.Fatal(err)
		}
		if after := d.Subscription(t, sub.ID); after.Period != sub.Period+2 || after.SuccessfulCount != 2 || len(d.rebills(t, sub)) != 2 {
			t.Errorf("period %d, %d collected", after.Period, after.SuccessfulCount)
		}
	})
}

// TestEachReportedDebitIsToldByItself: the news of a subscription goes by the payment that they come of, also where a file
// has brought that of many.
func TestEachReportedDebitIsToldByItself(t *testing.T) {
	t.Parallel()
	for status, kind := range map[payment.TransactionStatus]payment.EventKind{
		payment.TransactionApproved: payment.EventSubscriptionRenewed,
		payment.TransactionDeclined: payment.EventSubscriptionPastDue,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) {
				subs := []payment.Subscription{d.Subscribed(t), d.due(t)}
				var brought []payment.Transaction
				for _, sub := range subs {
					brought = append(brought, d.reported(t, sub, 1, status))
				}
				d.Gateway.AnswerEach(map[string]payment.Outcome{}) // it knows of no further one
				d.restore(t)
				if err := d.Recall(t.Context(), d.Time.Now()); err != nil {
					t.Fatal(err)
				}
				for _, one := range brought {
					const told = `SELECT COUNT(*) FROM events WHERE kind = $1 AND event_key LIKE $2`
					if n := storetest.Scalar[int](t, d.Env, told, string(kind), string(kind)+":"+one.ID.String()+"%"); n != 1 {
						t.Errorf("%d events tell of it", n)
					}
				}
			})
		})
	}
}

// TestWhatBecameOfAReportedDebit says what follows from it for the subscription.
func TestWhatBecameOfAReportedDebit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reported payment.TransactionStatus
		sub      payment.SubscriptionStatus
		period   int
		waits    bool
	}{
		{payment.TransactionDeclined, payment.SubscriptionPastDue, 1, false},
		{payment.TransactionPending, payment.SubscriptionActive, 1, true},
		{payment.TransactionRefunded, payment.SubscriptionActive, 2, false},
		{payment.TransactionChargedBack, payment.SubscriptionCancelled, 2, false},
	} {
		t.Run(string(c.reported), func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) {
				sub := d.due(t)
				brought := d.reported(t, sub, 1, c.reported)
				d.bill(t, 1)
				rebill, after := d.Debit(t, brought.ID).Transaction, d.Subscription(t, sub.ID)
				if rebill.Status != c.reported || rebill.Type != payment.Rebill || len(d.Gateway.Submitted()) != 1 {
					t.Fatalf("it is %s, %s: %s", rebill.Type, rebill.Status, d.Log())
				}
				if after.Status != c.sub || after.Period != c.period || after.RevenueMinor != storetest.Monthly.PriceMinor ||
					(after.OpenTransactionID != nil) != c.waits {
					t.Errorf("the subscription is %s in period %d with %s", after.Status, after.Period, after.RevenueMinor)
				}
			})
		})
	}
}

// TestAChargebackThatCameBeforeItsRebill is told after a restore while the gateway cannot be asked what it has collected.
func TestAChargebackThatCameBeforeItsRebill(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.restore(t)
		taken, err := d.Till.Checkout.TakeChargebacks(t.Context(), d.Setup(t, d.Shop), checkout.ChargebackReport{
			GatewayID: sub.GatewayID, Source: payment.ChargebackNotified,
			Chargebacks: []checkout.ReportedChargeback{{Chargeback: payment.Chargeback{
				MerchantTransactionID: payment.RebillReference(sub, 1), AmountMinor: sub.AmountMinor, Currency: sub.Currency, ReasonCode: "MD06",
			}}},
		})
		if err != nil || taken[0].Refused != nil {
			t.Fatalf("%+v: %v", taken, err)
		}
		d.Gateway.AnswerEach(map[string]payment.Outcome{payment.RebillReference(sub, 1): approved})
		if err := d.Recall(t.Context(), d.Time.Now()); err != nil {
			t.Fatal(err)
		}
		if rebills := d.rebills(t, sub); len(rebills) != 1 || !rebills[0].IsChargedBack() {
			t.Errorf("the books have %v", rebills)
		}
		if after := d.Subscription(t, sub.ID); after.Status != payment.SubscriptionCancelled {
			t.Errorf("the subscription is %s", after.Status)
		}
	})
}
