package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sepad/internal/app"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

// The test's own program, started with aheadVariable, is sepad on a machine whose
// clock is wrong. Each line on its standard input steps that clock.
const (
	aheadVariable = "WRONG_CLOCK_AHEAD"
	// ownVariable has what processes agree on judged by that clock, too.
	ownVariable = "WRONG_CLOCK_JUDGES"
)

// wrongClock is a machine's clock that is off.
type wrongClock struct{ ahead atomic.Int64 }

func (c *wrongClock) Now() time.Time { return clock.Real{}.Now().Add(time.Duration(c.ahead.Load())) }

func (c *wrongClock) step(text string) error {
	ahead, err := time.ParseDuration(text)
	c.ahead.Store(int64(ahead))
	return err
}

func runWithWrongClock() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &program{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	wrong := &wrongClock{}
	if err := wrong.step(os.Getenv(aheadVariable)); err != nil {
		return p.fail(err, exitFailed)
	}
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if err := wrong.step(lines.Text()); err != nil {
				os.Exit(p.fail(err, exitFailed))
			}
		}
	}()
	p.service = app.Options{World: wrong}
	if os.Getenv(ownVariable) != "" {
		p.service.DatabaseClock = wrong.Now
	}
	return run(p, os.Args[1:])
}

const (
	// farAway is how long an answer of the database, and of the gateway whose memory
	// lies there, takes to the server that customers call.
	farAway = 80 * time.Millisecond
	// underLoad is how long customers pay while the other server's clock is wrong in
	// one way, and asksEvery how often payments to ask about are looked for. Sweeps
	// come every ten seconds otherwise, and one has to meet a payment on its way.
	underLoad = 6 * time.Second
	asksEvery = 200 * time.Millisecond
)

// TestWrongClocks has customers pay, and clerks give money back, at a server that
// is far from its database and its gateway, while a second one with a wrong clock
// works in the background. The silence of an attempt is 6.3 s here: whoever took
// that clock for the database's would ask about payments on their way to the
// gateway, be told that they never arrived, and have them paid again.
func TestWrongClocks(t *testing.T) {
	t.Parallel()

	t.Run("the other server is ahead by 40 seconds, then by two minutes, and then behind", func(t *testing.T) {
		t.Parallel()
		w := newWrongClocks(t)
		for _, ahead := range []time.Duration{40 * time.Second, 2 * time.Minute, -2 * time.Minute} {
			w.step(ahead)
			w.pass(underLoad)
			w.expectTold(ahead)
		}
		w.expectNothingWrong()
		if firstMatch(w.other.log.String(), `this machine's clock is (39|40).* ahead of the database's`) == "" {
			t.Errorf("the log does not tell the skew:\n%s", w.other.log)
		}
	})

	t.Run("the other server steps an hour ahead and back while nobody receives events", func(t *testing.T) {
		t.Parallel()
		w := newWrongClocks(t)
		w.isDown.Store(true)
		w.step(time.Hour)
		w.pass(underLoad)
		w.expectTold(time.Hour)
		w.step(0)
		w.isDown.Store(false)
		w.awaitPayments(crashWorkers)
		w.expectNothingWrong()
	})

	t.Run("a server that takes its own clock for the database's is found out", func(t *testing.T) {
		t.Parallel()
		w := newWrongClocks(t, ownVariable+"=yes") // ahead from its start: a step would be seen for what it is
		w.await("a payment is debited that we call declined", func() bool {
			return len(debitedThoughDeclined(storetest.ReadBooks(t, w.url))) > 0
		})
	})

	t.Run("a server whose clock is a year ahead does not start", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		far := command(t, folder, []string{"SEPAD_DATABASE_URL=" + testenv.PostgresURL(t), aheadVariable + "=8760h"},
			"dev", "--listen", "127.0.0.1:0", "--data", folder)
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		far.Path = self
		defer time.AfterFunc(recoveryPatience, func() { _ = far.Process.Kill() }).Stop()
		if r := execute(t, far); r.code != 1 || !strings.Contains(r.stderr, "this machine's clock says ") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
}

// debitedThoughDeclined gives the payments at the gateway that took money and that
// are declined in our records, which is how customers come to pay twice.
func debitedThoughDeclined(books *storetest.Books) (references []string) {
	debited := map[string]bool{}
	for _, line := range books.Ledger {
		debited[line.MerchantTransactionID] = line.State == sandbox.StateApproved
	}
	for _, x := range books.Transactions {
		if x.Status == payment.TransactionDeclined && debited[x.MerchantTransactionID] {
			references = append(references, x.MerchantTransactionID)
		}
	}
	return references
}

// wrongClocks is a service of two servers, of which customers call the first.
type wrongClocks struct {
	*crash
	other *running
	steps io.Writer
	// refunds are given at the first server, too.
	refunds *refundCounter
	// isDown is the state of who receives events.
	isDown atomic.Bool
}

func newWrongClocks(t *testing.T, more ...string) *wrongClocks {
	t.Helper()
	w := &wrongClocks{crash: prepareCrash(t, t.TempDir(), testenv.PostgresURL(t), 1)}
	receiver := httptest.NewServer(http.HandlerFunc(func(r http.ResponseWriter, _ *http.Request) {
		if w.isDown.Load() {
			r.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(receiver.Close)
	file := writeFile(t, w.folder, "hooks.yaml", fmt.Sprintf(hookProfile, receiver.URL, hookSecret))
	w.settings = append(w.settings, "SEPAD_WEBHOOK_SCHEDULE="+strings.Repeat("1s,", 30)+"1s", refundAdmin+"="+refundToken)
	args := []string{"dev", "--listen", "127.0.0.1:0", "--data", w.folder, "--apply", file}
	near := command(t, w.folder, slices.Concat(w.settings, []string{aheadVariable + "=40s"}, more), args...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	near.Path = self
	if w.steps, err = near.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	w.other = welcomed(t, near)
	far := append([]string{"SEPAD_DATABASE_URL=" + distant(t, w.url)}, w.settings[1:]...)
	w.servers[0] = welcomed(t, command(t, w.folder, far, args...))
	w.key = w.servers[0].key
	w.addresses[0].Store(&w.servers[0].url)
	w.refunds = &refundCounter{t: t, url: w.url, closing: make(chan struct{}), sales: []string{
		w.servers[0].sell("refunded", sandbox.Approved), w.servers[0].sell("refunded-later", sandbox.Approved),
	}}
	w.refunds.address.Store(&w.servers[0].url)
	w.open()
	w.refunds.open()
	w.customers.Go(w.askOften)
	return w
}

// askOften has the servers look for payments to ask about, as long as customers
// are there.
func (w *wrongClocks) askOften() {
	db := (&storetest.Env{URL: w.url}).DB(w.t)
	defer db.Close()
	for tick := time.NewTicker(asksEvery); ; {
		select {
		case <-tick.C:
			if _, err := db.ExecContext(w.t.Context(), `INSERT INTO river_job (kind, args, max_attempts) VALUES ($1, '{}', 1)`, checkout.LookupJob{}.Kind()); err != nil {
				if w.t.Context().Err() == nil { // else the test is over
					w.t.Error(err)
				}
				return
			}
		case <-w.closing:
			return
		}
	}
}

// step sets the other server's clock.
func (w *wrongClocks) step(ahead time.Duration) {
	w.t.Helper()
	if _, err := fmt.Fprintln(w.steps, ahead); err != nil {
		w.t.Fatal(err)
	}
}

// expectTold expects that the other server says how wrong its clock is, in all
// places where an operator looks, and serves on.
func (w *wrongClocks) expectTold(ahead time.Duration) {
	w.t.Helper()
	direction := "ahead of"
	if ahead < 0 {
		direction = "behind"
	}
	w.await("/readyz says so", func() bool { // a database that is slow for a moment is another matter
		status, body := w.other.call(http.MethodGet, "/readyz", "", "")
		return status == http.StatusOK && strings.Contains(body, direction+" the database's")
	})
	_, body := w.other.call(http.MethodGet, "/metrics", "", "")
	var shown float64
	if _, err := fmt.Sscan(firstMatch(body, `(?m)^sepad_clock_skew_seconds (\S+)`), &shown); err != nil || shown-ahead.Seconds() > 1 || ahead.Seconds()-shown > 1 {
		w.t.Errorf("sepad_clock_skew_seconds is %g, want %g", shown, ahead.Seconds())
	}
}

// expectNothingWrong sends the customers home and expects that every outcome is
// known soon, that what customers heard, our records and the gateway's agree, and
// that every event is delivered.
func (w *wrongClocks) expectNothingWrong() {
	w.t.Helper()
	w.close()
	w.refunds.close()
	w.awaitOutcomes()
	w.await("every refund's outcome is known", func() bool { return len(storetest.ReadBooks(w.t, w.url).OpenRebills()) == 0 })
	books := w.audit()
	w.refunds.check(books)
	if len(books.Ledger) < 2*crashWorkers {
		w.t.Errorf("only %d payments reached the gateway: nothing was proven", len(books.Ledger))
	}
	w.await("every event is delivered", func() bool { return w.undelivered() == 0 })
	w.t.Logf("%d sessions, %d attempts, %d payments at the gateway, answers %v",
		len(books.Sessions), len(books.Transactions), len(books.Ledger), w.promises.Results())
}

func (w *wrongClocks) undelivered() (n int) {
	w.t.Helper()
	db := (&storetest.Env{URL: w.url}).DB(w.t)
	defer db.Close()
	if err := db.QueryRowContext(w.t.Context(), `SELECT (SELECT COUNT(*) FROM events_in_line) + (SELECT COUNT(*) FROM events WHERE delivery_status <> 'delivered')`).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *wrongClocks) await(what string, so func() bool) {
	w.t.Helper()
	deadline := time.After(recoveryPatience)
	for !so() {
		select {
		case <-deadline:
			w.t.Fatalf("waited in vain until %s", what)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// distant gives another address of a database, from which answers take long.
func distant(t *testing.T, databaseURL string) string {
	t.Helper()
	there, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	address := there.Host
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
			if err != nil {
				near.Close()
				continue
			}
			go carry(far, near)
			go carry(near, far)
		}
	}()
	there.Host = listener.Addr().String()
	return there.String()
}

// carry takes bytes from one side to the other, each for half of the way and back.
func carry(to, from net.Conn) {
	type parcel struct {
		bytes []byte
		at    time.Time
	}
	road := make(chan parcel, 1024)
	go func() {
		defer close(road)
		for {
			bytes := make([]byte, 32<<10)
			n, err := from.Read(bytes)
			if n > 0 {
				road <- parcel{bytes[:n], time.Now().Add(farAway / 2)}
			}
			if err != nil {
				return
			}
		}
	}()
	defer to.Close()
	for p := range road {
		<-time.After(time.Until(p.at))
		if _, err := to.Write(p.bytes); err != nil {
			from.Close()
			for range road { //nolint:revive // what is still on its way is lost
			}
			return
		}
	}
}
