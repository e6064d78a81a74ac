package billing_test

import (
	"testing"
	"time"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/clock"
	"sepad/internal/gateway"
)

// sendable takes the last moment off a charge, which is at most a minute away.
func sendable(t *testing.T, charge gateway.Charge) gateway.Charge {
	t.Helper()
	if left := charge.SendBefore.Left(); left <= 0 || left > time.Minute {
		t.Errorf("it may be sent for another %s", left)
	}
	charge.SendBefore = clock.Deadline{}
	return charge
}

// TestARebillWithoutAnAnswerIsAskedAboutSoonInsideTheProcess: nothing that was sent is still on its way there.
func TestARebillWithoutAnAnswerIsAskedAboutSoonInsideTheProcess(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d desk) {
		sub := d.due(t)
		d.Gateway.Silence()
		d.bill(t, 1)
		attempt := d.rebills(t, sub)[0].Attempt
		if want := d.World.Now().Add(checkouttest.FirstLookup); !attempt.NextLookupAt.Equal(want) || attempt.LookupCount != 1 {
			t.Errorf("it is asked about at %s, want %s", attempt.NextLookupAt, want)
		}
	}, checkouttest.WithSandboxRules)
}
