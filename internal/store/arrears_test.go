package store_test

import (
	"testing"
	"time"

	"sepad/internal/clock"
	"sepad/internal/store/storetest"
)

func TestArrears(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		world := clock.Real{}.Now().Add(2 * time.Hour)
		none, err := env.Store.ReadArrears(t.Context(), world, world)
		if err != nil || none.OverdueRebills+none.UnmatchedLines != 0 || none.OverdueFor+none.OldestEventFor != 0 {
			t.Fatalf("nothing waits, and %+v is told: %v", none, err)
		}
		due := subscribed(t, env, env.Shop(t), weekly).NextBillingDate.Start()
		inTime, err := env.Store.ReadArrears(t.Context(), due.Add(59*time.Minute), world)
		if err != nil || inTime.OverdueRebills != 0 || inTime.OldestEventFor < time.Hour || inTime.OldestEventFor > 3*time.Hour {
			t.Errorf("a rebill is due for less than an hour, and %+v is told: %v", inTime, err)
		}
		late, err := env.Store.ReadArrears(t.Context(), due.Add(3*time.Hour), world)
		if err != nil || late.OverdueRebills != 1 || late.OverdueFor != 3*time.Hour {
			t.Errorf("a rebill is overdue for three hours, and %+v is told: %v", late, err)
		}
	})
}
