package jobs

import (
	"context"
	"sync"

	"github.com/riverqueue/river"

	"sepad/internal/notice"
)

// MailJob wakes the sending of mails that are in line.
type MailJob struct{}

// Kind names the job in the queue.
func (MailJob) Kind() string { return "send_mails" }

// mailWorker sends, one batch at a time: a server that hangs must not take all
// places for jobs.
type mailWorker struct {
	river.WorkerDefaults[MailJob]
	outbox *notice.Outbox
	busy   sync.Mutex
}

func (w *mailWorker) Work(ctx context.Context, _ *river.Job[MailJob]) error {
	if !w.busy.TryLock() {
		return nil
	}
	defer w.busy.Unlock()
	_, err := w.outbox.Run(ctx)
	return err
}
