package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestResend(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b, asked := setup(t, env), countPeriods()
		b.receiver.status(410)
		id := b.events(t, b.endpoint, 1)[0]
		b.work(t)
		b.wantStatus(t, id, store.DeliveryFailed, 1)

		b.receiver.status(500)
		record, err := Resend(t.Context(), b.Store, id, b.clock.Now())
		if err != nil || record.Status != store.DeliveryPending {
			t.Fatalf("resent: %+v, %v", record, err)
		}
		ahead := b.work(t)
		if wait := ahead.next.Sub(b.clock.Now()); wait > 6*time.Second {
			t.Errorf("its schedule does not begin anew: the wait is %s", wait)
		}
		b.receiver.status(200)
		if _, err := Resend(t.Context(), b.Store, id, b.clock.Now()); err != nil {
			t.Fatal(err)
		}
		b.work(t)
		b.wantStatus(t, id, store.DeliveryDelivered, 3)
		if _, err := Resend(t.Context(), b.Store, id, b.clock.Now()); err != nil {
			t.Fatal(err)
		}
		b.work(t)
		calls := b.receiver.wantCalls(t, 4)
		if calls[3].event() != id.String() || calls[3].header.Get("X-Service-Delivery-Attempt") != "4" {
			t.Errorf("the last attempt is %v", calls[3].header)
		}
		wantOneDrainEach(t, env, asked())
		if _, err := Resend(t.Context(), b.Store, payment.NewID(), b.clock.Now()); !errors.Is(err, ErrNotFound) {
			t.Errorf("an unknown one gives %v", err)
		}
	})
}

// countPeriods tells how many periods of uniqueness have begun since it was called:
// the queue goes by the machine's clock, and the test takes as long as it takes.
func countPeriods() (soFar func() int) {
	began := time.Now().Truncate(uniqueFor)
	return func() int { return int(time.Since(began)/uniqueFor) + 1 }
}

// wantOneDrainEach expects a job for the one endpoint that was asked for, and no
// more than one in each period.
func wantOneDrainEach(t *testing.T, env *storetest.Env, periods int) {
	t.Helper()
	jobs := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM river_job WHERE kind = 'drain_webhook_endpoint'`)
	if jobs < 1 || jobs > periods {
		t.Errorf("%d jobs wake the endpoint, asked for in %d periods", jobs, periods)
	}
}

func TestResendAnswersWhatItDidWhateverIsUnderWay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		id := b.events(t, b.endpoint, 1)[0]
		ctx, cancel := context.WithCancel(t.Context())
		var drains sync.WaitGroup
		drains.Go(func() {
			for ctx.Err() == nil {
				if _, err := b.drain(t.Context(), b.endpoint, nil); err != nil {
					t.Errorf("drain: %v", err)
				}
			}
		})
		for range 20 {
			record, err := Resend(t.Context(), b.Store, id, b.clock.Now())
			if err != nil || record.Status != store.DeliveryPending || !record.NextAttemptAt.IsZero() {
				t.Errorf("resent: %+v, %v", record, err)
			}
		}
		cancel()
		drains.Wait()
	})
}

func TestResendFailed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.receiver.status(410)
		first := env.Now
		b.events(t, b.endpoint, 2)
		env.Now = first.Add(time.Hour)
		late := b.events(t, b.endpoint, 3)
		b.work(t)
		b.receiver.status(200)
		for _, c := range []struct {
			from, before time.Time
			want         int
		}{
			{first.Add(time.Hour + time.Microsecond), time.Time{}, 0},
			{first.Add(time.Minute), first.Add(time.Hour), 0},
			{first.Add(time.Minute), first.Add(2 * time.Hour), 3},
			{time.Time{}, time.Time{}, 2},
		} {
			n, err := ResendFailed(t.Context(), b.Store, store.FailedEvents{Endpoint: b.endpoint, From: c.from, Before: c.before}, b.clock.Now())
			if err != nil || n.Count != c.want || n.Left != 0 {
				t.Errorf("from %s before %s: %+v, %v", c.from, c.before, n, err)
			}
			b.work(t)
		}
		b.receiver.wantCalls(t, 10)
		b.wantStatus(t, late[0], store.DeliveryDelivered, 2)
	})
}

// TestManyFailedEventsAreResentSomeAtATime: a unit that takes all of them keeps everybody else from writing on SQLite. What
// is left is counted, and is found by whoever goes on, which sends none twice.
func TestManyFailedEventsAreResentSomeAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.events(t, b.endpoint, 3*resendAtOnce+1)
		env.OutOfLine(t)
		env.Exec(t, `UPDATE events SET delivery_status = 'failed'`)
		failed := store.FailedEvents{Endpoint: b.endpoint}
		for _, want := range []Resent{{Count: 2 * resendAtOnce, Left: resendAtOnce + 1}, {Count: resendAtOnce + 1}} {
			done, err := resendSome(t.Context(), b.Store, failed, 2, b.clock.Now())
			if err != nil || done.Count != want.Count || done.Left != want.Left || (done.After != nil) != (done.Left > 0) {
				t.Errorf("%d are in line and %d are left behind %v, want %d and %d: %v", done.Count, done.Left, done.After, want.Count, want.Left, err)
			}
			if done.After != nil {
				failed.After = *done.After
				env.Exec(t, `UPDATE events SET delivery_status = 'failed' WHERE id <= $1`, failed.After.String()) // as a receiver has it that is quick to refuse
			}
		}
		if deeds := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM audit_entries WHERE action = 'delivery.resend_failed'`); deeds != 4 {
			t.Errorf("%d units have put them into line, want 4", deeds)
		}
	})
}

func TestResendingEndsAPause(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	b.receiver.status(500)
	ids := b.events(t, b.endpoint, 20)
	if ahead := b.work(t); !ahead.paused {
		t.Fatal("the endpoint is not paused")
	}
	b.receiver.status(200)
	if _, err := Resend(t.Context(), b.Store, ids[19], b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	b.work(t)
	b.wantStatus(t, ids[19], store.DeliveryDelivered, 1)
	b.wantStatus(t, ids[0], store.DeliveryDelivered, 2)
}

func TestSweepAsksForOneDrainPerEndpoint(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		idle, waiting := b.newEndpoint(t, b.receiver.URL), b.endpoint
		b.receiver.status(500)
		b.events(t, waiting, 1)
		b.work(t)
		busy := b.newEndpoint(t, b.receiver.URL)
		b.events(t, busy, 2)
		sweep := func() []store.Endpoint {
			t.Helper()
			if err := Sweep(t.Context(), b.Store, b.clock.Now()); err != nil {
				t.Fatal(err)
			}
			due, err := b.Store.EndpointsDue(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			return due
		}
		asked := countPeriods()
		due := sweep()
		sweep()
		wantOneDrainEach(t, env, asked())
		if len(due) != 1 || due[0] != busy {
			t.Errorf("due are %v, not %v; idle is %v", due, busy, idle)
		}
		b.clock.pass(6 * time.Second)
		if due := sweep(); len(due) != 2 {
			t.Errorf("after the wait due are %v", due)
		}
	})
}

// TestDrainsOfManyEndpoints has more endpoints than the queue could hand out one by one.
func TestDrainsOfManyEndpoints(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 1, sweepJobs, sweepJobs + 1, 1000} {
		var due, woken []store.Endpoint
		for range count {
			due = append(due, store.Endpoint{TenantID: payment.NewID(), ProfileID: payment.NewID()})
		}
		jobs := drainsOf(due)
		if len(jobs) > sweepJobs || count <= sweepJobs && len(jobs) != count {
			t.Errorf("%d jobs for %d endpoints", len(jobs), count)
		}
		for _, job := range jobs { // as the queue hands it over
			var read DrainJob
			text, err := json.Marshal(job)
			if err == nil {
				err = json.Unmarshal(text, &read)
			}
			if err != nil {
				t.Fatal(err)
			}
			woken = append(woken, read.Endpoints()...)
		}
		if !slices.Equal(woken, due) {
			t.Errorf("of %d endpoints %d are woken", len(due), len(woken))
		}
	}
}

func TestADrainThatAKilledProcessHadInHand(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.events(t, b.endpoint, 1)
		sweep := func(state string) int {
			t.Helper()
			if err := Sweep(t.Context(), b.Store, b.clock.Now()); err != nil {
				t.Fatal(err)
			}
			return storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM river_job WHERE CAST(state AS TEXT) = $1`, state)
		}
		if sweep("available") == 0 {
			t.Fatal("no drain was asked for")
		}
		env.Exec(t, `UPDATE river_job SET state = 'running'`)
		tick, deadline := time.NewTicker(50*time.Millisecond), time.After(20*time.Second)
		defer tick.Stop()
		for sweep("available") == 0 {
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatal("the job in hand stands in the way of the next")
			}
		}
	})
}

// TestWakingAfterACommit goes the whole way from a payment to its receiver.
func TestWakingAfterACommit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env, func(o *Options) { o.Linger = DefaultLinger })
		done := b.receiver.after(4)
		env.Store.OnEvents(b.Wake)
		shop := env.Shop(t)
		shop.Profile.URL, shop.Profile.SigningSecret = b.receiver.URL, secret
		env.Write(t, func(tx *store.Tx) error { return env.Store.PutWebhookProfile(tx, shop.ID, shop.Profile) })
		env.Settled(t, shop)
		env.Settled(t, shop)
		within(t, "the events", done)
		kinds := map[string]int{}
		for _, c := range b.receiver.wantCalls(t, 4) {
			kinds[c.header.Get("X-Service-Event")]++
		}
		if kinds["payment_session.completed"] != 2 || kinds["transaction.created"] != 2 {
			t.Errorf("got %v", kinds)
		}
	})
}

// TestATimerTriesAgain lets real time pass, as little as it can.
func TestATimerTriesAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t), func(o *Options) {
		o.Clock, o.Schedule = clock.Own{}, []time.Duration{time.Millisecond}
	})
	b.env.DatabaseClock = clock.Steady
	done := make(chan struct{})
	b.receiver.answers(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Service-Delivery-Attempt") == "1" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		close(done)
	})
	b.events(t, b.endpoint, 1)
	b.Wake(b.endpoint)
	within(t, "the second attempt", done)
}
