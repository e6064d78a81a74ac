package webhook

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestFaultyReceivers has a receiver fail in every way it can, once, and then
// work: the event must come through.
func TestFaultyReceivers(t *testing.T) {
	t.Parallel()
	impatient := func(o *Options) { o.Sender.Timeout = 500 * time.Millisecond }
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		status int
		error  string
	}{
		{"one that answers 500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, 500, ""},
		{"one that answers with a redirect", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound)
		}, 302, ""},
		{"one that resets the connection", reset, 0, "reset"},
		{"one that closes the connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, "EOF"},
		{"one that never answers", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, "no answer within 500ms"},
		{"one that sends a head without end", endlessHead, 0, "header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, storetest.SQLite(t), impatient)
			b.receiver.answers(c.answer)
			id := b.events(t, b.endpoint, 1)[0]
			b.clock.pass(b.work(t).next.Sub(b.clock.Now()))
			failed := b.wantStatus(t, id, store.DeliveryPending, 1).Attempts[0]
			if failed.StatusCode != c.status || !strings.Contains(failed.Error, c.error) || (failed.Error == "") != (c.error == "") {
				t.Errorf("the log says %d, %q", failed.StatusCode, failed.Error)
			}
			b.receiver.status(200)
			b.work(t)
			b.wantStatus(t, id, store.DeliveryDelivered, 2)
			for _, call := range b.receiver.wantCalls(t, 2) {
				if call.event() != id.String() {
					t.Errorf("an attempt has the event id %s", call.event())
				}
			}
		})
	}
}

func TestReceiversThatNeedPatience(t *testing.T) {
	t.Parallel()
	t.Run("one that is down", func(t *testing.T) {
		t.Parallel()
		b := setup(t, storetest.SQLite(t))
		address := b.receiver.Listener.Addr().String()
		b.receiver.Close()
		id := b.events(t, b.endpoint, 1)[0]
		b.clock.pass(b.work(t).next.Sub(b.clock.Now()))
		if text := b.wantStatus(t, id, store.DeliveryPending, 1).Attempts[0].Error; !strings.Contains(text, "connection refused") {
			t.Errorf("the log says %q", text)
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		again := &http.Server{Handler: http.HandlerFunc(b.receiver.serve)}
		defer again.Close()
		go again.Serve(listener)
		b.work(t)
		b.wantStatus(t, id, store.DeliveryDelivered, 2)
	})

	t.Run("one that is slow but answers in time", func(t *testing.T) {
		t.Parallel()
		b := setup(t, storetest.SQLite(t))
		b.receiver.answers(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-time.After(30 * time.Millisecond)
			fmt.Fprint(w, "at last")
		})
		id := b.events(t, b.endpoint, 1)[0]
		b.work(t)
		if a := b.wantStatus(t, id, store.DeliveryDelivered, 1).Attempts[0]; a.Answer != "at last" {
			t.Errorf("the log says %q", a.Answer)
		}
	})

	t.Run("one with a huge answer", func(t *testing.T) {
		t.Parallel()
		b := setup(t, storetest.SQLite(t))
		var sent atomic.Int64
		done := make(chan struct{})
		b.receiver.answers(func(w http.ResponseWriter, _ *http.Request) {
			defer close(done)
			n, _ := io.Copy(w, io.LimitReader(endless{}, 1<<30))
			sent.Store(n)
		})
		id := b.events(t, b.endpoint, 1)[0]
		b.work(t)
		within(t, "the end of the answer", done)
		if a := b.wantStatus(t, id, store.DeliveryDelivered, 1).Attempts[0]; a.Answer != strings.Repeat("x", keptAnswer) {
			t.Errorf("%d bytes are kept", len(a.Answer))
		}
		if n := sent.Load(); n > 100<<20 {
			t.Errorf("%d bytes could be sent", n)
		}
	})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func reset(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_ = connection.(*net.TCPConn).SetLinger(0)
	_ = connection.Close()
}

func endlessHead(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	fmt.Fprint(connection, "HTTP/1.1 200 OK\r\nX-Long: ")
	_, _ = io.Copy(connection, io.LimitReader(endless{}, 1<<20))
}

// TestAProcessThatDied leaves an endpoint leased and its deliveries unrecorded.
func TestAProcessThatDied(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		ids := b.events(t, b.endpoint, 3)
		dead := payment.NewID()
		now := b.clock.Now()
		if _, ok, err := env.Store.LeaseEndpoint(t.Context(), b.endpoint, dead, now, leaseFor); !ok || err != nil {
			t.Fatalf("lease: %v, %v", ok, err)
		}
		if ahead := b.work(t); !ahead.paused || ahead.next.Sub(now) != lookEvery {
			t.Errorf("the outlook is %+v", ahead)
		}
		b.receiver.wantCalls(t, 0)
		b.clock.pass(leaseFor)
		b.work(t)
		wantEach(t, b.receiver.got(t), ids)
	})
}

// TestStartTakesBackLeases is for SQLite, whose only server need not wait for
// the lease of the one before it.
func TestStartTakesBackLeases(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	b.events(t, b.endpoint, 1)
	now := b.clock.Now()
	if _, _, err := b.Store.LeaseEndpoint(t.Context(), b.endpoint, payment.NewID(), now, leaseFor); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	b.receiver.answers(func(http.ResponseWriter, *http.Request) { close(done) })
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, "the delivery", done)
}

// TestTwoProcesses has two of them woken for everything at once.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		other := b.process(t, env.Reopen(t))
		var ids []uuid.UUID
		var endpoints []store.Endpoint
		for range 4 {
			e := b.newEndpoint(t, b.receiver.URL)
			endpoints = append(endpoints, e)
			ids = append(ids, b.events(t, e, 150)...)
		}
		done := b.receiver.after(len(ids))
		for _, e := range endpoints {
			b.Wake(e)
			other.Wake(e)
		}
		within(t, "delivering", done)
		for _, d := range []*Deliverer{b.Deliverer, other} {
			if err := d.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
		wantEach(t, b.receiver.got(t), ids)
	})
}

// after gives a signal once so many calls have come.
func (r *receiver) after(n int) <-chan struct{} {
	done := make(chan struct{})
	var count atomic.Int64
	r.answers(func(http.ResponseWriter, *http.Request) {
		if count.Add(1) == int64(n) {
			close(done)
		}
	})
	return done
}

// TestAStopWaitsForAttempts stops a process in the middle of a delivery.
func TestAStopWaitsForAttempts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		arrived, goOn := make(chan struct{}), make(chan struct{})
		b.receiver.answers(func(http.ResponseWriter, *http.Request) {
			close(arrived)
			<-goOn
		})
		ids := b.events(t, b.endpoint, 2)
		b.Wake(b.endpoint)
		within(t, "the first call", arrived)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			if err := b.Stop(context.Background()); err != nil {
				t.Errorf("stop: %v", err)
			}
		}()
		<-b.ctx.Done()
		select {
		case <-stopped:
			t.Error("it stopped before the answer came")
		default:
		}
		close(goOn)
		within(t, "stopping", stopped)
		b.wantStatus(t, ids[0], store.DeliveryDelivered, 1)
		b.wantStatus(t, ids[1], store.DeliveryPending, 0)
		if held := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM webhook_endpoints WHERE leased_until > 0`); held != 0 {
			t.Error("the lease is still held")
		}
	})
}

// TestMovedClocks moves the sandbox's clock by years and the machine's by hours.
func TestMovedClocks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.receiver.status(500)
		id := b.events(t, b.endpoint, 1)[0]
		ahead := b.work(t)

		env.Write(t, func(tx *store.Tx) error {
			tx.SetClockOffset(5 * 365 * 24 * time.Hour)
			return nil
		})
		b.work(t)
		b.receiver.wantCalls(t, 1) // the sandbox's clock is none of our business

		b.receiver.status(200)
		b.clock.pass(-3 * time.Hour)
		fresh := b.events(t, b.endpoint, 1)[0]
		b.work(t)
		b.wantStatus(t, fresh, store.DeliveryDelivered, 1) // what is in line needs no clock
		b.wantStatus(t, id, store.DeliveryPending, 1)

		b.clock.pass(ahead.next.Sub(b.clock.Now()))
		b.work(t)
		b.wantStatus(t, id, store.DeliveryDelivered, 2)
	})
}

// TestADatabaseThatIsRestarted stops it in the middle of deliveries.
func TestADatabaseThatIsRestarted(t *testing.T) {
	t.Parallel()
	cluster, env := storetest.OwnPostgres(t)
	b := setup(t, env)
	ids := b.events(t, b.endpoint, 600)
	half := b.receiver.after(len(ids) / 2)
	b.Wake(b.endpoint)
	within(t, "the first half", half)
	all := b.receiver.sees(ids)
	if err := cluster.Restart(); err != nil {
		t.Fatal(err)
	}
	within(t, "the rest", all)
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.clock.pass(leaseFor)
	b.work(t)
	left := storetest.Scalar[int](t, env, `SELECT (SELECT COUNT(*) FROM events_in_line) + (SELECT COUNT(*) FROM events WHERE delivery_status <> 'delivered')`)
	if left != 0 {
		t.Errorf("%d deliveries are not recorded", left)
	}
}

// sees gives a signal once each of the events has come.
func (r *receiver) sees(ids []uuid.UUID) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	missing := map[string]bool{}
	for _, id := range ids {
		missing[id.String()] = true
	}
	for _, c := range r.calls {
		delete(missing, c.event())
	}
	done := make(chan struct{})
	var mu sync.Mutex
	r.answer = func(_ http.ResponseWriter, request *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		event := request.Header.Get("X-Service-Event-Id")
		if missing[event] && len(missing) == 1 {
			close(done)
		}
		delete(missing, event)
	}
	return done
}
