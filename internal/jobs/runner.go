package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/db"
	"sepad/internal/notice"
	"sepad/internal/people"
	"sepad/internal/privacy"
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
	// recallEvery is how often gateways are asked again that did not answer after a
	// restore.
	recallEvery = 10 * time.Second
	// catchUpEvery is how often a start comes back for what a crash left open.
	catchUpEvery = time.Second
)

// Runner runs background work for one process.
type Runner struct {
	queue    db.Queue
	checkout *checkout.Checkout
	billing  *billing.Billing
	banking  *banking.Banking
	webhooks *webhook.Deliverer
	logger   *slog.Logger
	clock    clock.Clock
	timely   punctual
}

// New prepares the workers; Start starts them. Failed is told of work that failed.
func New(b *billing.Billing, banks *banking.Banking, persons *privacy.Privacy, webhooks *webhook.Deliverer, mails *notice.Outbox, serviceClock clock.Clock, logger *slog.Logger, failed func(kind string)) (*Runner, error) {
	c, st, set := b.Checkout, b.Checkout.Store, river.NewWorkers()
	river.AddWorker(set, &lookupWorker{checkout: c})
	river.AddWorker(set, &dueWorker{checkout: c, clock: serviceClock})
	river.AddWorker(set, &billWorker{billing: b, clock: serviceClock})
	river.AddWorker(set, &bankWorker{banking: banks, clock: serviceClock})
	river.AddWorker(set, &analyzeWorker{store: st, clock: serviceClock})
	river.AddWorker(set, &privacyWorker{privacy: persons})
	river.AddWorker(set, &tidyWorker{store: st, clock: serviceClock, real: webhooks.Clock})
	river.AddWorker(set, &webhookSweepWorker{store: st, real: webhooks.Clock})
	river.AddWorker(set, &drainWorker{webhooks: webhooks})
	river.AddWorker(set, &mailWorker{outbox: mails})
	river.AddWorker(set, &countWorker{store: st, clock: serviceClock})
	river.AddWorker(set, &auditWorker{people: &people.People{Store: st}})
	timely := punctual{store: st, real: c.Real}
	queue, err := st.NewQueue(&river.Config{
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: workers}},
		Workers:                     set,
		Middleware:                  []rivertype.Middleware{river.JobInsertMiddlewareFunc(atOnce), river.WorkerMiddlewareFunc(timely.work)},
		JobTimeout:                  jobPatience,
		ErrorHandler:                failures{logger, failed},
		RescueStuckJobsAfter:        2 * jobPatience,
		CompletedJobRetentionPeriod: tidyEvery,
		PeriodicJobs: []*river.PeriodicJob{
			periodic(sweepEvery, checkout.LookupJob{}),
			periodic(sweepEvery, DueJob{}),
			periodic(sweepEvery, BillJob{}),
			periodic(sweepEvery, BankJob{}),
			periodic(sweepEvery, WebhookSweepJob{}),
			periodic(sweepEvery, MailJob{}),
			periodic(sweepEvery, AnalyzeJob{}),
			periodic(sweepEvery, AuditJob{}),
			periodic(sweepEvery, CountJob{}),
			periodic(tidyEvery, TidyJob{}),
			periodic(tidyEvery, PrivacyJob{}),
		},
	})
	if err != nil {
		return nil, err
	}
	return &Runner{queue: queue, checkout: c, billing: b, banking: banks, webhooks: webhooks, logger: logger, clock: serviceClock, timely: timely}, nil
}

// Start starts the workers and sweeps what a crash has left. The queue's own
// sweeps would find it too, but not before the lease of a leader that died has run
// out; so each process does it for itself, and what two of them want to do is
// claimed by one.
func (r *Runner) Start(ctx context.Context) error {
	// What is left open is told by the clock that wrote its dates.
	startedAt, err := r.checkout.Store.Now(ctx)
	if err != nil {
		return err
	}
	if err := r.queue.Start(ctx); err != nil {
		return err
	}
	go r.resumeDeliveries(ctx)
	go r.catchUp(ctx, startedAt)
	return nil
}

func (r *Runner) catchUp(ctx context.Context, startedAt time.Time) {
	r.recall(ctx)
	if err := r.checkout.TakeOver(ctx, startedAt); err != nil && ctx.Err() == nil {
		r.logger.ErrorContext(ctx, "taking over unknown outcomes failed", "error", err)
	}
	r.lookUp(ctx)
	err := r.timely.do(ctx, func(ctx context.Context) error {
		_, err := runDue(ctx, r.billing, r.banking, r.clock.Now())
		return err
	})
	if err != nil && ctx.Err() == nil {
		r.logger.ErrorContext(ctx, "due work failed", "error", err)
	}
	r.lookUpWhatIsLeft(ctx, startedAt)
}

func (r *Runner) lookUp(ctx context.Context) {
	if _, err := r.checkout.RunLookups(ctx); err != nil && ctx.Err() == nil {
		r.logger.ErrorContext(ctx, "looking up unknown outcomes failed", "error", err)
	}
}

// lookUpWhatIsLeft stays for the payments whose sender may have died so lately
// that nobody may ask about them yet. All of them can be asked about once a
// silence has passed since the start.
func (r *Runner) lookUpWhatIsLeft(ctx context.Context, startedAt time.Time) {
	tick := time.NewTicker(catchUpEvery)
	defer tick.Stop()
	askedAt := startedAt
	for {
		open, err := r.checkout.LeftOpen(ctx, startedAt, askedAt)
		if err != nil && ctx.Err() == nil {
			r.logger.ErrorContext(ctx, "looking for payments left open failed", "error", err)
		}
		if err == nil && !open {
			return
		}
		select {
		case <-tick.C:
			if now, err := r.checkout.Store.Now(ctx); err == nil {
				askedAt = now
			}
			r.lookUp(ctx)
		case <-ctx.Done():
			return
		}
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
