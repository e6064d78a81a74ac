//go:build unix

package main

import (
	"context"
	"time"
)

var memoryWork = work{
	name:    "memory",
	what:    "memory of its own that an idle server holds on a fresh folder",
	against: "PocketBase, idle on a fresh folder",
	unit:    "MB",
	better:  lessIsBetter,
	floor:   1,
	goal:    0.6,
	measure: func(ctx context.Context, l *lab, w work) (measurement, error) {
		return alternate(ctx, l, w, l.rounds(), l.freshSepad(memoryAtRest), l.freshPocketBase(memoryAtRest))
	},
}

// settleTime is how long a server is left alone before its memory is read.
const settleTime = 2 * time.Second

func memoryAtRest(ctx context.Context, server *process, _ time.Duration) (float64, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(settleTime):
		return server.ownMemory()
	}
}
