package webhook

import (
	"fmt"
	"testing"

	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestALookReadsNothingThatIsInHand: where many endpoints wait for the database, each that read its line again at every look would
// keep the others waiting for longer.
func TestALookReadsNothingThatIsInHand(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		busy  func(*drain)
		looks int // until the line is read from its beginning
	}{
		"nothing is in hand":          {func(*drain) {}, 1},
		"the line is being read":      {func(r *drain) { r.reading = true }, looksInAPass},
		"results wait for company":    {func(r *drain) { r.results = make([]store.DeliveryResult, 1) }, looksInAPass},
		"results are being written":   {func(r *drain) { r.writing = true }, looksInAPass},
		"deliveries wait for a place": {func(r *drain) { r.backlog.add(make([]store.Delivery, 1)) }, looksInAPass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := NewDeliverer(Options{Store: &store.Store{}, Clock: clock.Real{}}).newDrain(store.Endpoint{}, store.Lease{}, nil)
			test.busy(r)
			looks := 0
			for r.pass == 0 && looks < 2*looksInAPass {
				r.moves = true
				r.look(t.Context())
				looks++
			}
			if looks != test.looks {
				t.Errorf("it is read again at look %d, not at look %d", looks, test.looks)
			}
		})
	}
}

// TestALeaseIsKeptWhileVeryManyAreLinedUp: that takes longer than it lasts. Whoever has lost it all the same lines up no more, and sends
// nothing beside the one who has it now.
func TestALeaseIsKeptWhileVeryManyAreLinedUp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		const many = 12_000
		events := make([]store.EventRow, many)
		for i := range events {
			events[i] = store.EventRow{
				Event:            payment.Event{ID: payment.NewID(), Kind: payment.EventTransactionCreated, Key: fmt.Sprint(i)},
				WebhookProfileID: &b.endpoint.ProfileID,
			}
		}
		env.Write(t, func(tx *store.Tx) error { tx.AddEvents(b.endpoint.TenantID, events); return nil })
		env.OutOfLine(t)
		wait := func() { env.Exec(t, `UPDATE events SET next_attempt_at = 1`) }
		lease, ok, err := b.lease(t.Context(), b.endpoint, b.clock.Now())
		if err != nil || !ok {
			t.Fatal(ok, err)
		}

		wait()
		env.Exec(t, `UPDATE webhook_endpoints SET leased_until = 1`)
		r := b.newDrain(b.endpoint, lease, nil)
		if err := r.recall(t.Context(), forever); err != nil || r.stopping {
			t.Fatal(r.stopping, err)
		}
		if left := env.Count(t, "events WHERE next_attempt_at IS NOT NULL"); left != 0 {
			t.Errorf("%d still wait", left)
		}
		if env.Count(t, "webhook_endpoints WHERE leased_until > 1") != 1 {
			t.Error("the lease was not renewed")
		}

		wait()
		env.Exec(t, `UPDATE webhook_endpoints SET lease_owner = $1`, payment.NewID().String())
		r = b.newDrain(b.endpoint, lease, nil)
		if err := r.recall(t.Context(), forever); err != nil || !r.stopping {
			t.Errorf("who has lost the lease goes on: %v", err)
		}
		if left := env.Count(t, "events WHERE next_attempt_at IS NOT NULL"); left == 0 {
			t.Error("who has lost the lease lines all up")
		}
	})
}
