package main

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestALargeHeapKeepsToGosMeasure(t *testing.T) {
	t.Parallel()
	for held, want := range map[uint64]struct{ quiet, inRush int }{
		0: {roomyGrowth, 3200}, 5 << 20: {roomyGrowth, 600}, 10 << 20: {roomyGrowth, 300}, 17 << 20: {roomyGrowth, roomyGrowth}, 64 << 20: {roomyGrowth, roomyGrowth},
		64<<20 + 1: {ownGrowth, ownGrowth}, 1 << 40: {ownGrowth, ownGrowth}, math.MaxUint64: {ownGrowth, ownGrowth},
	} {
		if quiet, inRush := heapGrowth(held, false), heapGrowth(held, true); quiet != want.quiet || inRush != want.inRush {
			t.Errorf("%d bytes held: %d %%, %d %% in a rush, want %v", held, quiet, inRush, want)
		}
	}
}

func TestWhatIsARush(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		made   uint64
		within time.Duration
		want   bool
	}{
		{0, 0, false}, {1, 0, true}, {rush, time.Second, false}, {rush + 1, time.Second, true}, {rushRoom, 2 * time.Minute, false}, {rushRoom, time.Second, true},
	} {
		if got := isRush(c.made, c.within); got != c.want {
			t.Errorf("%d bytes in %s: %v", c.made, c.within, got)
		}
	}
}

// It changes what the whole process keeps to, so that nothing runs beside it.
func TestTheHeapIsMeasuredAfterEachLook(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(ownGrowth))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tendHeap(ctx)
	awaitGrowth(t, func(percent uint64) bool { return percent > roomyGrowth })
	large := make([]byte, smallHeap)
	awaitGrowth(t, func(percent uint64) bool { return percent == ownGrowth })
	runtime.KeepAlive(large)
	awaitGrowth(t, func(percent uint64) bool { return percent > roomyGrowth })
}

// inARush is where what a rush makes is put, so that it is made at all.
var inARush []byte

// awaitGrowth has much made and the heap looked through until its growth is as it should be.
func awaitGrowth(t *testing.T, isRight func(percent uint64) bool) {
	t.Helper()
	growth := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		for range 16 {
			inARush = make([]byte, rush/16)
		}
		runtime.GC()
		if metrics.Read(growth); isRight(growth[0].Value.Uint64()) {
			return
		}
	}
	t.Fatalf("the heap may grow by %d %%", growth[0].Value.Uint64())
}
