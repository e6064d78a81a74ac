package webhook

import (
	"testing"

	"sepad/internal/clock"
	"sepad/internal/store"
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
