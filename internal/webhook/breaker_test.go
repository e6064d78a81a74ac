package webhook

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestADeadEndpoint(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.clock.ticks = true
		b.receiver.status(500)
		ids := b.events(t, b.endpoint, 50)

		ahead := b.work(t)
		if wait := ahead.next.Sub(b.clock.Now()); !ahead.paused || wait > 5*time.Second || wait < 4*time.Second {
			t.Fatalf("after failures only it is looked at in %s (%+v)", wait, ahead)
		}
		b.receiver.wantCalls(t, failuresToPause)
		b.work(t)
		b.receiver.wantCalls(t, failuresToPause) // nothing is sent in the pause

		b.clock.pass(5 * time.Second)
		ahead = b.work(t)
		b.receiver.wantCalls(t, failuresToPause+1) // one delivery probes
		if wait := ahead.next.Sub(b.clock.Now()); !ahead.paused || wait > 30*time.Second || wait < 29*time.Second {
			t.Errorf("the second pause is %s", wait)
		}
		for range 3 {
			b.clock.pass(maxPause)
			ahead = b.work(t)
		}
		if wait := ahead.next.Sub(b.clock.Now()); wait > maxPause {
			t.Errorf("a pause grows to %s", wait)
		}

		b.receiver.status(204)
		b.clock.pass(maxPause)
		if ahead = b.work(t); !ahead.next.IsZero() {
			t.Errorf("there is something left: %+v", ahead)
		}
		// All of it, also what had waits of its own, in order of creation.
		for _, id := range ids {
			if record := b.record(t, b.endpoint, id); record.Status != store.DeliveryDelivered {
				t.Fatalf("event %s is %s", id, record.Status)
			}
		}
		b.wantInOrder(t, ids, 1)
		text := b.log.String()
		if strings.Count(text, "webhook endpoint paused") != 1 || strings.Count(text, "webhook endpoint is back") != 1 {
			t.Errorf("the log says %s", text)
		}
		containsNone(t, text, secret, b.receiver.URL)
	})
}

func TestAPauseIsKnownToEveryProcess(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.receiver.status(500)
		b.events(t, b.endpoint, 50)
		b.work(t)
		other := b.process(t, env.Reopen(t))
		if ahead, err := other.drain(t.Context(), b.endpoint, nil); err != nil || !ahead.paused {
			t.Errorf("another process sees %+v, %v", ahead, err)
		}
		b.receiver.wantCalls(t, failuresToPause)
		if due, err := env.Store.EndpointsDue(t.Context(), 0); err != nil || len(due) != 0 {
			t.Errorf("a sweep finds %v, %v", due, err)
		}
		b.clock.pass(maxPause)
		if due, err := env.Store.EndpointsDue(t.Context(), 0); err != nil || len(due) != 1 {
			t.Errorf("after the pause a sweep finds %v, %v", due, err)
		}
	})
}

// TestSomeFailuresPauseNobody has a receiver that fails one call in three.
func TestSomeFailuresPauseNobody(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	var calls int
	b.receiver.answers(func(w http.ResponseWriter, _ *http.Request) {
		b.receiver.mu.Lock()
		defer b.receiver.mu.Unlock()
		if calls++; calls%3 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	b.events(t, b.endpoint, 300)
	for ahead := b.work(t); !ahead.next.IsZero(); ahead = b.work(t) {
		if ahead.paused {
			t.Fatal("the endpoint is paused")
		}
		b.clock.pass(ahead.next.Sub(b.clock.Now()))
	}
	if left := storetest.Scalar[int](t, b.env, `SELECT (SELECT COUNT(*) FROM events_in_line) + (SELECT COUNT(*) FROM events WHERE delivery_status <> 'delivered')`); left != 0 {
		t.Errorf("%d are not delivered", left)
	}
}

// TestOneTenantDoesNotDelayAnother has receivers that hang, and one that works.
func TestOneTenantDoesNotDelayAnother(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		hanging := newReceiver(t)
		goOn := make(chan struct{})
		defer close(goOn)
		hanging.answers(func(http.ResponseWriter, *http.Request) { <-goOn })
		for range 20 {
			e := b.newEndpoint(t, hanging.URL)
			b.events(t, e, 40)
			b.Wake(e)
		}
		ids := b.events(t, b.endpoint, 200)
		done := b.receiver.after(len(ids))
		b.Wake(b.endpoint)
		within(t, "delivering", done)
	})
}

// TestVeryManyEndpointsOfATenantWaitForEachOther has more endpoints of one tenant than have a place, whose receiver hangs: no more
// than that are tried, another tenant's events go on, and each is tried once there is a place.
func TestVeryManyEndpointsOfATenantWaitForEachOther(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.places = 3
		hanging := newReceiver(t)
		goOn, some, all := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var tried atomic.Int64
		hanging.answers(func(http.ResponseWriter, *http.Request) {
			switch tried.Add(1) {
			case 3:
				close(some)
			case 12:
				close(all)
			}
			<-goOn
		})
		tenant := b.env.Tenant(t)
		var ids []uuid.UUID
		for range 12 {
			profile := b.env.WebhookProfile(t, tenant.ID, func(p *merchant.WebhookProfile) { p.URL, p.SigningSecret = hanging.URL, secret })
			e := store.Endpoint{TenantID: tenant.ID, ProfileID: profile.ID}
			ids = append(ids, b.events(t, e, 1)...)
			b.Wake(e)
			b.WakeNow(e) // as the queue does beside the store
		}
		within(t, "trying the first", some)
		others := b.events(t, b.endpoint, 20)
		done := b.receiver.after(len(others))
		b.Wake(b.endpoint)
		within(t, "delivering", done)
		if n := tried.Load(); n > 3 {
			t.Errorf("%d endpoints of one tenant are tried at a time", n)
		}
		close(goOn)
		within(t, "trying those in line", all)
		wantEach(t, hanging.got(t), ids)
	})
}

func TestEndpointsShareThePlaces(t *testing.T) {
	t.Parallel()
	for active, want := range map[int]int{0: 32, 1: 32, 16: 32, 17: 30, 512: 1, 5000: 1} {
		if got := (&Deliverer{active: active}).share(); got != want {
			t.Errorf("of %d endpoints each has %d places, want %d", active, got, want)
		}
	}
}

// TestADrainReadsAheadWhatItCanSend has an endpoint that just begins, one that is quick, and one among very many: what is read waits in
// memory.
func TestADrainReadsAheadWhatItCanSend(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.events(t, b.endpoint, readAhead+1)
		for _, test := range []struct{ window, active, want int }{
			{1, 1, 16}, {2, 1, 32}, {maxInFlight, 1, 500}, {maxInFlight, 16, 500}, {maxInFlight, 32, 256}, {maxInFlight, maxOfTenant, 32}, {maxInFlight, 5000, 16},
		} {
			b.mu.Lock()
			b.active = test.active
			b.mu.Unlock()
			r := b.newDrain(b.endpoint, store.Lease{}, nil)
			r.window = test.window
			r.read(t.Context())
			r.addFound(<-r.found)
			if waiting, _ := r.backlog.state(); waiting != test.want || r.isDry {
				t.Errorf("with %d places among %d endpoints %d are read, want %d", test.window, test.active, waiting, test.want)
			}
			if r.read(t.Context()); r.reading {
				t.Error("more are read while most of them wait")
			}
		}
		b.mu.Lock()
		b.active = 0
		b.mu.Unlock()
	})
}
