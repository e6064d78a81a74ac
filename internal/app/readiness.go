package app

import (
	"context"
	"sync"
	"time"

	"sepad/internal/clock"
)

const (
	// readyFor is how long a proof holds: whoever asks often costs no more than one write a second.
	readyFor = time.Second
	// readyPatience is how long a proof may take. A database that hangs is one that cannot be used.
	readyPatience = 2 * time.Second
)

// readiness remembers whether the service could write a moment ago.
type readiness struct {
	mu  sync.Mutex
	at  time.Time
	err error
	// ahead is how far this machine's clock was from the database's.
	ahead time.Duration
}

// prove gives what was found lately, or looks. Of many who ask at once one looks, and the others wait for it. That it
// could not be used holds for those who waited: whoever asks next looks whether it can.
func (r *readiness) prove(ctx context.Context, look func(context.Context) (time.Duration, error)) (ahead time.Duration, err error) {
	asked := clock.Steady()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.After(asked) || r.err == nil && !r.at.IsZero() && clock.Steady().Sub(r.at) < readyFor {
		return r.ahead, r.err
	}
	// Who asks may leave; what was found is for all.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyPatience)
	defer cancel()
	r.ahead, r.err = look(ctx)
	r.at = clock.Steady()
	return r.ahead, r.err
}

// proveReady reads and writes, and looks at the clock.
func (a *App) proveReady(ctx context.Context) (ahead time.Duration, err error) {
	if err := a.Store.Ready(ctx); err != nil {
		return 0, err
	}
	if err := a.Store.ProveWrite(ctx, a.world.Now()); err != nil {
		return 0, err
	}
	return a.skew.measure(ctx)
}

// guardFile ends the service when its database's file is no longer there: what it answers would be lost.
func (a *App) guardFile(ctx context.Context, lost chan<- error) {
	ticker := time.NewTicker(readyFor)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := a.Store.Intact(); err != nil {
				lost <- err
				return
			}
		}
	}
}
