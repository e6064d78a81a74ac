package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"sepad/internal/clock"
	"sepad/internal/store"
)

// CountJob sums up what each day brought.
type CountJob struct{}

// Kind names the job in the queue.
func (CountJob) Kind() string { return "count" }

type countWorker struct {
	river.WorkerDefaults[CountJob]
	store *store.Store
	clock clock.Clock
}

// Work counts what is older first, in so many pieces that payments in between hardly notice. What cannot be counted does
// not hold up what is only to be summed up.
func (w *countWorker) Work(ctx context.Context, _ *river.Job[CountJob]) (failed error) {
	for _, count := range []func(context.Context, time.Time) (bool, error){w.store.CountOlder, w.store.SumUpDays} {
		for more := true; more; {
			var err error
			more, err = count(ctx, w.clock.Now())
			more, failed = more && err == nil, errors.Join(failed, err)
		}
	}
	return failed
}
