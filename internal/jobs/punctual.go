package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"sepad/internal/clock"
	"sepad/internal/store"
)

// notDone are the states of a sweep that may still come. A sweep that was done does not stand for one of the same period: a
// clock that is put back comes to that period again.
var notDone = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
}

// periodic repeats a sweep. One that fails is not tried again: the next comes
// soon enough.
func periodic(every time.Duration, job river.JobArgs) *river.PeriodicJob {
	return river.NewPeriodicJob(onTheDot(every), func() (river.JobArgs, *river.InsertOpts) {
		return job, &river.InsertOpts{MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByPeriod: every, ByState: notDone}}
	}, nil)
}

// onTheDot repeats something on full hours, or whatever it counts in. An interval would begin with whoever leads the queue, and
// what comes every hour would never come where no process lasts that long.
type onTheDot time.Duration

// Next is the next time after another, and like that one by both of the machine's clocks: by the wall's alone, everything would
// wait for as long as that is put back, and come once for each time that it is put past.
func (every onTheDot) Next(current time.Time) time.Time {
	next := current.Truncate(time.Duration(every)).Add(time.Duration(every))
	return current.Add(next.Sub(current))
}

// longAgo has come by everybody's clock.
var longAgo = time.Unix(0, 0)

// atOnce has sweeps handed out at once. The queue's leader dates them by its own clock, and the database hands none out before
// its date: everybody's sweeps would wait for as long as that clock is ahead, or was when the leader began.
func atOnce(ctx context.Context, jobs []*rivertype.JobInsertParams, insert func(context.Context) ([]*rivertype.JobInsertResult, error)) ([]*rivertype.JobInsertResult, error) {
	for _, job := range jobs {
		if job.State == rivertype.JobStateAvailable {
			job.ScheduledAt = &longAgo
		}
	}
	return insert(ctx)
}

// broughtByTime are the jobs that do what falls due by this machine's clock.
var broughtByTime = []string{DueJob{}.Kind(), BillJob{}.Kind(), BankJob{}.Kind(), TidyJob{}.Kind(), PrivacyJob{}.Kind()}

// punctual keeps what time brings from a machine whose clock cannot be believed. Another process does it, or nobody until
// the clocks agree.
type punctual struct {
	store *store.Store
	real  clock.Clock
}

// work does a job of the queue.
func (p punctual) work(ctx context.Context, job *rivertype.JobRow, do func(context.Context) error) error {
	if !slices.Contains(broughtByTime, job.Kind) {
		return do(ctx)
	}
	return p.do(ctx, do)
}

// do does what falls due.
func (p punctual) do(ctx context.Context, due func(context.Context) error) error {
	if err := p.store.CheckClock(ctx, p.real.Now()); err != nil {
		return err
	}
	return due(ctx)
}
