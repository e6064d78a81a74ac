package billing_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
		t.Run("it is told of and on record", func(t *testing.T) {
			sub, before := d.Subscribed(t), d.Events(t)[payment.EventSubscriptionCancelled]
			if _, err := d.Billing.Cancel(t.Context(), sub.TenantID, sub.ID, payment.CancelledByOperator); err != nil {
				t.Fatal(err)
			}
			if told := d.Events(t)[payment.EventSubscriptionCancelled] - before; told != 1 {
				t.Errorf("it is told of %d times", told)
			}
			if n := d.Env.Count(t, "audit_entries WHERE action = 'subscription.cancel' AND object_type = 'subscription' AND object_id = '"+
				sub.ID.String()+"' AND tenant_id = '"+sub.TenantID.String()+"'"); n != 1 {
				t.Errorf("%d entries in the audit trail", n)
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

func TestPause(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		t.Run("nothing is billed until it is resumed, and periods that have begun are left out", func(t *testing.T) {
			sub := d.due(t)
			if _, err := d.PauseSubscription(t.Context(), sub.TenantID, sub.ID); err != nil {
				t.Fatal(err)
			}
			d.Time.Set(sub.PeriodStart(3).Start())
			d.bill(t, 0)
			back, err := d.ResumeSubscription(t.Context(), sub.TenantID, sub.ID)
			if err != nil || back.NextBillingDate != sub.PeriodStart(3) {
				t.Fatalf("it is billed next on %q: %v", back.NextBillingDate, err)
			}
			d.Gateway.Answer(approved)
			d.bill(t, 1)
			if after := d.Subscription(t, sub.ID); after.SuccessfulCount != 1 || after.NextBillingDate != sub.PeriodStart(4) {
				t.Errorf("it was billed %d times, next on %s", after.SuccessfulCount, after.NextBillingDate)
			}
		})
		t.Run("of many calls at once one pauses it", func(t *testing.T) {
			sub := d.Subscribed(t)
			if paused := atOnce(6, func() error {
				_, err := d.PauseSubscription(t.Context(), sub.TenantID, sub.ID)
				return err
			}); paused != 1 {
				t.Errorf("%d calls have paused it", paused)
			}
		})
		t.Run("a change is not lost beside another one", func(t *testing.T) {
			sub := d.Subscribed(t)
			price := payment.Minor(1234)
			if done := atOnce(2, func() error {
				_, err := d.ChangeTerms(t.Context(), sub.TenantID, sub.ID, payment.NewTerms{AmountMinor: &price})
				return err
			}, func() error {
				_, err := d.PauseSubscription(t.Context(), sub.TenantID, sub.ID)
				return err
			}); done != 3 {
				t.Errorf("%d of 3 calls went through", done)
			}
			if after := d.Subscription(t, sub.ID); after.AmountMinor != price || after.PausedAt.IsZero() {
				t.Errorf("it costs %s and is paused at %s", after.AmountMinor, after.PausedAt)
			}
		})
	})
}

func TestPauseWhileARebillIsAtTheGateway(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		outcome payment.Outcome
		want    payment.SubscriptionStatus
	}{
		"it is collected, and the next one waits": {approved, payment.SubscriptionActive},
		"it is refused, and so waits the retry":   {declined, payment.SubscriptionPastDue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d desk) {
				sub := d.due(t)
				d.Gateway.Answer(test.outcome)
				d.Gateway.During(func(context.Context) {
					if _, err := d.PauseSubscription(t.Context(), sub.TenantID, sub.ID); err != nil {
						t.Errorf("pause: %v", err)
					}
				})
				d.bill(t, 1)
				after := d.Subscription(t, sub.ID)
				if after.Status != test.want || after.PausedAt.IsZero() || !after.NextBillingDate.IsZero() || after.OpenTransactionID != nil {
					t.Errorf("it is %s, paused at %s, next on %q", after.Status, after.PausedAt, after.NextBillingDate)
				}
				d.Time.Set(d.Time.Now().AddDate(0, 0, 40))
				d.bill(t, 0)
			})
		})
	}
}

// atOnce makes calls at the same moment, the first so many times, and counts those
// that went through.
func atOnce(times int, first func() error, others ...func() error) int {
	var done atomic.Int64
	var calls sync.WaitGroup
	for range times {
		others = append(others, first)
	}
	for _, call := range others {
		calls.Go(func() {
			if call() == nil {
				done.Add(1)
			}
		})
	}
	calls.Wait()
	return int(done.Load())
}

func TestCancelAtPeriodEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		t.Run("it ends on the day on which it would be billed, and is not", func(t *testing.T) {
			sub := d.Subscribed(t)
			if ending, err := d.CancelAtPeriodEnd(t.Context(), sub.TenantID, sub.ID, payment.CancelledByMerchant); err != nil || ending.EndsOn != sub.NextBillingDate {
				t.Fatalf("it ends on %s: %v", ending.EndsOn, err)
			}
			d.Time.Set(sub.NextBillingDate.Start().Add(-time.Microsecond))
			d.bill(t, 0)
			d.Time.Set(sub.NextBillingDate.Start())
			d.bill(t, 1)
			after := d.Subscription(t, sub.ID)
			if after.Status != payment.SubscriptionCancelled || after.CancelReason != payment.CancelledByMerchant || len(d.rebills(t, sub)) != 0 {
				t.Errorf("it is %s by %q after %d rebills", after.Status, after.CancelReason, len(d.rebills(t, sub)))
			}
		})
		t.Run("while a rebill is at the gateway, it is the period after that one", func(t *testing.T) {
			sub := d.due(t)
			d.Gateway.Answer(approved)
			d.Gateway.During(func(context.Context) {
				if _, err := d.CancelAtPeriodEnd(t.Context(), sub.TenantID, sub.ID, payment.CancelledByMerchant); err != nil {
					t.Errorf("cancel: %v", err)
				}
			})
			d.bill(t, 1)
			after := d.Subscription(t, sub.ID)
			if after.Status != payment.SubscriptionActive || after.EndsOn != sub.PeriodStart(2) || after.SuccessfulCount != 1 {
				t.Errorf("it is %s and ends on %q after %d", after.Status, after.EndsOn, after.SuccessfulCount)
			}
			d.Time.Set(sub.PeriodStart(2).Start())
			d.bill(t, 1)
			if ended := d.Subscription(t, sub.ID); ended.Status != payment.SubscriptionCancelled || ended.SuccessfulCount != 1 {
				t.Errorf("it is %s after %d", ended.Status, ended.SuccessfulCount)
			}
		})
	})
}

func TestChangeTerms(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		t.Run("a retry keeps its price, the next period has the new one", func(t *testing.T) {
			sub, price := d.due(t), payment.Minor(1234)
			d.Gateway.Answer(declined)
			d.bill(t, 1)
			if _, err := d.ChangeTerms(t.Context(), sub.TenantID, sub.ID, payment.NewTerms{AmountMinor: &price}); err != nil {
				t.Fatal(err)
			}
			for _, want := range []payment.Minor{sub.AmountMinor, price} {
				d.Gateway.Answer(approved)
				d.Time.Set(d.Subscription(t, sub.ID).NextBillingDate.Start())
				d.bill(t, 1)
				rebills := d.rebills(t, sub)
				if got := rebills[len(rebills)-1].AmountMinor; got != want {
					t.Errorf("%s were collected, want %s", got, want)
				}
			}
			if _, err := d.Billing.Cancel(t.Context(), sub.TenantID, sub.ID, payment.CancelledByOperator); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("another day moves those behind it", func(t *testing.T) {
			sub := d.Subscribed(t)
			to := sub.NextBillingDate.AddDays(9)
			if _, err := d.ChangeTerms(t.Context(), sub.TenantID, sub.ID, payment.NewTerms{NextBillingDate: to}); err != nil {
				t.Fatal(err)
			}
			d.Time.Set(to.Start().Add(-time.Microsecond))
			d.bill(t, 0)
			d.Time.Set(to.Start())
			d.Gateway.Answer(approved)
			d.bill(t, 1)
			if after := d.Subscription(t, sub.ID); after.NextBillingDate != to.AddMonths(1) || after.SuccessfulCount != 1 {
				t.Errorf("it is billed next on %s, want %s", after.NextBillingDate, to.AddMonths(1))
			}
		})
		t.Run("one of another tenant is not found", func(t *testing.T) {
			sub := d.Subscribed(t)
			if _, err := d.ResumeSubscription(t.Context(), d.NewShop(t).ID, sub.ID); payment.KindOf(err) != payment.NotFound {
				t.Errorf("the answer is %v", err)
			}
		})
	})
}

// TestASubscriptionThatIsNotAsItWasSeenStaysAsItIs: whoever changes it may say what it has to be like.
func TestASubscriptionThatIsNotAsItWasSeenStaysAsItIs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.Subscribed(t)
		if _, err := d.PauseSubscription(t.Context(), sub.TenantID, sub.ID); err != nil {
			t.Fatal(err)
		}
		other := payment.Conflicting("It is not as it was seen.")
		if _, err := d.ResumeSubscription(t.Context(), sub.TenantID, sub.ID, func(payment.Subscription) error { return other }); !errors.Is(err, other) {
			t.Errorf("resumed: %v", err)
		}
		if after := d.Subscription(t, sub.ID); after.PausedAt.IsZero() {
			t.Error("it goes on")
		}
	})
}
