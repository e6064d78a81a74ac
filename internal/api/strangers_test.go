package api

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"sepad/internal/store"
)

func TestUnknownKeysOfOneAddressTakeTurns(t *testing.T) {
	t.Parallel()
	var s strangers
	var inside, most, done atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			leave, err := s.enter(t.Context(), "203.0.113.9")
			if err != nil {
				t.Error(err)
				return
			}
			if now := inside.Add(1); now > most.Load() {
				most.Store(now)
			}
			done.Add(1)
			inside.Add(-1)
			leave()
		})
	}
	all.Wait()
	if most.Load() != 1 || done.Load() != 50 {
		t.Errorf("%d were looked up, %d at a time", done.Load(), most.Load())
	}
	if len(s.waiting) != 0 {
		t.Errorf("%d addresses are remembered", len(s.waiting))
	}
}

func TestWhoWaitsForStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s strangers
		leave, err := s.enter(t.Context(), "203.0.113.9")
		if err != nil {
			t.Fatal(err)
		}
		other, err := s.enter(t.Context(), "203.0.113.10")
		if err != nil {
			t.Errorf("another address waits: %v", err)
		}
		other()
		if _, err := s.enter(t.Context(), "203.0.113.9"); !errors.Is(err, store.ErrBusy) {
			t.Errorf("after the patience: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.enter(gone, "203.0.113.9"); !errors.Is(err, context.Canceled) {
			t.Errorf("who has left hears %v", err)
		}
		leave()
		if leave, err = s.enter(t.Context(), "203.0.113.9"); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		leave()
		if len(s.waiting) != 0 {
			t.Errorf("%d addresses are remembered", len(s.waiting))
		}
	})
}
