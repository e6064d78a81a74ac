package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sepad/internal/app"
)

// world is what the simulation plays in: a time of its own, and actors of whom
// one moves at a time. An actor stops wherever it looks at a clock or speaks to
// the gateway, and the seed decides who goes on: that is how calls overlap in
// ever new ways, and on SQLite the same way again for the same seed. On PostgreSQL
// nothing says which of those comes first that fall due at the same instant: an
// order of their ids would have it sort all that a day brings for each claim.
type world struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	// now is the world's time; the service's clock is ahead of it.
	now   time.Time
	ahead time.Duration

	actors  []*actor
	spawned int
	current *actor
	// settling tells that no more time passes until every actor has ended.
	settling bool
	stopped  chan struct{}
	// telling guards the trace, which processes that bill at once both write to.
	telling sync.Mutex
	trace   []string
}

// actor is a call under way, or a payment on a wire.
type actor struct {
	name    string
	process *process // nil for what no process can hold back any more
	// slow actors are held up for long, so that others overtake them.
	slow   bool
	resume chan struct{}
	ended  bool
	cancel context.CancelFunc
}

// process is one server. A dead one has lost its database, and whatever its
// actors still try comes to nothing.
type process struct {
	app  *app.App
	dead bool
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	return &world{
		t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), stopped: make(chan struct{}),
		now: time.Date(2026, time.March, 31, 12, 0, 0, 0, time.UTC),
	}
}

// spawn adds an actor that begins when it is chosen.
func (w *world) spawn(p *process, name string, work func(context.Context)) *actor {
	ctx, cancel := context.WithCancel(context.Background())
	w.spawned++
	a := &actor{name: fmt.Sprintf("%s (%d)", name, w.spawned), process: p, slow: w.chance(25), resume: make(chan struct{}), cancel: cancel}
	w.actors = append(w.actors, a)
	go func() {
		defer cancel()
		<-a.resume
		work(ctx)
		a.ended = true
		w.stopped <- struct{}{}
	}()
	return a
}

// stuckAfter is real time: an actor that neither stops nor ends is a deadlock.
const stuckAfter = time.Minute

// move chooses an actor and lets it go on.
func (w *world) move() {
	w.t.Helper()
	a := pick(w, w.actors)
	for tries := 0; a.slow && tries < 4; tries++ {
		a = pick(w, w.actors)
	}
	w.moveOne(a)
}

// finish lets one actor go on to its end while all others wait.
func (w *world) finish(a *actor) {
	w.t.Helper()
	for !a.ended {
		w.moveOne(a)
	}
}

// moveOne lets an actor go on until it stops or ends.
func (w *world) moveOne(a *actor) {
	w.t.Helper()
	w.note("%s goes on", a.name)
	w.current = a
	a.resume <- struct{}{}
	timer := time.NewTimer(stuckAfter)
	defer timer.Stop()
	select {
	case <-w.stopped:
	case <-timer.C:
		w.t.Fatalf("seed %d: %s is stuck\n%s", w.seed, a.name, w.story())
	}
	w.current = nil
	if a.ended {
		w.actors = slices.DeleteFunc(w.actors, func(other *actor) bool { return other == a })
	}
}

// pause stops the actor that is moving until it is chosen again.
func (w *world) pause() {
	a := w.current
	if a == nil {
		return // the world itself is looking
	}
	w.stopped <- struct{}{}
	<-a.resume
}

// settle lets every actor come to its end.
func (w *world) settle() {
	w.t.Helper()
	w.settling = true
	for len(w.actors) > 0 {
		w.move()
	}
	w.settling = false
}

// chance is true in so many cases of a hundred.
func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent }

// pick chooses one of a list.
func pick[T any](w *world, of []T) T { return of[w.random.IntN(len(of))] }

// serviceNow is the service's time.
func (w *world) serviceNow() time.Time { return w.now.Add(w.ahead) }

// Looking at a clock is where actors stop.
type (
	worldClock   struct{ w *world }
	serviceClock struct{ w *world }
	// jumpingClock is a machine's that nobody has set: hours ahead, hours behind.
	jumpingClock struct{ w *world }
)

func (c jumpingClock) Now() time.Time {
	hours := 1
	if c.w.chance(50) {
		hours = -1
	}
	return worldClock(c).Now().Add(time.Duration(hours) * time.Hour)
}

func (c worldClock) Now() time.Time {
	c.w.pause()
	return c.w.now
}

func (c serviceClock) Now() time.Time {
	c.w.pause()
	return c.w.serviceNow()
}

// storyLength is how much of what happened last is shown with a failure.
const storyLength = 60

func (w *world) note(format string, args ...any) {
	w.telling.Lock()
	defer w.telling.Unlock()
	w.trace = append(w.trace, fmt.Sprintf("%s  "+format, append([]any{w.now.Format("15:04:05.000")}, args...)...))
	if len(w.trace) > 2*storyLength {
		w.trace = slices.Clone(w.trace[storyLength:])
	}
}

// Write takes the lines of the processes' logs into the story.
func (w *world) Write(line []byte) (int, error) {
	w.note("log: %s", strings.TrimSpace(string(line)))
	return len(line), nil
}

func (w *world) story() (text string) {
	for _, line := range w.trace[max(0, len(w.trace)-storyLength):] {
		text += line + "\n"
	}
	return text
}
