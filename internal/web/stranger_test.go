package web

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"sepad/internal/store"
	"sepad/internal/turn"
)

// TestStrangersOfOneAddressTakeTurns: those of another one do not wait for them.
func TestStrangersOfOneAddressTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var strangers turn.Turns[string]
		from := func(ctx context.Context, address string) (leave func(), err error) {
			return EnterAsStranger(context.WithValue(ctx, infoKey{}, &info{clientIP: netip.MustParseAddr(address)}), &strangers)
		}
		leave, err := from(t.Context(), "203.0.113.9")
		if err != nil {
			t.Fatal(err)
		}
		other, err := from(t.Context(), "203.0.113.10")
		if err != nil {
			t.Errorf("another address waits: %v", err)
		}
		other()
		began := time.Now()
		if _, err := from(t.Context(), "203.0.113.9"); !errors.Is(err, store.ErrBusy) || time.Since(began) != strangerPatience {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := from(gone, "203.0.113.9"); !errors.Is(err, context.Canceled) {
			t.Errorf("who has left hears %v", err)
		}
		leave()
		if leave, err = from(t.Context(), "203.0.113.9"); err != nil {
			t.Fatalf("afterwards: %v", err)
		}
		leave()
	})
}
