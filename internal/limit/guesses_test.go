package limit

import (
	"testing"
	"time"
)

func TestWhoeverGuessesTooOftenWaits(t *testing.T) {
	t.Parallel()
	var g Guesses
	now := time.Unix(1_800_000_000, 0)
	for i := range maxGuesses {
		if wait := g.Wait("guesser", now); wait != 0 {
			t.Fatalf("after %d guesses it waits %s", i, wait)
		}
		g.Wrong("guesser", now)
		now = now.Add(time.Second)
	}
	if wait := g.Wait("guesser", now); wait != guessWindow-maxGuesses*time.Second {
		t.Errorf("it waits %s", wait)
	}
	if wait := g.Wait("another", now); wait != 0 {
		t.Errorf("another one waits %s", wait)
	}
	if wait := g.Wait("guesser", now.Add(guessWindow-maxGuesses*time.Second)); wait != 0 {
		t.Errorf("after the wait it waits %s", wait)
	}
}

func TestGuessesAreForgotten(t *testing.T) {
	t.Parallel()
	var g Guesses
	now := time.Unix(1_800_000_000, 0)
	for i := range maxGuessers + 5 {
		g.Wrong(string(rune('a'+i%26))+time.Duration(i).String(), now)
	}
	if len(g.wrong) != maxGuessers {
		t.Errorf("%d callers are kept", len(g.wrong))
	}
	if g.Wrong("later", now.Add(guessWindow)); len(g.wrong) != 1 {
		t.Errorf("%d callers are kept a minute later", len(g.wrong))
	}
}
