package billing_test

import (
	"testing"
	"time"

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
