package jobs

import (
	"context"
	"sync"

	"github.com/riverqueue/river"

	"sepad/internal/billing"
	"sepad/internal/clock"
)

// BillJob wakes the billing of subscriptions that are due.
type BillJob struct{}

// Kind names the job in the queue.
func (BillJob) Kind() string { return "bill_subscriptions" }

// billWorker bills. A day on which much is due takes longer than the time between
// two sweeps; then the next ones find that somebody is at it, instead of taking
// all places for jobs.
type billWorker struct {
	river.WorkerDefaults[BillJob]
	billing *billing.Billing
	clock   clock.Clock
	busy    sync.Mutex
}

func (w *billWorker) Work(ctx context.Context, _ *river.Job[BillJob]) error {
	if !w.busy.TryLock() {
		return nil
	}
	defer w.busy.Unlock()
	_, err := w.billing.RunDue(ctx, w.clock.Now())
	return err
}
