package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

// What a run can be told: a seed to see a failure again, and how many times a
// process is killed, for runs that are not in a hurry.
const (
	crashSeedVariable   = "SEPAD_CRASH_SEED"
	crashRoundsVariable = "SEPAD_CRASH_ROUNDS"
	defaultCrashRounds  = 5
)

// crashSettings make recovery quick: a sender has 3 s to send and the gateway
// 3 s to answer, which is more than the sandbox's slow and silent accounts take.
var crashSettings = []string{
	"SEPAD_GATEWAY_TIMEOUT=3s", "SEPAD_LOOKUP_SCHEDULE=200ms,500ms", "SEPAD_LOG_FORMAT=json",
	"SEPAD_RATE_API_KEY_CREATE=0", "SEPAD_RATE_API_KEY_PAY=0", "SEPAD_RATE_API_KEY_VERIFY=0", "SEPAD_RATE_API_KEY_CANCEL=0",
}

const (
	// heldUpFor is longer than others wait before they ask about a payment
	// whose sender is silent.
	heldUpFor = 7 * time.Second
	// recoveryPatience is how long outcomes may stay unknown after the last
	// crash: the silence of 6 s, and what a machine takes that has other things
	// to do.
	recoveryPatience = time.Minute
	crashWorkers     = 8
)

// TestCrash kills servers at random moments while customers pay, and shows that
// nothing is lost and nothing is debited twice.
func TestCrash(t *testing.T) {
	t.Parallel()

	t.Run("one server on SQLite is killed and comes back", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		c := newCrash(t, folder, "sqlite:"+folder+"/sepad.db", 1)
		for range c.rounds {
			c.kill(0)
			c.start(0)
		}
		c.expectNothingLostOrDoubled()
	})

	t.Run("one server on PostgreSQL is killed and comes back", func(t *testing.T) {
		t.Parallel()
		c := newCrash(t, t.TempDir(), testenv.PostgresURL(t), 1)
		for range c.rounds {
			c.kill(0)
			c.start(0)
		}
		c.expectNothingLostOrDoubled()
	})

	t.Run("of two servers on PostgreSQL one is killed or held up while the other goes on", func(t *testing.T) {
		t.Parallel()
		c := newCrash(t, t.TempDir(), testenv.PostgresURL(t), 2)
		for range c.rounds {
			victim := c.random.IntN(2)
			c.kill(victim)
			c.start(victim)
		}
		c.holdUp(c.random.IntN(2))
		c.expectNothingLostOrDoubled()
	})
}

// crash is a service under load whose servers are killed.
type crash struct {
	t        *testing.T
	folder   string
	settings []string
	apply    string // a resource file that servers apply at their start, "" for none
	url      string
	key      string
	seed     uint64
	rounds   int
	random   *rand.Rand

	servers []*running
	// addresses are what customers call; the address of a killed server stays
	// until it is back, as behind a load balancer that has not noticed yet.
	addresses []atomic.Pointer[string]
	customers sync.WaitGroup
	closing   chan struct{}
	// submitted counts the payments that customers have sent.
	submitted atomic.Int64
	promises  storetest.Promises
	kills     int
	// abandoned are the attempts that were open when a server died.
	abandoned map[string]bool
}

func newCrash(t *testing.T, folder, databaseURL string, servers int) *crash {
	t.Helper()
	c := prepareCrash(t, folder, databaseURL, servers)
	for i := range servers {
		c.start(i)
	}
	c.open()
	return c
}

// prepareCrash is a service that is not running yet.
func prepareCrash(t *testing.T, folder, databaseURL string, servers int) *crash {
	t.Helper()
	seed := uint64(numberFrom(t, crashSeedVariable, int(rand.Uint64()>>1)))
	t.Logf("to try the same again: %s=%d", crashSeedVariable, seed)
	return &crash{
		t: t, folder: folder, url: databaseURL, seed: seed, rounds: numberFrom(t, crashRoundsVariable, defaultCrashRounds),
		settings: append([]string{"SEPAD_DATABASE_URL=" + databaseURL}, crashSettings...),
		random:   rand.New(rand.NewPCG(seed, 0)),
		servers:  make([]*running, servers), addresses: make([]atomic.Pointer[string], servers),
		closing: make(chan struct{}), abandoned: map[string]bool{},
	}
}

// open lets the customers in.
func (c *crash) open() {
	for i := range crashWorkers {
		customer := newCustomer(c, i)
		c.customers.Go(customer.shop)
	}
	// A test that fails half-way must not leave customers calling nobody.
	c.t.Cleanup(c.close)
}

func numberFrom(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return number
}

func (c *crash) start(i int) {
	c.t.Helper()
	args := []string{"--data", c.folder}
	if c.apply != "" {
		args = append(args, "--apply", c.apply)
	}
	c.servers[i] = startDev(c.t, c.folder, c.settings, args...)
	if c.key == "" { // the first; it stays the same, and customers are reading it
		c.key = c.servers[i].key
	}
	c.addresses[i].Store(&c.servers[i].url)
}

// kill ends a server without a word, a random while after customers have begun
// to pay: a slow machine must not be done with the kills before that.
func (c *crash) kill(i int) {
	c.t.Helper()
	c.awaitPayments(crashWorkers)
	c.pass(time.Duration(200+c.random.IntN(1300)) * time.Millisecond)
	s := c.servers[i]
	if err := s.cmd.Process.Kill(); err != nil {
		c.t.Fatalf("the server had ended by itself: %v\n%s", err, s.log)
	}
	_ = s.cmd.Wait() // it was killed
	c.kills++
	for _, id := range storetest.ReadBooks(c.t, c.url).OpenAttempts() {
		c.abandoned[id] = true
	}
}

// holdUp stops a server for so long that the other one asks about its payments,
// and then lets it go on.
func (c *crash) holdUp(i int) {
	c.t.Helper()
	c.pass(500 * time.Millisecond)
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := c.servers[i].cmd.Process.Signal(signal); err != nil {
			c.t.Fatal(err)
		}
		c.pass(heldUpFor)
	}
}

// awaitPayments lets the customers go on until they have sent so many more.
func (c *crash) awaitPayments(more int64) {
	c.t.Helper()
	deadline := time.After(recoveryPatience)
	for wanted := c.submitted.Load() + more; c.submitted.Load() < wanted; {
		select {
		case <-deadline:
			c.t.Fatalf("seed %d: nobody pays", c.seed)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// pass lets the customers go on for a while.
func (c *crash) pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.t.Context().Done():
	}
}

// close sends the customers home.
func (c *crash) close() {
	select {
	case <-c.closing:
	default:
		close(c.closing)
	}
	c.customers.Wait()
}

// expectNothingLostOrDoubled waits until every outcome is known, and holds what
// the customers heard, our records and the gateway's against each other. Then it
// lets two days pass and does so again: everything has come to its end by then.
func (c *crash) expectNothingLostOrDoubled() {
	c.t.Helper()
	books, recovered := c.expectSoundEnd()
	if len(c.abandoned) == 0 {
		c.t.Error("no attempt was open at any kill: nothing was proven")
	}
	c.t.Logf("%d kills left %d attempts open; %d sessions, %d attempts, %d payments at the gateway, answers %v; all outcomes known after %s",
		c.kills, len(c.abandoned), len(books.Sessions), len(books.Transactions), len(books.Ledger), c.promises.Results(), recovered)
}

// expectSoundEnd gives the books as they are in the end, and how long it took until every
// outcome was known.
func (c *crash) expectSoundEnd() (books *storetest.Books, recovered time.Duration) {
	c.t.Helper()
	c.close()
	began := time.Now()
	c.awaitOutcomes()
	recovered = time.Since(began).Round(100 * time.Millisecond)
	c.audit()
	mustSucceed(c.t, execute(c.t, command(c.t, c.folder, c.settings, "clock", "--data", c.folder, "--advance", "48h")))
	for _, s := range c.servers {
		s.stop(syscall.SIGTERM)
	}
	books = c.audit()
	c.expectEverythingEnded(books)
	return books, recovered
}

func mustSucceed(t *testing.T, r result) {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
}

func (c *crash) awaitOutcomes() {
	c.t.Helper()
	deadline := time.After(recoveryPatience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for open := c.openAttempts(); open > 0; open = c.openAttempts() {
		select {
		case <-tick.C:
		case <-deadline:
			c.t.Fatalf("seed %d: %d attempts are still open", c.seed, open)
		}
	}
}

func (c *crash) openAttempts() int {
	c.t.Helper()
	return len(storetest.ReadBooks(c.t, c.url).OpenAttempts())
}

func (c *crash) audit() *storetest.Books {
	c.t.Helper()
	books := storetest.ReadBooks(c.t, c.url)
	for _, finding := range append(books.Audit(time.Now()), c.promises.Check(books)...) {
		c.t.Errorf("seed %d: %s", c.seed, finding)
	}
	return books
}

func (c *crash) expectEverythingEnded(books *storetest.Books) {
	c.t.Helper()
	for _, s := range books.Sessions {
		if s.Status == "PENDING" || s.Status == "AWAITING_VERIFICATION" {
			c.t.Errorf("seed %d: session %s is %s after its time", c.seed, s.ID, s.Status)
		}
	}
	for _, x := range books.Transactions {
		if x.Status == "pending" {
			c.t.Errorf("seed %d: transaction %s is pending after two days", c.seed, x.ID)
		}
	}
}
