package jobs

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/clock"
	"sepad/internal/payment"
)

// deskOf is what does the work of a till while a clock is moved.
func deskOf(till *checkouttest.Till) (*billing.Billing, *banking.Banking, *clock.Movable) {
	movable := clock.NewMovable(till.World, till.Store.ClockOffset)
	till.Checkout.Clock = movable
	return &billing.Billing{Checkout: till.Checkout}, &banking.Banking{Checkout: till.Checkout, Logger: slog.New(slog.DiscardHandler)}, movable
}

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
				desk, banks, movable := deskOf(till)
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
					if err := advance(brief, 60*24*time.Hour); err == nil || brief.Err() == nil {
						t.Errorf("the clock does not stand at a rebill that is under way: %v", err)
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

// TestTheClockAsksForWhoeverHasDied: who has claimed a rebill is killed before it has heard of it. Once its time to send is
// over the clock asks, at the instant at which it stands, and does not leave the answer for months later.
func TestTheClockAsksForWhoeverHasDied(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		sub := till.Subscribed(t)
		desk, banks, movable := deskOf(till)
		due := sub.NextBillingDate.Start()
		if err := moveTo(t.Context(), till.Store, movable, due); err != nil {
			t.Fatal(err)
		}
		refused := payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.InsufficientFunds}}
		till.Gateway.Answer(refused)
		till.Gateway.During(func(ctx context.Context) {
			till.Gateway.During(nil)
			till.Env.Exec(t, `UPDATE transactions SET next_lookup_at = 1 WHERE in_flight IS NOT NULL`)
			if _, err := Advance(ctx, desk, banks, movable, 60*24*time.Hour); err != nil {
				t.Error(err)
			}
		})
		_, _ = desk.RunDue(t.Context(), movable.Now()) // what the dead one would still have done
		if after := till.Subscription(t, sub.ID); after.Status != payment.SubscriptionCancelled {
			t.Errorf("after all tries were refused the subscription is %s", after.Status)
		}
		if n := till.Env.Count(t, `transactions WHERE type = 'sdd_rebill' AND processed_at < `+strconv.FormatInt(due.AddDate(0, 0, 1).UnixMicro(), 10)); n != 1 {
			t.Errorf("%d were answered on the first day", n)
		}
	}, checkouttest.WithSandboxRules)
}
