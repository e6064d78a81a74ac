package gatewaytest

import (
	"sync"
	"testing"

	"sepad/internal/payment"
)

// testWaiting sends one payment several times at once, and once more: each time it
// waits for the same file, nobody has collected it, and nobody knows better.
func (s Suite) testWaiting(t *testing.T) {
	t.Parallel()
	b := s.open(t, 0)
	if !b.Kind.Batch {
		t.Error("payments wait, but the gateway is not declared to be a batch gateway")
	}
	charge := NewCharge(t, s.Waiting)
	first := b.submit(t, charge)
	wantVerdict(t, first, payment.VerdictPending)
	if !first.SettlesAt.After(At) || first.GatewayReference != "" {
		t.Errorf("a payment of %v waits until %v and is called %q", At, first.SettlesAt, first.GatewayReference)
	}
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			if again, err := b.client.Submit(t.Context(), charge); err != nil || again != first {
				t.Errorf("submitting again gave %+v, %v", again, err)
			}
		})
	}
	senders.Wait()
	wantVerdict(t, b.status(t, lookup(charge)), payment.VerdictPending)
	b.wantDebits(t, charge, 0)
}
