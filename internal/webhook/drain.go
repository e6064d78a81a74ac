package webhook

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/store"
)

const (
	// leaseFor is how long an endpoint stays with a process that does not say
	// otherwise: after a crash others wait this long.
	leaseFor   = 10 * time.Second
	renewEvery = 2500 * time.Millisecond
	// lookEvery is how often a busy drain looks for what other processes have
	// put into line, and how often a process tries for an endpoint that another
	// one has.
	lookEvery = 500 * time.Millisecond
	// looksInAPass is how many times a drain that has something to send looks away from the line
	// before it reads it from the beginning.
	looksInAPass = 10
	// readSoon lets several events come together before a busy drain reads them.
	readSoon = 5 * time.Millisecond
	// readAhead is how many deliveries are read at a time at most, and aheadOfSender for each that may be under way: they are
	// in memory until they are sent, and very many endpoints that take one in fifteen seconds each need no more than a few.
	// The next are read when half of them are left.
	readAhead     = 500
	aheadOfSender = 16
	// maxInHand is more than can be in line, under way and finished.
	maxInHand = 4 * readAhead
)

// outlook is when a drained endpoint has to be looked at again, the zero time
// for not before there is something new.
type outlook struct {
	next   time.Time
	paused bool
}

// drain is one process's work on one endpoint, from lease to release. All of
// its fields belong to the goroutine that runs it; attempts and writes run
// beside it and report over channels.
type drain struct {
	*Deliverer
	endpoint store.Endpoint
	tenant   store.Tenant
	again    <-chan struct{}

	state store.EndpointState
	saved store.EndpointState

	backlog  *backlog
	inHand   map[uuid.UUID]struct{} // read, and the result not yet written
	stopping bool

	reading bool
	found   chan found
	last    uuid.UUID              // how far this pass has read
	pass    int                    // grows when reading begins anew
	looks   int                    // since it did
	isDry   bool                   // there was nothing more to read
	trouble error                  // why reading failed last
	done    []store.DeliveryResult // written while a read was under way

	window    int  // attempts that may be under way; grows with each success
	moves     bool // something has ended since the last look
	finished  chan *outcome
	nextRetry time.Time

	results []store.DeliveryResult // not yet being written
	writing bool
	turned  chan func() // it is this drain's turn to write; what ends it
	written chan written

	flushAt <-chan time.Time // nil while nothing waits to be written
	readAt  <-chan time.Time // nil while there is nothing new to read
}

// outcome is a delivery with what came of the attempt.
type outcome struct {
	store.Delivery
	answer
	at   time.Time
	took time.Duration
}

// drain works an endpoint off until nothing is in line. Deliveries begin in
// order of creation; several are under way at a time.
func (d *Deliverer) drain(ctx context.Context, e store.Endpoint, again <-chan struct{}) (outlook, error) {
	for {
		now := d.Clock.Now()
		end := d.turn()
		lease, ok, err := d.lease(ctx, e, now)
		end()
		if err != nil {
			return outlook{}, err
		}
		if !ok {
			return outlook{now.Add(lookEvery), true}, nil
		}
		r := d.newDrain(e, lease, again)
		ahead, err := r.run(ctx, lease.SetupVersion)
		// Something may have come into line by another process that found the
		// endpoint taken.
		isDue, releaseErr := r.release()
		if err != nil || ahead.paused || r.stopping {
			return ahead, err
		}
		if releaseErr != nil || !isDue {
			return ahead, releaseErr
		}
	}
}

// lease takes an endpoint, or keeps it, in a turn.
func (d *Deliverer) lease(ctx context.Context, e store.Endpoint, now time.Time) (store.Lease, bool, error) {
	return d.Store.LeaseEndpoint(ctx, e, d.owner, now, leaseFor)
}

func (d *Deliverer) newDrain(e store.Endpoint, lease store.Lease, again <-chan struct{}) *drain {
	return &drain{
		Deliverer: d, endpoint: e, tenant: d.Store.Tenant(e.TenantID), again: again, state: lease.State, saved: lease.State, nextRetry: lease.NextRetry,
		backlog: &backlog{clock: d.Real}, inHand: map[uuid.UUID]struct{}{}, window: 1, finished: make(chan *outcome, maxInHand),
		found: make(chan found, 1), turned: make(chan func(), 1), written: make(chan written, 1),
	}
}

// run works until nothing is left.
func (r *drain) run(ctx context.Context, setupVersion int64) (outlook, error) {
	defer r.backlog.clear()
	if isPaused(r.state, r.Clock.Now()) {
		return outlook{r.state.PausedUntil, true}, nil
	}
	if err := r.prepare(ctx, setupVersion); err != nil {
		return outlook{}, err
	}
	look, renew := time.NewTicker(lookEvery), time.NewTicker(renewEvery)
	defer look.Stop()
	defer renew.Stop()
	stop := ctx.Done()
	for {
		r.read(ctx)
		r.begin()
		r.write()
		if len(r.inHand) == 0 && !r.reading {
			if ahead, done, err := r.finish(ctx); done || err != nil {
				return ahead, err
			}
			continue
		}
		select {
		case o := <-r.finished:
			r.concludeAll(ctx, o)
		case f := <-r.found:
			r.addFound(f)
		case end := <-r.turned:
			r.record(end)
		case w := <-r.written:
			if err := r.afterWrite(w); err != nil {
				return outlook{}, err
			}
		case <-r.flushAt:
			r.flush()
		case <-r.again:
			r.readAt = time.After(readSoon)
		case <-r.readAt:
			r.readAt, r.isDry = nil, false
		case <-look.C:
			r.look(ctx)
		case <-renew.C:
			r.renew(context.WithoutCancel(ctx))
		case <-stop:
			stop = nil
			r.stop()
		}
	}
}

// prepare reads where to send, and lines up what may be tried again.
func (r *drain) prepare(ctx context.Context, setupVersion int64) error {
	if err := r.setTarget(r.Store.Setup(ctx, r.endpoint.TenantID, setupVersion)); err != nil {
		return err
	}
	return r.recallDue(ctx)
}

// setTarget takes where deliveries go from a set-up that was read.
func (r *drain) setTarget(setup *merchant.Setup, err error) error {
	if err == nil {
		profile, found := setup.WebhookProfiles[r.endpoint.ProfileID]
		r.backlog.setTarget(newTarget(profile, found))
	}
	return err
}

// found is the end of a read.
type found struct {
	due   []store.Delivery
	limit int
	pass  int
	err   error
}

// read gets the next deliveries in line when few are left, beside everything
// else. A database that cannot be read now is asked again at the next look.
func (r *drain) read(ctx context.Context) {
	waiting, _ := r.backlog.state()
	limit := r.ahead()
	if r.reading || r.stopping || r.isDry || waiting >= limit/2 || len(r.results) >= maxUnwritten || isPaused(r.state, r.Clock.Now()) {
		return
	}
	if isProbing(r.state) {
		if len(r.inHand) > 0 {
			return
		}
		limit = 1
	}
	r.reading = true
	last, pass := r.last, r.pass
	go func() {
		defer r.turn()()
		due, err := r.tenant.DeliveriesDue(ctx, r.endpoint.ProfileID, last, limit)
		r.found <- found{due, limit, pass, err}
	}()
}

// ahead is how many deliveries are read at a time.
func (r *drain) ahead() int { return min(readAhead, aheadOfSender*min(r.window, r.share())) }

// addFound puts what was read into the line.
func (r *drain) addFound(f found) {
	r.reading, r.trouble = false, f.err
	if f.pass == r.pass {
		r.isDry = len(f.due) < f.limit
	}
	if !r.stopping && !isPaused(r.state, r.Clock.Now()) {
		r.addFresh(f)
	}
	// What was written meanwhile may stand in the line as it was read.
	r.letGo(r.done)
	r.done = nil
}

// addFresh adds deliveries that are not in hand already.
func (r *drain) addFresh(f found) {
	fresh := f.due[:0]
	for _, delivery := range f.due {
		if f.pass == r.pass {
			r.last = delivery.EventID
		}
		if _, known := r.inHand[delivery.EventID]; !known {
			r.inHand[delivery.EventID] = struct{}{}
			fresh = append(fresh, delivery)
		}
	}
	r.backlog.add(fresh)
}

// reread begins a new pass, which also sees what was committed late and is
// older than the last one read.
func (r *drain) reread() {
	r.isDry, r.last, r.looks = false, uuid.Nil, 0
	r.pass++
}

// look sees what others have put into line and what may be tried again. What is found
// while something waits would wait behind it, and what has been sent is still in line
// until its result is written.
func (r *drain) look(ctx context.Context) {
	r.looks++
	waiting, _ := r.backlog.state()
	isIdle := waiting == 0 && !r.reading && !r.writing && len(r.results) == 0
	if isIdle || r.moves && r.looks >= looksInAPass {
		r.reread()
	}
	r.moves = false
	r.trouble = r.recallDue(ctx)
}

// begin starts as many senders as the endpoint may have.
func (r *drain) begin() {
	if isPaused(r.state, r.Clock.Now()) {
		r.dropBacklog()
		return
	}
	for range r.backlog.allowSenders(min(r.window, r.share())) {
		go r.send()
	}
}

// send delivers what is in line, one after the other, until a failure.
func (r *drain) send() {
	for {
		if r.ctx.Err() != nil { // what is in line is left there
			r.backlog.leave()
			return
		}
		delivery, to, began, ok := r.backlog.next()
		if !ok {
			return
		}
		o := r.attempt(to, delivery, began)
		if !o.delivered() {
			r.backlog.leave()
			r.finished <- &o
			return
		}
		r.finished <- &o
	}
}

func (o outcome) delivered() bool { return o.statusCode >= 200 && o.statusCode < 300 }

// attempt tries one delivery. It outlives a process that is asked to stop: only
// its own limit ends it.
func (d *Deliverer) attempt(to *target, delivery store.Delivery, began time.Time) outcome {
	o := outcome{Delivery: delivery, at: began}
	if o.err = cmp.Or(to.err, delivery.Unreadable); o.err != nil {
		return o
	}
	started := d.Clock.Now()
	o.answer = d.Sender.send(context.WithoutCancel(d.ctx), to, delivery, began)
	o.start = delivery.Mask(o.start)
	if o.err != nil {
		o.err = errors.New(delivery.Mask(o.err.Error()))
	}
	o.took = d.Clock.Now().Sub(started)
	return o
}

// dropBacklog lets go of what was read and not begun.
func (r *drain) dropBacklog() {
	for _, delivery := range r.backlog.clear() {
		delete(r.inHand, delivery.EventID)
	}
	r.reread()
}

func (r *drain) stop() {
	r.stopping = true
	r.dropBacklog()
}

// concludeAll takes an outcome, and those that have come with it.
func (r *drain) concludeAll(ctx context.Context, o *outcome) {
	r.conclude(ctx, o)
	for range len(r.finished) {
		r.conclude(ctx, <-r.finished)
	}
}

// conclude takes the result of an attempt and what it says of the endpoint.
func (r *drain) conclude(ctx context.Context, o *outcome) {
	now := r.Clock.Now()
	result := judge(*o, r.Schedule, now)
	r.keep(result)
	r.moves = true
	r.Observe(outcomeLabel(result), o.took)
	wasPaused := isProbing(r.state)
	switch {
	case errors.Is(o.err, errInactive): // says nothing of the receiver
	case result.Status == store.DeliveryDelivered, o.statusCode == http.StatusGone:
		r.state = afterAnswer()
		r.window = min(r.window+1, maxInFlight)
		if wasPaused {
			r.resume(ctx)
		}
	default:
		r.state = afterFailure(r.state, r.Schedule, now)
		r.window = max(r.window-1, 1)
		if !wasPaused && isProbing(r.state) {
			r.Logger.WarnContext(ctx, "webhook endpoint paused: it does not take deliveries",
				"tenant_id", r.endpoint.TenantID, "webhook_profile_id", r.endpoint.ProfileID)
		}
	}
}

// resume sends everything that has waited, in order of creation, to an endpoint
// that is back.
func (r *drain) resume(ctx context.Context) {
	r.Logger.InfoContext(ctx, "webhook endpoint is back",
		"tenant_id", r.endpoint.TenantID, "webhook_profile_id", r.endpoint.ProfileID)
	r.trouble = r.recall(ctx, forever)
}

// forever is longer than any wait.
const forever = 100 * 365 * 24 * time.Hour

// recallDue puts retries into line whose time has come.
func (r *drain) recallDue(ctx context.Context) error {
	now := r.Clock.Now()
	if r.nextRetry.IsZero() || r.nextRetry.After(now) {
		return nil
	}
	return r.recall(ctx, 0)
}

// recall puts those into line that may be tried within a time. Very many take longer than a lease lasts, which is kept meanwhile: a
// process that took the endpoint over would send beside this one what both have read.
func (r *drain) recall(ctx context.Context, within time.Duration) error {
	for more := true; more; {
		var err error
		end := r.turnBetween()
		more, err = r.Store.LineUpRetries(ctx, r.Clock.Now(), r.endpoint, within)
		end()
		if err != nil {
			return err
		}
		if more {
			r.renew(context.WithoutCancel(ctx))
		}
		if r.stopping {
			return nil
		}
	}
	r.reread()
	defer r.turnBetween()()
	at, err := r.tenant.NextRetry(ctx, r.endpoint.ProfileID, r.Clock.Now())
	r.nextRetry = at
	return err
}

// renew keeps the lease and reads the profile again. Whoever has lost the lease
// begins nothing more; a database that does not answer may do so next time.
func (r *drain) renew(ctx context.Context) {
	end := r.turnBetween()
	lease, ok, err := r.lease(ctx, r.endpoint, r.Clock.Now())
	end()
	if err == nil && !ok {
		r.stop()
		return
	}
	if err == nil {
		err = r.setTarget(r.Store.Setup(ctx, r.endpoint.TenantID, lease.SetupVersion))
	}
	if err != nil {
		r.Logger.DebugContext(ctx, "the webhook profile could not be read again", "error", err)
	}
}
