package setup

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// TestOneChangeOfATenantIsMadeAtATime has very many come together: each would make a copy of all that is set up.
func TestOneChangeOfATenantIsMadeAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &Applier{Store: &store.Store{}}
		tenant, another := uuid.New(), uuid.New()
		var begun, refused atomic.Int32
		end, all := make(chan struct{}), sync.WaitGroup{}
		change := func(a *Applier, tenant uuid.UUID) {
			all.Go(func() {
				leave, err := a.inTurn(t.Context(), tenant)
				if err != nil {
					refused.Add(1)
					return
				}
				begun.Add(1)
				<-end
				leave()
			})
		}
		for range 10 {
			change(a.Under(store.RequestKey{}, uuid.Nil), tenant)
		}
		synctest.Wait()
		if begun.Load() != 1 {
			t.Errorf("%d are made at once", begun.Load())
		}
		change(a, another)
		change(&Applier{Store: &store.Store{}}, tenant)
		synctest.Wait()
		if begun.Load() != 3 {
			t.Error("other tenants, or those of another store, wait for it")
		}
		<-time.After(changePatience)
		synctest.Wait()
		if refused.Load() != 9 {
			t.Errorf("%d have waited in vain", refused.Load())
		}
		close(end)
		all.Wait()
	})
}
