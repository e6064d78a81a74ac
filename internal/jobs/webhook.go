package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"sepad/internal/clock"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// WebhookSweepJob wakes the search for deliveries that nobody works on.
type WebhookSweepJob struct{}

// Kind names the job in the queue.
func (WebhookSweepJob) Kind() string { return "sweep_webhooks" }

// webhookSweepWorker asks for a drain of each endpoint that has work: the rows
// of a process that died, retries that its timers would have woken.
type webhookSweepWorker struct {
	river.WorkerDefaults[WebhookSweepJob]
	store *store.Store
	real  clock.Clock
}

func (w *webhookSweepWorker) Work(ctx context.Context, _ *river.Job[WebhookSweepJob]) error {
	return webhook.Sweep(ctx, w.store, w.real.Now())
}

// drainWorker hands endpoints to the deliverer and does not wait for it: a
// slow receiver must not hold one of the few places for jobs.
type drainWorker struct {
	river.WorkerDefaults[webhook.DrainJob]
	webhooks *webhook.Deliverer
}

func (w *drainWorker) Work(_ context.Context, job *river.Job[webhook.DrainJob]) error {
	for _, e := range job.Args.Endpoints() {
		w.webhooks.WakeNow(e)
	}
	return nil
}
