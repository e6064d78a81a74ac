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

// tendHeap goes by what the last look found. What a start has made and nobody needs any more, three quarters of the heap, is
// given back soon after it: a server that has little to do would hold it for minutes.
func tendHeap(ctx context.Context) {
	held := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	growth := ownGrowth
	giveBack := time.AfterFunc(time.Second, debug.FreeOSMemory)
	defer giveBack.Stop()
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
