package webhook

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// DrainJob wakes some process to drain an endpoint. The rows say what is to be
// sent; the job holds nothing but the address, and one per endpoint is enough.
type DrainJob struct {
	endpointName
	// More are further endpoints that a sweep found. A program that does not know of
	// them wakes the first alone, and the next sweep finds the others again.
	More []endpointName `json:"more,omitempty"`
}

type endpointName struct {
	TenantID  uuid.UUID `json:"tenant_id"`
	ProfileID uuid.UUID `json:"webhook_profile_id"`
}

func drainOf(e store.Endpoint) DrainJob { return DrainJob{endpointName: endpointName(e)} }

// Kind names the job in the queue.
func (DrainJob) Kind() string { return "drain_webhook_endpoint" }

// uniqueFor bounds how long one wake-up stands for another. A job that a killed
// process was about to do keeps its state until the queue gives it up, which takes
// minutes; the endpoint must be woken before that.
const uniqueFor = time.Second

// atOnce has the queue hand a job out by itself; one with a date, even a past
// one, waits for its leader.
var atOnce time.Time

// InsertOpts makes the job unique for a while, unless it has been done.
func (DrainJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByPeriod: uniqueFor, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable,
		rivertype.JobStateScheduled,
	}}}
}

// Endpoints are what the job is about.
func (j DrainJob) Endpoints() []store.Endpoint {
	all := []store.Endpoint{store.Endpoint(j.endpointName)}
	for _, e := range j.More {
		all = append(all, store.Endpoint(e))
	}
	return all
}

// sweepJobs bounds the jobs of one sweep. A process takes some forty a second, and
// billing and all other work stands in the same line: a job for each of a thousand
// endpoints would hold it up for longer than until the next sweep.
const sweepJobs = 32

// drainsOf shares endpoints out among no more jobs than that.
func drainsOf(due []store.Endpoint) (jobs []DrainJob) {
	for some := range slices.Chunk(due, max(1, (len(due)+sweepJobs-1)/sweepJobs)) {
		job := drainOf(some[0])
		for _, e := range some[1:] {
			job.More = append(job.More, endpointName(e))
		}
		jobs = append(jobs, job)
	}
	return jobs
}

// Sweep asks the queue for a drain of every endpoint that has something to do,
// so that the processes share them. It finds what was left by one that died.
func Sweep(ctx context.Context, st *store.Store, now time.Time) error {
	due, err := st.EndpointsDue(ctx, 0)
	if err != nil || len(due) == 0 {
		return err
	}
	return st.Write(ctx, now, func(tx *store.Tx) error {
		for _, job := range drainsOf(due) {
			if err := tx.Enqueue(job, atOnce); err != nil {
				return err
			}
		}
		return nil
	})
}

// ErrNotFound is the answer for a delivery that does not exist.
var ErrNotFound = &payment.Error{Kind: payment.NotFound, Detail: "Delivery not found"}

// errSwitchedOff is the answer when there is nowhere to send to.
var errSwitchedOff = payment.Conflicting("The webhook profile is not active.")

// Find reads a delivery with its log.
func Find(ctx context.Context, st *store.Store, eventID uuid.UUID) (listing.DeliveryRecord, error) {
	e, err := st.EndpointOf(ctx, eventID)
	if errors.Is(err, store.ErrNoDelivery) {
		return listing.DeliveryRecord{}, ErrNotFound
	}
	if err != nil {
		return listing.DeliveryRecord{}, err
	}
	return listing.Delivery(ctx, st.Tenant(e.TenantID), eventID)
}

// Resend sends an event again, whatever became of it before: the same event with
// the same id. It gives the delivery as this call leaves it, in line: a drain that
// is under way may be through with it before anybody could read it again.
func Resend(ctx context.Context, st *store.Store, eventID uuid.UUID, now time.Time) (listing.DeliveryRecord, error) {
	record, err := Find(ctx, st, eventID)
	if err != nil {
		return listing.DeliveryRecord{}, err
	}
	if err := checkActive(ctx, st, record.Endpoint); err != nil {
		return listing.DeliveryRecord{}, err
	}
	err = st.Write(ctx, now, func(tx *store.Tx) error {
		tx.Resend(record.Endpoint, eventID)
		tx.Audit(store.Deed{
			Action: "delivery.resend", ObjectType: "event", ObjectID: eventID.String(), TenantID: record.TenantID,
			Before: map[string]any{"status": record.Status}, After: map[string]any{"status": store.DeliveryPending},
		})
		return tx.Enqueue(drainOf(record.Endpoint), atOnce)
	})
	if err != nil {
		return listing.DeliveryRecord{}, err
	}
	record.Status, record.NextAttemptAt = store.DeliveryPending, time.Time{}
	return record, nil
}

const (
	// resendAtOnce is how many events one unit puts into line: others write beside it.
	resendAtOnce = 2_000
	// resendTurns is how many units one call has, which somebody waits for.
	resendTurns = 50
)

// Resent is how many events are in line again, and how many have failed behind the
// last that was looked at.
type Resent struct {
	Count int `json:"resent"`
	Left  int `json:"left"`
	// After is that last one, nil where none is left. A further call goes on behind it:
	// from the oldest it would send first what has failed again at once.
	After *uuid.UUID `json:"after"`
}

// ResendFailed sends failed events of a profile again, some at a time. What is in line
// stays there when it is broken off; whoever goes on behind the last sends none twice.
func ResendFailed(ctx context.Context, st *store.Store, failed store.FailedEvents, now time.Time) (done Resent, err error) {
	if err := checkActive(ctx, st, failed.Endpoint); err != nil {
		return done, err
	}
	return resendSome(ctx, st, failed, resendTurns, now)
}

func resendSome(ctx context.Context, st *store.Store, failed store.FailedEvents, turns int, now time.Time) (done Resent, err error) {
	for range turns {
		ids, err := st.Failed(ctx, failed, resendAtOnce)
		if err != nil || len(ids) == 0 {
			return done, err
		}
		resent, err := resendThose(ctx, st, failed.Endpoint, ids, now)
		if err != nil {
			return done, err
		}
		done.Count, failed.After = done.Count+resent, ids[len(ids)-1]
	}
	if done.Left, err = st.CountFailed(ctx, failed); done.Left > 0 {
		done.After = &failed.After
	}
	return done, err
}

func resendThose(ctx context.Context, st *store.Store, e store.Endpoint, ids []uuid.UUID, now time.Time) (resent int, err error) {
	err = st.Write(ctx, now, func(tx *store.Tx) error {
		if resent, err = tx.ResendFailed(e, ids); err != nil || resent == 0 {
			return err
		}
		tx.Audit(store.Deed{
			Action: "delivery.resend_failed", ObjectType: "webhook_profile", ObjectID: e.ProfileID.String(), TenantID: e.TenantID,
			After: map[string]any{"resent": resent},
		})
		return tx.Enqueue(drainOf(e), atOnce)
	})
	return resent, err
}

// checkActive refuses a profile that is switched off.
func checkActive(ctx context.Context, st *store.Store, e store.Endpoint) error {
	setup, err := st.CurrentSetup(ctx, e.TenantID)
	if err == nil && !setup.WebhookProfiles[e.ProfileID].Active {
		return errSwitchedOff
	}
	return err
}
