package checkouttest

import (
	"context"
	"sync"
	"testing"
)

// mostSteps is more than any use case takes.
const mostSteps = 1000

// Interrupt does something over and over, each time with a context that ends a step
// later than the time before, until it is through: whatever failed on the way must
// have said so. After each failure it calls failed, which may say that enough was
// seen.
func Interrupt(t testing.TB, act func(context.Context) error, failed func(error) (enough bool)) {
	t.Helper()
	for steps := 1; steps < mostSteps; steps++ {
		ctx, cancel := context.WithCancel(t.Context())
		err := act(&brittle{Context: ctx, cancel: cancel, left: steps})
		cancel()
		if err == nil || failed(err) {
			return
		}
	}
	t.Error("it never comes to an end")
}

// brittle is a context that ends when it has been looked at so many times.
type brittle struct {
	context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	left   int
}

func (b *brittle) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left--; b.left == 0 {
		b.cancel()
	}
}

func (b *brittle) Done() <-chan struct{} {
	b.look()
	return b.Context.Done()
}

func (b *brittle) Err() error {
	b.look()
	return b.Context.Err()
}
