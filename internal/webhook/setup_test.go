package webhook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

const secret = "whsec_of_the_receiver"

// bench is a shop, its receiver and a process that delivers. Time passes when
// the test says so.
type bench struct {
	*Deliverer
	env      *storetest.Env
	receiver *receiver
	clock    *handClock
	endpoint store.Endpoint
	log      *bytes.Buffer
}

func setup(t *testing.T, env *storetest.Env, change ...func(*Options)) *bench {
	t.Helper()
	b := &bench{env: env, clock: &handClock{now: clock.Real{}.Now()}, receiver: newReceiver(t), log: &bytes.Buffer{}}
	env.DatabaseClock = b.clock.Now
	b.endpoint = b.newEndpoint(t, b.receiver.URL)
	b.Deliverer = b.process(t, env.Store, change...)
	return b
}

// process is another process on the same rows.
func (b *bench) process(t *testing.T, st *store.Store, change ...func(*Options)) *Deliverer {
	t.Helper()
	options := Options{
		Store: st, Clock: b.clock, Real: b.clock, Schedule: DefaultSchedule(), Logger: slog.New(slog.NewTextHandler(b.log, nil)),
		Sender: &Sender{Transport: NewTransport(true), Timeout: DefaultTimeout, UserAgent: "sepad/test"},
	}
	for _, c := range change {
		c(&options)
	}
	d := NewDeliverer(options)
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return d
}

// newEndpoint makes a tenant with a profile at an address.
func (b *bench) newEndpoint(t *testing.T, url string) store.Endpoint {
	t.Helper()
	tenant := b.env.Tenant(t)
	profile := b.env.WebhookProfile(t, tenant.ID, func(p *merchant.WebhookProfile) {
		p.URL, p.SigningSecret, p.PreviousSecret, p.PreviousSecretUntil = url, secret, "", time.Time{}
	})
	return store.Endpoint{TenantID: tenant.ID, ProfileID: profile.ID}
}

// events puts events into line, and gives their ids in order of creation.
func (b *bench) events(t *testing.T, e store.Endpoint, n int) []uuid.UUID {
	t.Helper()
	db := b.env.DB(t)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = payment.NewID()
		_, err := tx.ExecContext(t.Context(), `
			INSERT INTO events (tenant_id, id, event_key, kind, webhook_profile_id, payload, created_at)
			VALUES ($1, $2, $3, 'payment_session.completed', $4, $5, $6)`,
			e.TenantID.String(), ids[i].String(), ids[i].String(), e.ProfileID.String(), fmt.Sprintf(`{"number":%d}`, i), b.env.Now.UnixMicro())
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return ids
}

// work drains the endpoint to its end, on this goroutine.
func (b *bench) work(t *testing.T) outlook {
	t.Helper()
	ahead, err := b.drain(t.Context(), b.endpoint, nil)
	if err != nil {
		t.Fatalf("drain: %v", err)
	}
	return ahead
}

// record reads a delivery with its log.
func (b *bench) record(t *testing.T, e store.Endpoint, id uuid.UUID) listing.DeliveryRecord {
	t.Helper()
	record, err := listing.Delivery(t.Context(), b.env.Store.Tenant(e.TenantID), id)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func (b *bench) wantStatus(t *testing.T, id uuid.UUID, status store.DeliveryStatus, attempts int) listing.DeliveryRecord {
	t.Helper()
	record := b.record(t, b.endpoint, id)
	if record.Status != status || len(record.Attempts) != attempts {
		t.Fatalf("the delivery is %s after %d attempts, want %s after %d: %+v", record.Status, len(record.Attempts), status, attempts, record.Attempts)
	}
	return record
}

// handClock is moved by hand.
type handClock struct {
	mu  sync.Mutex
	now time.Time
	// ticks makes each look at the clock later than the one before.
	ticks bool
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ticks {
		c.now = c.now.Add(time.Microsecond)
	}
	return c.now
}

func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = clock.Instant(c.now.Add(d))
}

// call is a request as a receiver got it.
type call struct {
	header http.Header
	body   string
}

func (c call) event() string { return c.header.Get("X-Service-Event-Id") }

// receiver is a merchant's server; its answer can be changed at any time.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	calls  []call
	answer http.HandlerFunc
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{answer: func(http.ResponseWriter, *http.Request) {}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	r.calls = append(r.calls, call{request.Header.Clone(), string(body)})
	answer := r.answer
	r.mu.Unlock()
	answer(w, request)
}

// answers sets what every later call gets.
func (r *receiver) answers(answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) status(code int) {
	r.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
}

// got gives the calls so far, each with a good signature.
func (r *receiver) got(t *testing.T) []call {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		if c.header.Get("X-Service-Signature") != Sign(secret, []byte(c.body)) {
			t.Errorf("a call has the signature %q", c.header.Get("X-Service-Signature"))
		}
	}
	return slices.Clone(r.calls)
}

func (r *receiver) wantCalls(t *testing.T, n int) []call {
	t.Helper()
	calls := r.got(t)
	if len(calls) != n {
		t.Fatalf("the receiver got %d calls, want %d", len(calls), n)
	}
	return calls
}

// wantEach expects every event exactly once.
func wantEach(t *testing.T, calls []call, ids []uuid.UUID) {
	t.Helper()
	seen := map[string]int{}
	for _, c := range calls {
		seen[c.event()]++
	}
	for _, id := range ids {
		if seen[id.String()] != 1 {
			t.Errorf("event %s came %d times", id, seen[id.String()])
		}
	}
	if len(calls) != len(ids) {
		t.Errorf("%d calls for %d events", len(calls), len(ids))
	}
}

// wantInOrder expects that attempts began in order of creation, but for some
// that probed. The clock must tick for that.
func (b *bench) wantInOrder(t *testing.T, ids []uuid.UUID, probes int) {
	t.Helper()
	began := make([]time.Time, len(ids))
	for i, id := range ids {
		record := b.record(t, b.endpoint, id)
		began[i] = record.Attempts[len(record.Attempts)-1].At
	}
	inTime := slices.SortedFunc(slices.Values(began), time.Time.Compare)
	began = slices.DeleteFunc(began, func(at time.Time) bool { return slices.Contains(inTime[:probes], at) })
	if !slices.IsSortedFunc(began, time.Time.Compare) {
		t.Errorf("attempts began in another order: %v", began)
	}
}

// within waits for something that other goroutines bring about.
func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s took too long", what)
	}
}

func containsNone(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("%q is given away in %s", s, text)
		}
	}
}
