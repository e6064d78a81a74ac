package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"sepad/internal/app"
	"sepad/internal/checkout"
	"sepad/internal/config"
	"sepad/internal/gateway"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// What a run can be told: one seed to see a failure again, or how long to go on
// with new ones.
const (
	simulationSeedVariable = "SEPAD_SIM_SEED"
	simulationTimeVariable = "SEPAD_SIM_FOR"
	defaultSimulationTime  = 3 * time.Second
)

// TestSimulation plays random days of merchants, payers, a gateway that fails in
// every way and servers that die, and checks after each stretch that no record
// contradicts another. Everything follows from the seed, but for the order of what
// is due at the same instant on PostgreSQL.
func TestSimulation(t *testing.T) {
	t.Parallel()
	playSeeds(t, simulate)
}

// playSeeds plays a story on both engines: with the seed that is asked for, or
// with one new seed after another for as long as there is time.
func playSeeds(t *testing.T, play func(t *testing.T, env *storetest.Env, seed uint64)) {
	t.Helper()
	for engine, fresh := range map[string]func(testing.TB) *storetest.Env{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			if text := os.Getenv(simulationSeedVariable); text != "" {
				seed, err := strconv.ParseUint(text, 10, 64)
				if err != nil {
					t.Fatalf("%s: %v", simulationSeedVariable, err)
				}
				play(t, fresh(t), seed)
				return
			}
			for seed, end := rand.Uint64()>>1, time.Now().Add(simulationTime(t)); time.Now().Before(end) && !t.Failed(); seed++ {
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { play(t, fresh(t), seed) })
			}
		})
	}
}

func simulationTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv(simulationTimeVariable)
	if text == "" {
		return defaultSimulationTime
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", simulationTimeVariable, err)
	}
	return length
}

// simulation is one seed's story.
type simulation struct {
	t   *testing.T
	env *storetest.Env
	w   *world

	gateway    *simulatedGateway
	processes  []*process
	merchants  []*shopper
	promises   storetest.Promises
	rules      storetest.BillingRules
	earlier    *storetest.Books
	references int
	crashes    int
	statuses   map[int]int
	again      string // the command that plays the same story
}

const (
	stretches       = 6
	stepsOfAStretch = 500
	maxActors       = 12
)

func simulate(t *testing.T, env *storetest.Env, seed uint64) {
	t.Helper()
	s := newSimulation(t, env, seed)
	for range stretches {
		for range stepsOfAStretch {
			s.step()
		}
		s.w.settle()
		s.audit()
	}
	s.learnAllOutcomes()
	s.letEverythingEnd()
	t.Logf("seed %d: %d crashes, %d sessions, %d attempts, answers %v", seed, s.crashes, len(s.earlier.Sessions),
		len(s.earlier.Transactions), s.statuses)
}

func newSimulation(t *testing.T, env *storetest.Env, seed uint64) *simulation {
	t.Helper()
	w := newWorld(t, seed)
	s := &simulation{
		t: t, env: env, w: w, earlier: &storetest.Books{}, statuses: map[int]int{}, again: fmt.Sprintf("make sim SEED=%d", seed),
	}
	s.rules = storetest.BillingRules{Dunning: payment.DefaultDunning(), CancelledByHand: map[string]bool{}}
	remote := w.chance(50)
	s.gateway = &simulatedGateway{
		w: w, ledger: ledgerdb.New(env.Store.DB, env.Vault), remote: remote, faulty: 25,
		// With SQLite the sandbox's memory dies with its only writer.
		outlives: remote || env.Engine == "postgres",
	}
	for range 2 {
		shop := env.Shop(t)
		_, key := env.APIKey(t, shop.ID)
		s.merchants = append(s.merchants, &shopper{shop: shop, key: key})
	}
	servers := 1
	if env.Engine == "postgres" {
		servers = 2
	}
	for range servers {
		s.processes = append(s.processes, s.start())
	}
	t.Cleanup(func() {
		for _, p := range s.processes {
			if err := p.app.Close(); err != nil {
				t.Errorf("close the app: %v", err)
			}
		}
	})
	return s
}

// start is a process that lives in the world's time.
func (s *simulation) start() *process {
	s.t.Helper()
	rates := limit.Rates{}
	for _, scope := range limit.Scopes() {
		rates[scope] = 0
	}
	logger := slog.New(slog.NewTextHandler(s.w, &slog.HandlerOptions{Level: slog.LevelError}))
	a, err := app.New(s.t.Context(), config.Config{
		Environment: merchant.Sandbox, PublicURL: "http://sepad.test", DatabaseURL: s.env.URL, Vault: s.env.Vault,
		SessionTTL: time.Hour, GatewayTimeout: simulatedTimeout, LookupSchedule: checkout.DefaultLookupSchedule(), Rates: rates,
	}, app.Options{Version: "simulated", Logger: logger, DatabaseClock: func() time.Time { return s.w.now }})
	if err != nil {
		s.t.Fatalf("seed %d: a start failed: %v\n%s", s.w.seed, err, s.w.story())
	}
	a.Checkout.Clock, a.Checkout.Real, a.Checkout.Own = serviceClock{s.w}, jumpingClock{s.w}, worldClock{s.w}
	a.Checkout.Gateways = gateway.NewPool(map[string]gateway.Kind{"sandbox": s.gateway.kind()}, gateway.Options{
		Logger: logger, Now: worldClock{s.w}.Now,
	})
	s.rule(a)
	p := &process{app: a}
	startedAt := s.w.now
	s.work(p, "take over", func(ctx context.Context) error { return a.Checkout.TakeOver(ctx, startedAt) })
	return p
}

// rule sets how a process bills. An actor does one thing at a time, so that there
// is one lane.
func (s *simulation) rule(a *app.App) {
	a.Checkout.KeepSubscriptions, a.Checkout.Dunning = s.rules.KeepSubscriptions, s.rules.Dunning
	a.Billing.Lanes, a.Billing.PerLane = 1, 1
}

// step is the smallest thing that happens.
func (s *simulation) step() {
	s.t.Helper()
	w := s.w
	if len(w.actors) > 0 && (len(w.actors) >= maxActors || w.chance(75)) {
		w.move()
		return
	}
	switch n := w.random.IntN(100); {
	case n < 88:
		s.act()
	case n < 94:
		w.now = w.now.Add(pick(w, []time.Duration{10 * time.Millisecond, time.Second, 6 * time.Second, 36 * time.Second}))
		lookups := s.lookUp(pick(w, s.processes))
		if w.chance(60) {
			w.finish(lookups)
		}
	case n < 95:
		w.ahead += pick(w, []time.Duration{10 * time.Minute, 2 * time.Hour, 25 * time.Hour})
	case n < 97 && len(w.actors) > 0:
		a := pick(w, w.actors)
		w.note("the caller of %s goes away", a.name)
		a.cancel()
	default:
		s.crash(w.random.IntN(len(s.processes)))
	}
}

// crash takes a process its database in the middle of whatever it is doing, and
// starts another in its place.
func (s *simulation) crash(i int) {
	s.t.Helper()
	s.w.note("server %d dies", i)
	s.crashes++
	s.stop(i)
	s.processes[i] = s.start()
}

func (s *simulation) stop(i int) {
	s.t.Helper()
	s.processes[i].dead = true
	if err := s.processes[i].app.Close(); err != nil {
		s.fail("closing: %v", err)
	}
}

// fail tells what went wrong, and how to see it again.
func (s *simulation) fail(format string, args ...any) {
	s.t.Helper()
	again := s.again
	if s.env.Engine == "postgres" {
		again += " (more than once, perhaps)"
	}
	s.t.Errorf("%s\nto see it again: %s\nwhat happened last:\n%s", fmt.Sprintf(format, args...), again, s.w.story())
}

// audit reads the books while every actor rests.
func (s *simulation) audit() {
	s.t.Helper()
	books := storetest.ReadBooks(s.t, s.env.URL)
	books.Rules = s.rules
	findings := append(books.Audit(s.w.serviceNow()), books.Later(s.earlier)...)
	findings = append(findings, s.promises.Check(books)...)
	for _, finding := range findings {
		s.fail("%s", finding)
	}
	if s.t.Failed() {
		s.t.FailNow()
	}
	s.earlier = books
}

// learnAllOutcomes lets the network recover and time pass: then no outcome stays
// unknown.
func (s *simulation) learnAllOutcomes() {
	s.t.Helper()
	s.gateway.faulty = 0
	for i := range s.processes {
		s.crash(i) // which also forgets gateways that did not answer
	}
	for range len(checkout.DefaultLookupSchedule()) {
		s.w.settle()
		s.w.now = s.w.now.Add(2 * time.Hour)
		s.lookUp(pick(s.w, s.processes))
	}
	s.w.settle()
	s.audit()
	if open := s.earlier.OpenAttempts(); len(open) > 0 {
		s.fail("%d attempts stay open: %v", len(open), open)
	}
}

// letEverythingEnd lets days pass, after which no session is under way.
func (s *simulation) letEverythingEnd() {
	s.t.Helper()
	for range 3 {
		s.w.ahead += 48 * time.Hour
		s.runDue(pick(s.w, s.processes))
		s.w.settle()
	}
	s.audit()
	for _, session := range s.earlier.Sessions {
		if !ended(session.Status) {
			s.fail("session %s is %s after its time", session.ID, session.Status)
		}
	}
	for _, x := range s.earlier.Transactions {
		if x.Status == payment.TransactionPending {
			s.fail("transaction %s is pending after its time", x.ID)
		}
	}
}
