package checkout

import (
	"context"
	"sync"
	"time"
)

// agreedClock holds the database's clock, on which processes agree, against this
// process's own, which never jumps.
//
// Where the database's is set ahead, the silence of every attempt that is under way
// ends at once. Its gateway would be asked about a payment that is still on its way,
// "never got it" would be believed, and the payer, or the next sweep, would pay again.
// So whoever sees such a step asks nobody until each of those attempts has ended.
type agreedClock struct {
	mu sync.Mutex
	// ahead is by how much at most the database's was ahead of ours when it was last
	// read.
	ahead  time.Duration
	isRead bool
	// sureFrom is when what was under way at a step has ended, by our own clock.
	sureFrom time.Time
}

// jitter is what clocks and connections may be off without having been set.
const jitter = time.Second

// hear takes what the database's clock showed between two instants of our own. It
// tells whether that is a step ahead, after which nobody is asked for a while, and
// whether the clock can be relied on.
func (a *agreedClock) hear(shown, before, after time.Time, while time.Duration) (isStep, isSure bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if isStep = a.isRead && shown.Sub(after) > a.ahead+jitter; isStep {
		a.sureFrom = after.Add(while)
	}
	if isStep || !a.isRead || after.Sub(before) <= jitter { // what took longer tells little
		a.ahead, a.isRead = shown.Sub(before), true
	}
	return isStep, !after.Before(a.sureFrom)
}

// agreedNow is the database's time, and whether gateways may be asked by it.
func (c *Checkout) agreedNow(ctx context.Context) (now time.Time, isSure bool, err error) {
	before := c.Own.Now()
	if now, err = c.Store.Now(ctx); err != nil {
		return now, false, err
	}
	longest := c.silenceAfter(rebillSendWindow)
	isStep, isSure := c.agreed.hear(now, before, c.Own.Now(), longest)
	if isStep {
		c.Logger.WarnContext(ctx, "the database's clock was set ahead: gateways are asked about open payments later", "wait", longest.String())
	}
	return now, isSure, nil
}
