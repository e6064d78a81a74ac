package db

import (
	"errors"
	"testing"
	"time"
)

func TestTurnstile(t *testing.T) {
	t.Parallel()
	var at turnstile
	now := time.Unix(1_800_000_000, 0)
	rush := func(begun bool, count int) (admitted int) {
		for range count {
			if at.enter(begun) {
				admitted++
			}
		}
		return admitted
	}
	if got := rush(false, 1000); got != alwaysAdmitted {
		t.Errorf("of a first rush %d are admitted", got)
	}
	if got := rush(true, 10); got != 10 {
		t.Errorf("of ten that were begun before %d go on", got)
	}
	for range alwaysAdmitted + 10 {
		at.leave(now)
	}
	// Eight thousand a second are done for a while: a quarter of a second's worth of them may wait.
	for range 50 {
		now = now.Add(measured)
		rush(true, 800)
		for range 800 {
			at.leave(now)
		}
	}
	if got := rush(false, 10_000); got < 1900 || got > 2001 {
		t.Errorf("%d are admitted where 8000 a second are done", got)
	}
}

// TestTheDoor has so many payments wait that newcomers are refused before anything is done for them.
func TestTheDoor(t *testing.T) {
	t.Parallel()
	var d DB
	at := func(purpose Purpose) error { return d.Admit(Attend(t.Context(), purpose, time.Second)) }
	expect := func(when string, paying, listing bool) {
		t.Helper()
		for purpose, want := range map[Purpose]bool{Paying: paying, Listing: listing, Ordinary: true} {
			if err := at(purpose); (err == nil) != want || err != nil && !errors.Is(err, ErrBusy) {
				t.Errorf("%s: purpose %d is told %v", when, purpose, err)
			}
		}
		if err := d.Admit(t.Context()); err != nil {
			t.Errorf("%s: work that nobody waits for is told %v", when, err)
		}
	}
	enter := func(count int) {
		for range count {
			d.queues[Paying].enter(false)
		}
	}
	expect("at rest", true, true)
	enter(alwaysAdmitted / 2)
	expect("while payments wait", true, false)
	enter(alwaysAdmitted / 2)
	expect("once there is no room", false, false)
	d.queues[Paying].leave(time.Unix(1_800_000_000, 0))
	expect("once there is room again", true, false)
}
