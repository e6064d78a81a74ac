package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/notice"
	"sepad/internal/store"
)

// lookupWorker asks gateways about payments whose outcome is not known.
type lookupWorker struct {
	river.WorkerDefaults[checkout.LookupJob]
	checkout *checkout.Checkout
}

func (w *lookupWorker) Work(ctx context.Context, _ *river.Job[checkout.LookupJob]) error {
	_, err := w.checkout.RunLookups(ctx)
	return err
}

// DueJob wakes the sweep of everything that time brings.
type DueJob struct{}

// Kind names the job in the queue.
func (DueJob) Kind() string { return "run_due" }

type dueWorker struct {
	river.WorkerDefaults[DueJob]
	checkout *checkout.Checkout
	clock    clock.Clock
}

func (w *dueWorker) Work(ctx context.Context, _ *river.Job[DueJob]) error {
	_, err := w.checkout.RunDue(ctx, w.clock.Now())
	return err
}

// TidyJob wakes the removal of rows that nobody needs any more.
type TidyJob struct{}

// Kind names the job in the queue.
func (TidyJob) Kind() string { return "tidy" }

// stagedFor is how long the lines of a file may take on their way in.
const stagedFor = 24 * time.Hour

type tidyWorker struct {
	river.WorkerDefaults[TidyJob]
	store *store.Store
	clock clock.Clock
	real  clock.Clock
}

func (w *tidyWorker) Work(ctx context.Context, _ *river.Job[TidyJob]) error {
	now, longAgo := w.clock.Now(), w.real.Now().Add(-stagedFor)
	failed := w.store.Write(ctx, now, func(tx *store.Tx) error {
		tx.FailImports(longAgo)
		return nil
	})
	return errors.Join(failed, w.store.ForgetExpiredKeys(ctx, now), w.store.ForgetStaged(ctx, now, longAgo), notice.Tidy(ctx, w.store, w.real.Now()))
}
