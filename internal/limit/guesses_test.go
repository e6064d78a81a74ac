package limit

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/testenv"
)

func TestWhoeverGuessesTooOftenWaits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var g Guesses
	now := start
	for i := range maxGuesses {
		if wait := g.Judge(ctx, "guesser", false, now) + g.Judge(ctx, "guesser", true, now); wait != 0 {
			t.Fatalf("after %d guesses it waits %s", i, wait)
		}
		now = now.Add(time.Second)
	}
	for _, isWrong := range []bool{true, false} {
		if wait := g.Judge(ctx, "guesser", isWrong, now); wait != guessWindow-maxGuesses*time.Second {
			t.Errorf("wrong %t: it waits %s", isWrong, wait)
		}
	}
	if wait := g.Judge(ctx, "another", false, now); wait != 0 {
		t.Errorf("another one waits %s", wait)
	}
	if wait := g.Judge(ctx, "guesser", false, now.Add(guessWindow-maxGuesses*time.Second)); wait != 0 {
		t.Errorf("after the wait it waits %s", wait)
	}
}

func TestGuessesAreForgotten(t *testing.T) {
	t.Parallel()
	var g Guesses
	for i := range maxGuessers + 5 {
		g.Judge(t.Context(), string(rune('a'+i%26))+time.Duration(i).String(), true, start)
	}
	if len(g.wrong) != maxGuessers {
		t.Errorf("%d callers are kept", len(g.wrong))
	}
	for range maxGuesses {
		g.Judge(t.Context(), "one more", true, start)
	}
	if wait := g.Judge(t.Context(), "one more", false, start); wait == 0 {
		t.Error("among many callers one more is not counted")
	}
	if g.Judge(t.Context(), "later", true, start.Add(guessWindow)); len(g.wrong) != 1 {
		t.Errorf("%d callers are kept a minute later", len(g.wrong))
	}
}

// TestAFullMemoryIsNotLookedThroughForEveryStranger: who comes with a new name each time costs little each time.
func TestAFullMemoryIsNotLookedThroughForEveryStranger(t *testing.T) {
	t.Parallel()
	memory, sweptAt, looks := map[string]bool{}, time.Time{}, 0
	come := func(from, count int, now time.Time) {
		for i := range count {
			makeRoom(memory, &sweptAt, now, func(isOver bool) bool { looks++; return isOver })
			memory[strconv.Itoa(from+i)] = false
		}
	}
	come(0, 2*maxGuessers, start)
	if len(memory) != maxGuessers || looks > maxGuessers {
		t.Errorf("%d are kept, and %d were looked at for as many strangers as fit twice", len(memory), looks)
	}
	for name := range memory {
		memory[name] = true
	}
	come(2*maxGuessers, 1, start.Add(-time.Hour)) // the clock was set back
	if len(memory) != 1 {
		t.Errorf("%d are kept whose time is over", len(memory)-1)
	}
}

func TestProcessesOnOneRedisCountGuessesTogether(t *testing.T) {
	t.Parallel()
	url := testenv.RedisURL(t)
	var processes []*Guesses
	for range 2 {
		processes = append(processes, byOurTime(newLimiter(t, Settings{RedisURL: url, patience: unhurried})).Guesses())
	}
	var heard atomic.Int64
	var guessing sync.WaitGroup
	for i := range 4 * maxGuesses {
		guessing.Go(func() {
			if processes[i%2].Judge(t.Context(), "guesser", true, start) == 0 {
				heard.Add(1)
			}
		})
	}
	guessing.Wait()
	if heard.Load() != maxGuesses {
		t.Errorf("%d guesses at once were heard", heard.Load())
	}
	for i, g := range processes {
		if wait := g.Judge(t.Context(), "guesser", false, start.Add(time.Second)); wait != guessWindow-time.Second {
			t.Errorf("at process %d the right one waits %s", i, wait)
		}
		if wait := g.Judge(t.Context(), "guesser", false, start.Add(guessWindow)); wait != 0 {
			t.Errorf("at process %d it waits %s a minute later", i, wait)
		}
	}
}

// TestWhatWasRightIsTakenBack counts first and forgives then, alone and with others.
func TestWhatWasRightIsTakenBack(t *testing.T) {
	t.Parallel()
	shared := byOurTime(newLimiter(t, Settings{RedisURL: testenv.RedisURL(t), patience: unhurried}))
	for name, g := range map[string]*Guesses{"alone": {}, "with others": shared.Guesses()} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			for i := range 2 * maxGuesses {
				if wait := g.Judge(ctx, "somebody", true, start); wait != 0 {
					t.Fatalf("after %d right ones it waits %s", i, wait)
				}
				g.Forgive(ctx, "somebody", start)
			}
			for range maxGuesses - 1 {
				g.Judge(ctx, "somebody", true, start)
			}
			g.Forgive(ctx, "somebody", start)
			g.Forgive(ctx, "nobody", start)
			heard := 0
			for g.Judge(ctx, "somebody", true, start) == 0 {
				heard++
			}
			if heard != 2 {
				t.Errorf("%d more are heard", heard)
			}
		})
	}
	if wait, away := shared.Guesses().Judge(t.Context(), "another", false, start), shared.shared.awayUntil.Load(); wait != 0 || away != 0 {
		t.Errorf("to forgive nobody is taken for an outage: %s, %d", wait, away)
	}
}

func TestGuessesAreCountedWithoutRedis(t *testing.T) {
	t.Parallel()
	door := newDoor(t, testenv.RedisURL(t))
	l := byOurTime(newLimiter(t, Settings{RedisURL: "redis://" + door.address}))
	g := l.Guesses()
	for range maxGuesses / 2 {
		g.Judge(t.Context(), "guesser", true, start)
	}
	door.shut()
	for i := range maxGuesses / 2 {
		if wait := g.Judge(t.Context(), "guesser", true, start); wait != 0 {
			t.Fatalf("after %d guesses more it waits %s", i, wait)
		}
	}
	if wait := g.Judge(t.Context(), "guesser", false, start); wait != guessWindow {
		t.Errorf("it waits %s", wait)
	}
}
