package webhook

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/payment"
	"sepad/internal/store"
)

const (
	// maxInFlight bounds the attempts at one endpoint at a time, and
	// maxInFlightTotal those of the process. Endpoints that are busy at the
	// same time share the latter evenly; each may always send one.
	maxInFlight      = 32
	maxInFlightTotal = 512
	// maxQueries leaves most of the database's connections to payments.
	maxQueries = 6
	// DefaultLinger spares a merchant who sells often most of the leases.
	DefaultLinger = 200 * time.Millisecond
	// afterError is the wait after the database could not be used.
	afterError = time.Second
	// startAhead is how far a start looks ahead: the queue's sweeps, which find
	// what comes due later, begin once the lease of a leader that died is over.
	startAhead = 30 * time.Second
)

// Options are what a Deliverer is made from.
type Options struct {
	Store *store.Store
	// Clock is this process's own time, which must not jump. What several processes
	// compare is translated to the database's where it is written and read.
	Clock clock.Clock
	// Real is the world's time, with which deliveries are dated and signed.
	Real     clock.Clock
	Schedule []time.Duration
	Sender   *Sender
	Logger   *slog.Logger
	// Observe is told of each attempt; nil when nobody measures.
	Observe func(outcome string, took time.Duration)
	// Linger is how long an endpoint is kept after its last delivery, in case
	// the next one comes soon.
	Linger time.Duration
}

// Deliverer sends events for one process.
type Deliverer struct {
	Options
	// owner names this process in leases.
	owner   uuid.UUID
	queries chan struct{}

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu        sync.Mutex
	stopped   bool
	active    int
	endpoints map[store.Endpoint]*worker
	tenants   map[uuid.UUID]*line
	// places is how many endpoints of a tenant are drained at a time.
	places int
}

// worker is what a process has to do with one endpoint: it drains it, or waits
// for the time to do so, or for its place.
type worker struct {
	running bool
	// inLine tells that it begins once another endpoint of its tenant has ended.
	inLine bool
	// again is a signal that something came into line while it ran.
	again     chan struct{}
	timer     *time.Timer
	notBefore time.Time // set while the endpoint is paused
}

// NewDeliverer makes a deliverer, which begins with the first Wake.
func NewDeliverer(options Options) *Deliverer {
	d := &Deliverer{
		Options: options, owner: payment.NewID(), queries: make(chan struct{}, maxQueries),
		endpoints: map[store.Endpoint]*worker{}, tenants: map[uuid.UUID]*line{}, places: maxOfTenant,
	}
	if d.Observe == nil {
		d.Observe = func(string, time.Duration) {}
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// turn waits for leave to use the database, and gives what ends it.
func (d *Deliverer) turn() (end func()) {
	d.queries <- struct{}{}
	return func() { <-d.queries }
}

// Wake has an endpoint drained, unless it is paused. It does not wait, and
// waking once too often does no harm.
func (d *Deliverer) Wake(e store.Endpoint) { d.wake(e, false) }

// WakeNow wakes an endpoint even if this process lets it rest: whether it may
// be tried is read again from the database.
func (d *Deliverer) WakeNow(e store.Endpoint) { d.wake(e, true) }

func (d *Deliverer) wake(e store.Endpoint, now bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	w := d.endpoints[e]
	if w == nil {
		w = &worker{again: make(chan struct{}, 1)}
		d.endpoints[e] = w
	}
	switch {
	case w.running:
		w.signal()
	case w.inLine:
	case !now && w.notBefore.After(d.Clock.Now()):
	default:
		w.stopTimer()
		d.begin(e, w)
	}
}

func (w *worker) signal() {
	select {
	case w.again <- struct{}{}:
	default: // it knows already
	}
}

func (w *worker) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// work drains an endpoint and sets the alarm for what is left.
func (d *Deliverer) work(e store.Endpoint, w *worker) {
	for {
		ahead, err := d.drain(d.ctx, e, w.again)
		if err != nil && d.ctx.Err() == nil {
			d.Logger.WarnContext(d.ctx, "webhook deliveries were interrupted",
				"tenant_id", e.TenantID, "webhook_profile_id", e.ProfileID, "error", err)
			ahead = outlook{next: d.Clock.Now().Add(afterError)}
		}
		if d.rest(e, w, ahead) {
			return
		}
	}
}

// rest ends the work unless there was a signal meanwhile.
func (d *Deliverer) rest(e store.Endpoint, w *worker, ahead outlook) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(w.again) > 0 && !d.stopped && !ahead.paused {
		<-w.again
		return false
	}
	d.end(e, w)
	if ahead.next.IsZero() || d.stopped {
		delete(d.endpoints, e)
		return true
	}
	w.notBefore = time.Time{}
	if ahead.paused {
		w.notBefore = ahead.next
	}
	w.timer = time.AfterFunc(ahead.next.Sub(d.Clock.Now()), func() { d.WakeNow(e) })
	return true
}

// share is how many attempts an endpoint may have under way.
func (d *Deliverer) share() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(1, min(maxInFlight, maxInFlightTotal/max(1, d.active)))
}

// Start takes up what a crash or a stop has left: it sends what is in line, and
// sets the alarm for what comes soon.
func (d *Deliverer) Start(ctx context.Context) error {
	now := d.Clock.Now()
	if err := d.Store.EndLeases(ctx, now); err != nil {
		return err
	}
	due, err := d.Store.EndpointsDue(ctx, startAhead)
	for _, e := range due {
		d.Wake(e)
	}
	return err
}

// Stop begins no further attempts, and waits for those under way and for their
// results to be written.
func (d *Deliverer) Stop(ctx context.Context) error {
	d.mu.Lock()
	d.stopped = true
	for _, w := range d.endpoints {
		w.stopTimer()
	}
	d.mu.Unlock()
	d.cancel()
	done := make(chan struct{})
	go func() {
		d.group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
