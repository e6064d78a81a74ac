package webhook

import (
	"runtime"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestDrainsWithTurnsDoNotWaitForEachOther has as many drains as there are turns hold one each for their results, and all of them
// and as many again renew their leases then: whoever waited for a further turn with one in hand would wait for ever.
func TestDrainsWithTurnsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		drains := make([]*drain, 2*maxQueries)
		for i := range drains {
			drains[i] = b.newDrain(b.endpoint, store.Lease{}, nil)
			drains[i].keep(store.DeliveryResult{
				Attempt: store.Attempt{EventID: payment.NewID(), Number: 1, At: b.clock.Now()}, Status: store.DeliveryDelivered,
			})
			drains[i].flush()
		}
		holding := func() (n int) {
			for _, r := range drains {
				n += len(r.turned)
			}
			return n
		}
		for holding() < maxQueries {
			runtime.Gosched()
		}
		renewed := make(chan struct{}, len(drains))
		for _, r := range drains {
			go func() {
				r.renew(t.Context())
				renewed <- struct{}{}
			}()
		}
		patience := time.After(30 * time.Second)
		for i := range drains {
			select {
			case <-renewed:
			case <-patience:
				t.Fatalf("%d of %d drains wait for a turn that nobody gives back", len(drains)-i, len(drains))
			}
		}
		for _, r := range drains { // who renewed before its turn had come
			if r.results != nil {
				r.record(<-r.turned)
			}
			if w := <-r.written; w.err != nil {
				t.Error(w.err)
			}
		}
	})
}
