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
	for held, want := range map[uint64]int{
		0: 3200, 5 << 20: 600, 10 << 20: 300, 17 << 20: ownGrowth, 64 << 20: ownGrowth, 1 << 40: ownGrowth, math.MaxUint64: ownGrowth,
	} {
		if got := heapGrowth(held, rushRoom); got != want {
			t.Errorf("%d bytes held: %d %%, want %d %%", held, got, want)
		}
	}
}

func TestOnlyARushHasRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		made   uint64
		within time.Duration
		want   uint64
	}{
		{0, 0, quietRoom}, {1, 0, rushRoom}, {quietRoom, 2 * time.Minute, quietRoom}, {quietRoom, time.Second, quietRoom},
		{quietRoom, time.Second / 2, rushRoom}, {rushRoom, 3 * time.Second, quietRoom}, {rushRoom, time.Second, rushRoom},
		{quietRoom, -time.Hour, rushRoom}, // no clock that counts on does this
	} {
		if got := heapRoom(c.made, c.within); got != c.want {
			t.Errorf("%d bytes in %s: room for %d, want %d", c.made, c.within, got, c.want)
		}
	}
}

// It changes what the whole process keeps to, so that nothing runs beside it.
func TestTheHeapIsMeasuredAfterEachLook(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(ownGrowth))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tendHeap(ctx)
	awaitGrowth(t, func(percent uint64) bool { return percent > ownGrowth })
	large := make([]byte, rushRoom)
	awaitGrowth(t, func(percent uint64) bool { return percent == ownGrowth })
	runtime.KeepAlive(large)
	awaitGrowth(t, func(percent uint64) bool { return percent > ownGrowth })
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
