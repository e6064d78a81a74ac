package db

import (
	"context"
	"errors"
	"time"
)

// leaverPatience is how long a statement goes on whose caller has left. A connection on which one is broken off has to
// be closed: whoever sends requests and leaves at once would otherwise take the connections from everybody else.
const leaverPatience = 2 * time.Second

// unbroken is a context that ends with the deadline of another, and when that one is cancelled only after a while. Done
// is to be called when its work is. For whoever has left before nothing is begun.
func unbroken(ctx context.Context) (within context.Context, done func()) {
	if ctx.Done() == nil || ctx.Err() != nil {
		return ctx, func() {}
	}
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel()
			return
		}
		timer := time.AfterFunc(leaverPatience, cancel)
		context.AfterFunc(lasting, func() { timer.Stop() })
	})
	return lastingContext{lasting, ctx}, func() { stop(); cancel() }
}

// lastingContext says when its caller's time is over.
type lastingContext struct {
	context.Context
	caller context.Context
}

func (c lastingContext) Deadline() (time.Time, bool) { return c.caller.Deadline() }
