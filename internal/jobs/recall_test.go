package jobs

import (
	"log/slog"
	"testing"

	"sepad/internal/checkout/checkouttest"
)

// TestADatabaseThatCannotBeReadIsNoneThatWasNotRestored: a process that took it for one would never ask the gateways, and as
// long as nobody does nothing is billed or sent.
func TestADatabaseThatCannotBeReadIsNoneThatWasNotRestored(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		r := &Runner{checkout: till.Checkout, logger: slog.New(slog.DiscardHandler)}
		till.Env.Exec(t, `ALTER TABLE deployment RENAME TO hidden`)
		if r.recalled(t.Context()) {
			t.Error("nothing is left to be asked about")
		}
		till.Env.Exec(t, `ALTER TABLE hidden RENAME TO deployment`)
		if !r.recalled(t.Context()) {
			t.Error("it is asked without end what happened since a restore that never was")
		}
	})
}
