package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

const (
	// sweepEvery is how often due work is looked for. Readers see an expired
	// session as expired without it; the sweep makes it final.
	sweepEvery = 10 * time.Second
	// tidyEvery is how often rows that nobody needs any more are removed.
	tidyEvery = time.Hour
	// jobPatience ends a job that hangs; its rows are taken up by the next.
	jobPatience = 5 * time.Minute
	// workers bounds the jobs that one process runs at a time.
	workers = 4
)

// Runner runs background work for one process.
type Runner struct {
	queue    store.Queue
	checkout *checkout.Checkout
	webhooks *webhook.Deliverer
	logger   *slog.Logger
	clock    clock.Clock
}

// New prepares the workers; Start starts them.
func New(st *store.Store, c *checkout.Checkout, webhooks *webhook.Deliverer, serviceClock clock.Clock, logger *slog.Logger) (*Runner, error) {
	set := river.NewWorkers()
	river.AddWorker(set, &lookupWorker{checkout: c})
	river.AddWorker(set, &dueWorker{checkout: c, clock: serviceClock})
	river.AddWorker(set, &tidyWorker{store: st, clock: serviceClock, real: webhooks.Clock})
	river.AddWorker(set, &webhookSweepWorker{store: st, real: webhooks.Clock})
	river.AddWorker(set, &drainWorker{webhooks: webhooks})
	queue, err := st.NewQueue(&river.Config{
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
		Workers:                     set,
		JobTimeout:                  jobPatience,
		RescueStuckJobsAfter:        2 * jobPatience,
		CompletedJobRetentionPeriod: tidyEvery,
		PeriodicJobs: []*river.PeriodicJob{
			periodic(sweepEvery, checkout.LookupJob{}),
			periodic(sweepEvery, DueJob{}),
			periodic(sweepEvery, WebhookSweepJob{}),
			periodic(tidyEvery, TidyJob{}),
		},
	})
	if err != nil {
		return nil, err
	}
	return &Runner{queue: queue, checkout: c, webhooks: webhooks, logger: logger, clock: serviceClock}, nil
}

// periodic repeats a sweep. One that fails is not tried again: the next comes
// soon enough.
func periodic(every time.Duration, job river.JobArgs) *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(every), func() (river.JobArgs, *river.InsertOpts) {
		return job, &river.InsertOpts{MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByPeriod: every}}
	}, nil)
}

// Start sweeps what a crash has left and starts the workers.
func (r *Runner) Start(ctx context.Context) error {
	startedAt := r.checkout.Real.Now()
	if err := r.queue.Start(ctx); err != nil {
		return err
	}
	go r.sweep(ctx, startedAt)
	return nil
}

func (r *Runner) sweep(ctx context.Context, startedAt time.Time) {
	if err := r.checkout.TakeOver(ctx, startedAt); err != nil && ctx.Err() == nil {
		r.logger.ErrorContext(ctx, "taking over unknown outcomes failed", "error", err)
	}
	if _, err := r.checkout.RunLookups(ctx); err != nil && ctx.Err() == nil {
		r.logger.ErrorContext(ctx, "looking up unknown outcomes failed", "error", err)
	}
	if _, err := r.checkout.RunDue(ctx, r.clock.Now()); err != nil && ctx.Err() == nil {
		r.logger.ErrorContext(ctx, "due work failed", "error", err)
	}
}

// resumeDeliveries does not wait for the sweep, which may have to ask gateways.
func (r *Runner) resumeDeliveries(ctx context.Context) {
	if err := r.webhooks.Start(ctx); err != nil && ctx.Err() == nil {
		r.logger.ErrorContext(ctx, "looking for webhook deliveries failed", "error", err)
	}
}

// Stop lets jobs and deliveries under way finish.
func (r *Runner) Stop(ctx context.Context) error {
	return errors.Join(r.queue.Stop(ctx), r.webhooks.Stop(ctx))
}
