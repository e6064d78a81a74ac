package db

import (
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
