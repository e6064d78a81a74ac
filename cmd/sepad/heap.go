package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A server holds a few megabytes and makes hundreds a second in a rush: with Go's own measure, as much again as is held,
// looking for what nobody needs any more took a seventh of its time. A small heap may grow to three times what is held
// before it is looked through, and in a rush by rushRoom; a large one, as under overload, keeps to Go's measure.
const (
	ownGrowth, roomyGrowth = 100, 200 // in percent of what is held
	smallHeap              = 64 << 20
	rushRoom               = 32 << 20
	rush                   = 16 << 20 // made in a second
	leastHeld              = 1 << 20
)

// What a start has made and nobody needs any more, three quarters of the heap, is given back soon after it, and what a
// rush has made once it is over.
const (
	restAfterStart = time.Second
	restAfterRush  = 10 * time.Second
)

// heldMetrics are the parts of what the last look found, which the growth is in percent of.
var heldMetrics = []string{"/gc/heap/live:bytes", "/gc/scan/stack:bytes", "/gc/scan/globals:bytes"}

const madeMetric = "/gc/heap/allocs:bytes"

func isRush(made uint64, within time.Duration) bool {
	return float64(made) > rush*within.Seconds()
}

// heapGrowth is a whole multiple of what is held: each change of it stops everybody for a moment.
func heapGrowth(held uint64, inRush bool) int {
	switch {
	case held > smallHeap:
		return ownGrowth
	case inRush:
		return max(roomyGrowth, ownGrowth*int(rushRoom/max(held, leastHeld)))
	default:
		return roomyGrowth
	}
}

// heapKeeper decides after each look through the heap how much may be made before the next one.
type heapKeeper struct {
	ctx      context.Context
	samples  []metrics.Sample
	growth   int
	made     uint64
	at       time.Time
	giveBack *time.Timer
}

// lookMark is held by nobody: that it is found tells that there was a look.
type lookMark struct{ keeper *heapKeeper }

func tendHeap(ctx context.Context) {
	k := &heapKeeper{ctx: ctx, at: time.Now(), giveBack: time.AfterFunc(restAfterStart, debug.FreeOSMemory)}
	for _, name := range append(heldMetrics, madeMetric) {
		k.samples = append(k.samples, metrics.Sample{Name: name})
	}
	_, k.made = k.measure()
	k.awaitLook()
}

// awaitLook comes back after the very next look, so that a rush that holds more than what was before is seen at once.
func (k *heapKeeper) awaitLook() { runtime.AddCleanup(&lookMark{k}, (*heapKeeper).looked, k) }

func (k *heapKeeper) looked() {
	if k.ctx.Err() != nil {
		k.giveBack.Stop()
		return
	}
	now := time.Now()
	held, made := k.measure()
	inRush := isRush(made-k.made, now.Sub(k.at))
	if k.made, k.at = made, now; inRush {
		k.giveBack.Reset(restAfterRush)
	}
	if growth := heapGrowth(held, inRush); growth != k.growth {
		k.growth = growth
		debug.SetGCPercent(growth)
	}
	k.awaitLook()
}

func (k *heapKeeper) measure() (held, made uint64) {
	metrics.Read(k.samples)
	for _, part := range k.samples[:len(heldMetrics)] {
		held += part.Value.Uint64()
	}
	return held, k.samples[len(heldMetrics)].Value.Uint64()
}
