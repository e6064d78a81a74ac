package billing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sepad/internal/payment"
)

// TestWhoStandsBesideABrokenOneIsBilled also while something else is set aside, for which more are read than are taken.
func TestWhoStandsBesideABrokenOneIsBilled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.Lanes, d.PerLane = 1, 1
		sound, broken := d.Subscribed(t), d.Subscribed(t)
		d.Env.Exec(t, `UPDATE subscriptions SET next_billing_date = NULL WHERE id = $1`, broken.ID.String())
		d.Billing.Checkout.SetAside(t.Context(), d.Shop.ID, payment.NewID(), errors.New("something else"))
		d.Time.Set(sound.NextBillingDate.Start())
		d.Gateway.Answer(approved)
		if _, err := d.Billing.RunDue(t.Context(), d.Time.Now()); err != nil {
			t.Error(err)
		}
		if after := d.Subscription(t, sound.ID); after.SuccessfulCount != 1 || d.Billing.Checkout.Aside.Holds(sound.ID, d.World.Now()) {
			t.Errorf("the sound one was billed %d times", after.SuccessfulCount)
		}
	})
}

// TestWhatIsSetAsideIsNotReadAgain: a merchant of whose subscriptions thousands could not be billed had all that belongs to each of
// them read again, where there is one writer, for every few that were claimed for anybody.
func TestWhatIsSetAsideIsNotReadAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		if d.Env.Engine != "sqlite" {
			return // what cannot be read cannot be written either
		}
		for _, many := range []int{1, 20} {
			sound := d.Subscribed(t)
			for range many {
				unreadable := d.Subscribed(t)
				d.Env.Exec(t, `UPDATE subscriptions SET next_billing_date = 'never' WHERE id = $1`, unreadable.ID.String())
				d.Billing.Checkout.SetAside(t.Context(), d.Shop.ID, unreadable.ID, errors.New("it cannot be read"))
			}
			d.Time.Set(sound.NextBillingDate.Start())
			d.Gateway.Answer(approved)
			if _, err := d.Billing.RunDue(t.Context(), d.Time.Now()); err != nil {
				t.Errorf("beside %d: %v", many, err)
			}
			if after := d.Subscription(t, sound.ID); after.SuccessfulCount != 1 {
				t.Errorf("beside %d: the sound one was billed %d times", many, after.SuccessfulCount)
			}
		}
	})
}

// TestThoseThatCannotBeBilledKeepNobodyBack, however many fall due at once.
func TestThoseThatCannotBeBilledKeepNobodyBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		d.Lanes, d.PerLane = 1, 4
		var broken []payment.Subscription
		for range 9 {
			broken = append(broken, d.Subscribed(t))
		}
		sound := d.Subscribed(t)
		for _, sub := range broken {
			d.Env.Exec(t, `UPDATE subscriptions SET next_billing_date = NULL, due_at = due_at - 1 WHERE id = $1`, sub.ID.String())
		}
		d.Time.Set(sound.NextBillingDate.Start())
		d.Gateway.Answer(approved)
		if _, err := d.Billing.RunDue(t.Context(), d.Time.Now()); err != nil {
			t.Error(err)
		}
		if after := d.Subscription(t, sound.ID); after.SuccessfulCount != 1 {
			t.Errorf("the sound one was billed %d times", after.SuccessfulCount)
		}
		if n := d.Billing.Checkout.Aside.Total(); n != int64(len(broken)) {
			t.Errorf("%d were set aside, want %d", n, len(broken))
		}
	})
}

// TestWhatIsOverAndCannotBeEndedWaitsForAPerson, and is not ended over and over.
func TestWhatIsOverAndCannotBeEndedWaitsForAPerson(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		spoilt := d.Subscribed(t)
		d.Env.Exec(t, `UPDATE subscriptions SET status = 'GONE' WHERE id = $1`, spoilt.ID.String())
		d.Time.Set(spoilt.MandateUsedAt.AddDate(3, 0, 1))
		patience, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if done, err := d.Billing.RunDue(patience, d.Time.Now()); done != 0 || err != nil {
			t.Errorf("%d were ended: %v", done, err)
		}
		if after := d.Subscription(t, spoilt.ID); after.Status != "GONE" || !d.Billing.Checkout.Aside.Holds(spoilt.ID, d.World.Now()) {
			t.Errorf("it is %s: %s", after.Status, d.Log())
		}
	})
}
