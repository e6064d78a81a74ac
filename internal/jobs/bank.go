package jobs

import (
	"context"
	"sync"

	"github.com/riverqueue/river"

	"sepad/internal/banking"
	"sepad/internal/clock"
)

// BankJob wakes what is due at merchants' banks: files to write and to deliver,
// answers to read.
type BankJob struct{}

// Kind names the job in the queue.
func (BankJob) Kind() string { return "bank_files" }

// bankWorker does it, one at a time: a server that hangs must not take all places
// for jobs.
type bankWorker struct {
	river.WorkerDefaults[BankJob]
	banking *banking.Banking
	clock   clock.Clock
	busy    sync.Mutex
}

func (w *bankWorker) Work(ctx context.Context, _ *river.Job[BankJob]) error {
	if !w.busy.TryLock() {
		return nil
	}
	defer w.busy.Unlock()
	return w.banking.Attend(ctx, w.clock.Now())
}
