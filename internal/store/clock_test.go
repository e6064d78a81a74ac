package store_test

import (
	"testing"
	"time"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestClockOffset(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		second := env.Reopen(t)
		want := time.Duration(0)
		for _, offset := range []time.Duration{0, time.Hour, time.Minute, -time.Hour, 24 * 400 * time.Hour, 24*400*time.Hour + time.Microsecond} {
			env.Write(t, func(tx *store.Tx) error {
				tx.SetClockOffset(offset)
				return nil
			})
			want = max(want, offset)
			if got, err := second.ClockOffset(t.Context()); err != nil || got != want {
				t.Errorf("after a move to %s the clock is %s ahead (error %v), want %s", offset, got, err, want)
			}
		}
	})
}
