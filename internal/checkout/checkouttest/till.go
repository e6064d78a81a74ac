// Package checkouttest gives the tests of checkout and billing a shop on a real
// store with a gateway that the test plays.
//
//	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
//		till.Gateway.Answer(payment.Outcome{Verdict: payment.VerdictApproved})
//		result, err := till.Pay(t.Context(), till.Payment(till.Session(t)))
//	})
//
// Both clocks stand until the test moves them. The played gateway is one across a
// network, about which nothing may be taken for granted; WithSandboxRules makes it
// one inside this process.
package checkouttest

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// Times by which a till waits.
const (
	GatewayTimeout = 20 * time.Second
	FirstLookup    = 5 * time.Second
	SecondLookup   = 15 * time.Second
)

// Till is where payments are made.
type Till struct {
	*checkout.Checkout
	Env     *storetest.Env
	Shop    storetest.Shop
	Gateway *Gateway
	// Time is the service's clock, World the real one.
	Time, World *Clock
	log         *log
}

// Each runs a test on both engines, side by side.
func Each(t *testing.T, test func(t *testing.T, till *Till), change ...func(*Gateway)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		t.Helper()
		test(t, Open(t, env, change...))
	})
}

// WithSandboxRules makes the gateway one that is inside this process.
func WithSandboxRules(g *Gateway) { g.isLocal = true }

// WithoutAbilities makes the gateway one that can be paid through and no more.
func WithoutAbilities(g *Gateway) { g.isPlain = true }

// WithNotice makes the gateway one that collects by files, and tells payers so many days before.
func WithNotice(days int) func(*Gateway) { return func(g *Gateway) { g.noticeDays = days } }

// Open makes a till on a database.
func Open(t testing.TB, env *storetest.Env, change ...func(*Gateway)) *Till {
	t.Helper()
	till := &Till{
		Env: env, Gateway: &Gateway{}, Time: &Clock{now: env.Now}, World: &Clock{now: env.Now.Add(time.Hour)}, log: &log{},
	}
	for _, c := range change {
		c(till.Gateway)
	}
	logger := slog.New(slog.NewTextHandler(till.log, nil))
	env.DatabaseClock = till.World.Now
	till.Checkout = &checkout.Checkout{
		Store: env.Store, Vault: env.Vault, Banks: sepa.EmbeddedBanks, Clock: till.Time, Real: till.World, Own: till.World, Logger: logger,
		Gateways: gateway.NewPool(map[string]gateway.Kind{adapterName: till.Gateway.kind()}, gateway.Options{
			Timeout: GatewayTimeout, Logger: slog.New(slog.DiscardHandler), Now: till.World.Now,
		}),
		Announcements: till.Gateway.announcements, NextAnnouncement: till.Gateway.nextAnnouncement,
		Environment: merchant.Production, PublicURL: "https://pay.example", SessionTTL: checkout.DefaultSessionTTL,
		GatewayTimeout: GatewayTimeout, LookupSchedule: []time.Duration{FirstLookup, SecondLookup},
	}
	till.Shop = till.NewShop(t)
	return till
}

// NewShop makes another tenant whose payments go through the played gateway.
func (c *Till) NewShop(t testing.TB) storetest.Shop {
	t.Helper()
	shop := c.Env.Shop(t)
	shop.Gateway = c.SetGateway(t, shop, func(*merchant.GatewayAccount) {})
	return shop
}

// SetGateway changes the account of a shop.
func (c *Till) SetGateway(t testing.TB, shop storetest.Shop, change func(*merchant.GatewayAccount)) merchant.GatewayAccount {
	t.Helper()
	account := shop.Gateway
	account.Adapter, account.TestMode, account.Settings = adapterName, false, nil
	change(&account)
	c.Env.Write(t, func(tx *store.Tx) error { return c.Store.PutGateway(tx, shop.ID, account) })
	return account
}

// Setup is the present set-up of a shop.
func (c *Till) Setup(t testing.TB, shop storetest.Shop) *merchant.Setup {
	t.Helper()
	setup, err := c.SetupOf(t.Context(), shop.ID)
	if err != nil {
		t.Fatal(err)
	}
	return setup
}

// Session creates a session of the till's shop at the present time.
func (c *Till) Session(t testing.TB, change ...func(*storetest.Draft)) store.Found {
	t.Helper()
	c.Env.Now = c.Time.Now()
	return c.Env.Session(t, c.Shop, change...)
}

// Payment is what a payer of a session hands in.
func (c *Till) Payment(found store.Found) checkout.Payment {
	bad := payment.Fields{}
	instrument := c.Instrument(storetest.IBAN, "Anna Müller", bad)
	return checkout.Payment{Token: found.Session.Token, Source: payment.SourceAPI, Instrument: instrument}
}

// Paid pays a new session with the outcome that the gateway gives.
func (c *Till) Paid(t testing.TB, outcome payment.Outcome, change ...func(*storetest.Draft)) checkout.Result {
	t.Helper()
	found := c.Session(t, change...)
	c.Gateway.Answer(outcome)
	result, err := c.Pay(t.Context(), c.Payment(found))
	if err != nil {
		t.Fatalf("pay: %v", err)
	}
	return result
}

// Unknown leaves a payment of a new session open, of which nobody knows the outcome.
func (c *Till) Unknown(t testing.TB, change ...func(*storetest.Draft)) payment.Debit {
	t.Helper()
	found := c.Session(t, change...)
	c.Gateway.Silence()
	_, err := c.Pay(t.Context(), c.Payment(found))
	if payment.KindOf(err) != payment.OutcomeUnknown {
		t.Fatalf("a payment without an answer gives %v", err)
	}
	session := c.Env.Find(t, found.Session.Token).Session
	return c.Debit(t, *session.OpenTransactionID)
}

// Debit reads a transaction of the till's shop with all that hangs on it.
func (c *Till) Debit(t testing.TB, id uuid.UUID) payment.Debit {
	t.Helper()
	return c.Env.Debit(t, payment.Transaction{TenantID: c.Shop.ID, ID: id})
}

// Subscribed is a subscription whose first payment was collected.
func (c *Till) Subscribed(t testing.TB, change ...func(*storetest.Draft)) payment.Subscription {
	t.Helper()
	change = append([]func(*storetest.Draft){storetest.WithTerms(storetest.Monthly)}, change...)
	return *c.Paid(t, payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "GW-" + uuid.NewString()}, change...).Subscription
}

// Subscription reads a subscription of the till's shop.
func (c *Till) Subscription(t testing.TB, id uuid.UUID) payment.Subscription {
	t.Helper()
	found, err := c.Store.Tenant(c.Shop.ID).Subscription(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Events counts the events of each kind that were recorded so far.
func (c *Till) Events(t testing.TB) map[payment.EventKind]int {
	t.Helper()
	counts := map[payment.EventKind]int{}
	for _, kind := range payment.EventKinds {
		counts[kind] = storetest.Scalar[int](t, c.Env, `SELECT COUNT(*) FROM events WHERE kind = $1`, string(kind))
	}
	return counts
}

// Log is what was logged.
func (c *Till) Log() string { return c.log.String() }

// Clock stands until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now is the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass moves the clock.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Set moves the clock to an instant.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
