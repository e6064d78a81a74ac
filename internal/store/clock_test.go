package store_test

import (
	"strings"
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

func TestAMachinesClockIsHeldAgainstTheDatabases(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		st := env.ReopenWith(t, store.Options{Vault: env.Vault})
		if st.HasOwnClock() != strings.HasPrefix(env.URL, "postgres") {
			t.Fatal("only PostgreSQL has a clock beside the machine's")
		}
		for apart, isFar := range map[time.Duration]bool{0: false, 3 * time.Hour: false, -3 * time.Hour: false, 5 * time.Hour: true, -5 * time.Hour: true} {
			err := st.CheckClock(t.Context(), time.Now().Add(apart))
			if isRefused := err != nil; isRefused != (isFar && st.HasOwnClock()) {
				t.Errorf("%s apart: %v", apart, err)
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if err := st.CheckClock(t.Context(), time.Now()); (err != nil) != st.HasOwnClock() || err != nil && strings.Contains(err.Error(), "clock says") {
			t.Errorf("a database that is gone: %v", err) // whose clock nobody has read
		}
	})
}
