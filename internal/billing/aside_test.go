package billing_test

import (
	"errors"
	"testing"

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
