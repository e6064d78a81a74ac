package webhook

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sepad/internal/clock"
	"sepad/internal/store"
)

const (
	// gatherFor is how long results wait for company before they are written,
	// gatherUpTo how many do not wait.
	gatherFor  = 20 * time.Millisecond
	gatherUpTo = 256
	// maxUnwritten stops attempts whose results nobody can write.
	maxUnwritten = 2048
	// writePatience is how long results are offered to a database that does not
	// take them: what is given up is sent once more.
	writePatience = 30 * time.Second
	writePause    = 250 * time.Millisecond
)

// judge says what follows from an attempt for its delivery.
func judge(o outcome, schedule Schedule, now time.Time) store.DeliveryResult {
	result := store.DeliveryResult{
		Attempt: store.Attempt{
			EventID: o.EventID, Number: o.AttemptCount + 1, At: o.at, Took: o.took, StatusCode: o.statusCode, Answer: o.start,
		},
		Status: store.DeliveryDelivered, FailureCount: o.FailureCount + 1,
	}
	if o.err != nil {
		result.Error = o.err.Error()
	}
	if o.delivered() {
		return result
	}
	result.Status = store.DeliveryFailed
	if errors.Is(o.err, errInactive) || o.statusCode == http.StatusGone {
		return result
	}
	if wait, more := schedule.wait(result.FailureCount, o.retryAfter); more {
		result.Status, result.NextAttemptAt = store.DeliveryPending, clock.Instant(now.Add(wait))
	}
	return result
}

// outcomeLabel is how an attempt is counted.
func outcomeLabel(r store.DeliveryResult) string {
	if r.Status == store.DeliveryPending {
		return "retry"
	}
	return string(r.Status)
}

// keep takes a result to be written with others.
func (r *drain) keep(result store.DeliveryResult) {
	if len(r.results) == 0 {
		r.flushAt = time.After(gatherFor)
	}
	r.results = append(r.results, result)
	if at := result.NextAttemptAt; !at.IsZero() && (r.nextRetry.IsZero() || at.Before(r.nextRetry)) {
		r.nextRetry = at
	}
}

// written is the end of a write.
type written struct {
	results []store.DeliveryResult
	err     error
}

// write writes results that need not wait: there are many of them, or nothing
// else is going on.
func (r *drain) write() {
	waiting, senders := r.backlog.state()
	if len(r.results) >= gatherUpTo || senders == 0 && waiting == 0 {
		r.flush()
	}
}

// flush writes what there is, beside everything else, one write at a time. What comes
// until it is this drain's turn is written with it.
func (r *drain) flush() {
	if r.writing || len(r.results) == 0 {
		return
	}
	r.flushAt, r.writing = nil, true
	go func() { r.turned <- r.turn() }()
}

// turnBetween waits for a turn of the drain's own goroutine, and uses the one that comes for its results meanwhile: drains
// that hold turns and wait for others would wait for each other for ever.
func (r *drain) turnBetween() (end func()) {
	for {
		select {
		case r.queries <- struct{}{}:
			return func() { <-r.queries }
		case end := <-r.turned:
			r.record(end)
		}
	}
}

// record writes what there is in the turn that has come.
func (r *drain) record(end func()) {
	results, state, isNew := r.results, r.state, r.state != r.saved
	r.flushAt, r.results, r.saved = nil, nil, r.state
	go func() {
		r.written <- written{results, r.insist(end, func(tx *store.Tx) error {
			tx.RecordDeliveries(r.endpoint, results)
			if isNew {
				tx.SaveEndpoint(r.endpoint, r.owner, state)
			}
			return nil
		})}
	}()
}

// insist writes in a turn, and in further ones to a database that is away for a moment.
func (r *drain) insist(end func(), work func(*store.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), writePatience)
	defer cancel()
	for {
		err := r.Store.Write(ctx, r.Clock.Now(), work)
		end()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(writePause):
		}
		end = r.turn()
	}
}

// afterWrite lets go of what has been written.
func (r *drain) afterWrite(w written) error {
	r.writing = false
	if r.reading {
		r.done = append(r.done, w.results...)
	} else {
		r.letGo(w.results)
	}
	if len(r.results) > 0 {
		r.flushAt = time.After(gatherFor)
	}
	return w.err
}

func (r *drain) letGo(results []store.DeliveryResult) {
	for _, result := range results {
		delete(r.inHand, result.EventID)
	}
}

// finish looks whether there is really nothing left, and waits a little for
// what may come. It says when to look again once the drain is done.
func (r *drain) finish(ctx context.Context) (ahead outlook, done bool, err error) {
	now := r.Clock.Now()
	switch {
	case r.stopping:
		return outlook{}, true, nil
	case r.trouble != nil:
		return outlook{}, true, r.trouble
	case isPaused(r.state, now):
		return outlook{r.state.PausedUntil, true}, true, nil
	case !r.nextRetry.IsZero() && !r.nextRetry.After(now):
		return outlook{}, false, r.recall(ctx, 0)
	case !r.isDry:
		return outlook{}, false, nil
	}
	if r.lingers(ctx) {
		r.reread()
		return outlook{}, false, r.setTarget(r.Store.CurrentSetup(ctx, r.endpoint.TenantID))
	}
	return outlook{next: r.nextRetry}, true, nil
}

// lingers waits for a signal that something has come into line.
func (r *drain) lingers(ctx context.Context) bool {
	if r.Linger == 0 {
		return false
	}
	timer := time.NewTimer(r.Linger)
	defer timer.Stop()
	select {
	case <-r.again:
		return true
	case <-timer.C:
		return false
	case <-ctx.Done():
		return false
	}
}

// release lets others have the endpoint, and says whether something is in line for
// it. Where that cannot be written the lease runs out by itself.
func (r *drain) release() (isDue bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), leaseFor)
	defer cancel()
	defer r.turn()()
	err = r.Store.Write(ctx, r.Clock.Now(), func(tx *store.Tx) error {
		if r.state != r.saved {
			tx.SaveEndpoint(r.endpoint, r.owner, r.state)
		} else {
			tx.Relax() // a lease that comes back runs out
		}
		tx.ReleaseEndpoint(r.endpoint, r.owner, &isDue)
		return nil
	})
	if err != nil {
		r.Logger.WarnContext(ctx, "a webhook endpoint could not be released", "error", err)
	}
	return isDue, err
}
