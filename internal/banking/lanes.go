package banking

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sepad/internal/gateway/bank/terms"
)

// lanes is how many banks are spoken to at a time.
const lanes = 4

// inLanes does something for each account, for a few at a time and in no order, and gives what failed: a server that hangs
// keeps its own files waiting, and several of them nobody else's for good.
func inLanes[T any](ctx context.Context, b *Banking, accounts []T, do func(T) error) error {
	accounts = slices.Clone(accounts)
	rand.Shuffle(len(accounts), func(i, j int) { accounts[i], accounts[j] = accounts[j], accounts[i] })
	failed := make([]error, len(accounts))
	var group errgroup.Group
	group.SetLimit(lanes)
	for i, account := range accounts {
		group.Go(func() error {
			failed[i] = b.survive(ctx, func() error { return do(account) })
			return nil
		})
	}
	_ = group.Wait() // each has its own place for its error
	return errors.Join(failed...)
}

// sideBySide does things of which none may wait for another.
func (b *Banking) sideBySide(ctx context.Context, things ...func() error) error {
	return inLanes(ctx, b, things, func(do func() error) error { return do() })
}

// survive turns a panic into an error. Nobody else would catch it in a goroutine of its own, and what one bank answers must
// not end the process for all.
func (b *Banking) survive(ctx context.Context, do func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			b.Logger.ErrorContext(ctx, "work for a bank panicked", "calls", calls())
			err = errors.Join(err, fmt.Errorf("panic: %v", fault))
		}
	}()
	return do()
}

// calls are the functions that led to a panic, without what they were given, which may be somebody's.
func calls() (names []string) {
	const above, most = 4, 16 // beginning with who panicked
	counters := make([]uintptr, most)
	for frames := runtime.CallersFrames(counters[:runtime.Callers(above, counters)]); ; {
		frame, more := frames.Next()
		names = append(names, fmt.Sprint(frame.Function, ":", frame.Line))
		if !more {
			return names
		}
	}
}

// enter waits until nobody else of this process is at a server under the same name: many let nobody in twice.
func (b *Banking) enter(ctx context.Context, at *terms.SFTP) (leave func(), err error) {
	found, _ := b.doors.LoadOrStore(fmt.Sprint(at.User, "@", at.Host, ":", at.Port), make(chan struct{}, 1))
	door := found.(chan struct{})
	select {
	case door <- struct{}{}:
		return func() { <-door }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Attend does what has fallen due at banks and reads what they have put into their places. Neither waits for the other: a
// server that takes no files, however slowly, keeps nobody from hearing what banks say.
func (b *Banking) Attend(ctx context.Context, now time.Time) error {
	return b.sideBySide(ctx,
		func() error { _, err := b.RunDue(ctx, now); return err },
		func() error { return b.ReceiveAll(ctx) })
}
