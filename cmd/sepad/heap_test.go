package main

import (
	"runtime/metrics"
	"testing"
)

func TestALargeHeapKeepsToGosMeasure(t *testing.T) {
	t.Parallel()
	for held, want := range map[uint64]int{0: roomyGrowth, 64 << 20: roomyGrowth, 64<<20 + 1: ownGrowth, 1 << 40: ownGrowth} {
		if got := heapGrowth(held); got != want {
			t.Errorf("%d bytes held: %d %%, want %d %%", held, got, want)
		}
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(sample); sample[0].Value.Kind() != metrics.KindUint64 {
		t.Error("Go no longer tells what is held under this name")
	}
}
