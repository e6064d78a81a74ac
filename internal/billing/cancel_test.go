package billing_test

import (
	"context"
	"testing"

	"sepad/internal/payment"
)

func TestCancel(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		t.Run("nothing is billed afterwards", func(t *testing.T) {
			sub := d.due(t)
			cancelled, err := d.Billing.Cancel(t.Context(), sub.TenantID, sub.ID, payment.CancelledByOperator)
			if err != nil || cancelled.Status != payment.SubscriptionCancelled || !cancelled.CancelledAt.Equal(d.Time.Now()) {
				t.Fatalf("it is %s: %v", cancelled.Status, err)
			}
			d.Gateway.Answer(approved)
			d.bill(t, 0)
			if stored := d.Subscription(t, sub.ID); stored.Status != payment.SubscriptionCancelled {
				t.Errorf("it is stored as %s", stored.Status)
			}
			if _, err := d.Billing.Cancel(t.Context(), sub.TenantID, sub.ID, payment.CancelledByOperator); payment.KindOf(err) != payment.Conflict {
				t.Errorf("cancelled twice: %v", err)
			}
		})
		t.Run("a rebill that is at the gateway already is still settled", func(t *testing.T) {
			sub := d.due(t)
			d.Gateway.Answer(approved)
			d.Gateway.During(func(context.Context) {
				if _, err := d.Billing.Cancel(t.Context(), sub.TenantID, sub.ID, payment.CancelledByOperator); err != nil {
					t.Errorf("cancel: %v", err)
				}
			})
			d.bill(t, 1)
			after := d.Subscription(t, sub.ID)
			if after.Status != payment.SubscriptionCancelled || after.SuccessfulCount != 1 || !after.NextBillingDate.IsZero() || after.OpenTransactionID != nil {
				t.Errorf("it is %s, billed %d times, next on %q", after.Status, after.SuccessfulCount, after.NextBillingDate)
			}
		})
		t.Run("one of another tenant is not found", func(t *testing.T) {
			sub := d.Subscribed(t)
			if _, err := d.Billing.Cancel(t.Context(), d.NewShop(t).ID, sub.ID, payment.CancelledByOperator); payment.KindOf(err) != payment.NotFound {
				t.Errorf("the answer is %v", err)
			}
		})
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.Subscribed(t)
		found, dates, err := d.Preview(t.Context(), sub.TenantID, sub.ID)
		if err != nil || found.ID != sub.ID || len(dates) != 24 {
			t.Fatalf("%d dates of %s: %v", len(dates), found.ID, err)
		}
		for i, date := range dates {
			if want := sub.PeriodStart(i + 1); date != want {
				t.Errorf("date %d is %s, want %s", i, date, want)
			}
		}
		if _, _, err := d.Preview(t.Context(), sub.TenantID, payment.NewID()); payment.KindOf(err) != payment.NotFound {
			t.Errorf("of one that nobody knows: %v", err)
		}
	})
}
