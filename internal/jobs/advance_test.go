package jobs

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/clock"
	"sepad/internal/payment"
)

// TestTheClockWaitsForWhatASweepHasClaimed: a sweep of the queue comes by just as the clock has reached a due date, in this
// process or in another one. Whatever follows from the rebill that it sends falls due on the way as well.
func TestTheClockWaitsForWhatASweepHasClaimed(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(till *checkouttest.Till){
		"of which the gateway says at once what became": func(till *checkouttest.Till) {
			till.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.InsufficientFunds}})
		},
		"of which it says so when it is asked": func(till *checkouttest.Till) { till.Gateway.Silence() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
				sub := till.Subscribed(t)
				movable := clock.NewMovable(till.World, till.Store.ClockOffset)
				till.Checkout.Clock = movable
				desk := &billing.Billing{Checkout: till.Checkout}
				banks := &banking.Banking{Checkout: till.Checkout, Logger: slog.New(slog.DiscardHandler)}
				advance := func(ctx context.Context, by time.Duration) error {
					_, err := Advance(ctx, desk, banks, movable, by)
					return err
				}
				if err := moveTo(t.Context(), till.Store, movable, sub.NextBillingDate.Start()); err != nil {
					t.Fatal(err)
				}
				answer(till)
				till.Gateway.During(func(ctx context.Context) {
					till.Gateway.During(nil)
					brief, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					if err := advance(brief, 60*24*time.Hour); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the clock goes past a rebill that is under way: %v", err)
					}
				})
				if done, err := desk.RunDue(t.Context(), movable.Now()); done != 1 || err != nil {
					t.Fatalf("the sweep has billed %d: %v", done, err)
				}
				till.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.InsufficientFunds}})
				if err := advance(t.Context(), 60*24*time.Hour); err != nil {
					t.Fatal(err)
				}
				if after := till.Subscription(t, sub.ID); after.Status != payment.SubscriptionCancelled {
					t.Errorf("after all tries were refused the subscription is %s", after.Status)
				}
			}, checkouttest.WithSandboxRules)
		})
	}
}
