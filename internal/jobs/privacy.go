package jobs

import (
	"context"
	"errors"
	"sync"

	"github.com/riverqueue/river"

	"sepad/internal/privacy"
)

// PrivacyJob wakes what persons are owed: those who are to be erased, and data whose
// time is over.
type PrivacyJob struct{}

// Kind names the job in the queue.
func (PrivacyJob) Kind() string { return "forget" }

// privacyWorker does it, one at a time: the first removal of a long past takes longer
// than the time between two.
type privacyWorker struct {
	river.WorkerDefaults[PrivacyJob]
	privacy *privacy.Privacy
	busy    sync.Mutex
}

func (w *privacyWorker) Work(ctx context.Context, _ *river.Job[PrivacyJob]) error {
	if !w.busy.TryLock() {
		return nil
	}
	defer w.busy.Unlock()
	_, err := w.privacy.RunDue(ctx)
	return errors.Join(err, w.privacy.Retain(ctx))
}
