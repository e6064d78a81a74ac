package jobs

import (
	"context"

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

// Work counts what is older first, in so many pieces that payments in between hardly notice.
func (w *countWorker) Work(ctx context.Context, _ *river.Job[CountJob]) error {
	for _, count := range []func(context.Context) (bool, error){
		func(ctx context.Context) (bool, error) { return w.store.CountOlder(ctx, w.clock.Now()) },
		func(ctx context.Context) (bool, error) { return w.store.SumUpDays(ctx, w.clock.Now()) },
	} {
		for more := true; more; {
			var err error
			if more, err = count(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
