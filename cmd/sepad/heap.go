package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A server holds a few megabytes and makes hundreds a second: with Go's own measure, as much again as is held, looking
// for what nobody needs any more took a seventh of its time. A small heap may grow to three times what is held before
// it is looked through; a large one, as under overload, keeps to Go's measure.
const (
	ownGrowth, roomyGrowth = 100, 200 // in percent of what is held
	smallHeap              = 64 << 20
)

func heapGrowth(held uint64) int {
	if held > smallHeap {
		return ownGrowth
	}
	return roomyGrowth
}

// tendHeap goes by what the last look found.
func tendHeap(ctx context.Context) {
	held := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	growth := ownGrowth
	for tick := time.NewTicker(time.Second); ; {
		metrics.Read(held)
		if now := heapGrowth(held[0].Value.Uint64()); now != growth {
			growth = now
			debug.SetGCPercent(growth)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
