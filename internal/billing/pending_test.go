package billing_test

import (
	"strings"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestARebillThatWasTakenInIsNotLost: a gateway that has put it away, or is asked at a wrong address, does
// not know it any more. Tried again it would be collected twice.
func TestARebillThatWasTakenInIsNotLost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictPending, GatewayReference: "GW-7"})
		d.bill(t, 1)
		d.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictLost})
		for range 30 {
			d.Time.Pass(24 * time.Hour)
			if _, err := d.Till.RunDue(t.Context(), d.Time.Now()); err != nil {
				t.Fatal(err)
			}
			d.bill(t, 0)
		}
		rebills, after := d.rebills(t, sub), d.Subscription(t, sub.ID)
		if len(rebills) != 1 || rebills[0].Status != payment.TransactionPending || after.Status != payment.SubscriptionActive || after.FailedCount != 0 {
			t.Errorf("%d rebills, the first %s, the subscription %s after %d refusals", len(rebills), rebills[0].Status, after.Status, after.FailedCount)
		}
		if told := strings.Count(d.Log(), "contradicts our records"); told != 30 {
			t.Errorf("a person is told %d times", told)
		}
		d.Gateway.Answer(approved)
		d.Time.Pass(24 * time.Hour)
		if _, err := d.Till.RunDue(t.Context(), d.Time.Now()); err != nil || d.Subscription(t, sub.ID).SuccessfulCount != 1 {
			t.Errorf("it is not collected once its gateway knows it again: %v", err)
		}
	})
}

// TestAFirstPaymentIsTriedFromTheNewAccount, once, when the old one refuses what a batch gateway had taken in.
func TestAFirstPaymentIsTriedFromTheNewAccount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		paid := d.Paid(t, payment.Outcome{Verdict: payment.VerdictPending, GatewayReference: "GW-7"}, storetest.WithTerms(storetest.Monthly))
		created, err := d.NewMandate(t.Context(), d.Shop.ID, paid.Subscription.ID, checkout.CreateRequest{})
		if err != nil {
			t.Fatal(err)
		}
		d.Gateway.Answer(approved)
		found := d.Env.Find(t, created.Token)
		if _, err := d.Pay(t.Context(), d.Payment(found)); err != nil {
			t.Fatal(err)
		}
		d.Gateway.Answer(closed)
		d.Time.Pass(24 * time.Hour)
		if _, err := d.Till.RunDue(t.Context(), d.Time.Now()); err != nil {
			t.Fatal(err)
		}
		d.Gateway.Answer(approved)
		d.bill(t, 1)
		d.bill(t, 0)
		rebills, after := d.rebills(t, *paid.Subscription), d.Subscription(t, paid.Subscription.ID)
		if len(rebills) != 1 || rebills[0].AmountMinor != paid.Transaction.AmountMinor || rebills[0].MandateReference != found.Session.MandateReference {
			t.Fatalf("%d rebills: %v", len(rebills), rebills)
		}
		if after.Status != payment.SubscriptionActive || after.NextBillingDate != paid.Subscription.NextBillingDate || after.RevenueMinor != paid.Transaction.AmountMinor {
			t.Errorf("it is %s, billed next %s, with %s", after.Status, after.NextBillingDate, after.RevenueMinor)
		}
		// The order of a first payment that was refused has no other way to say that money has come and gone.
		report := payment.Chargeback{Source: payment.ChargebackManual, AmountMinor: rebills[0].AmountMinor, ReasonCode: "MD06"}
		if _, err := d.ChargeBack(t.Context(), d.Shop.ID, rebills[0].ID, report, store.RequestKey{}); err != nil {
			t.Fatal(err)
		}
		if order, err := d.Env.Store.Tenant(d.Shop.ID).OrderOf(t.Context(), paid.Session.ID); err != nil || order.Status != payment.OrderChargedBack {
			t.Errorf("its order: %v, %v", order, err)
		}
	})
}
