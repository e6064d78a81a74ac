// Package app puts sepad together: New makes everything from a Config, Serve
// answers requests and runs background work until it is told to stop, and then
// lets payments under way finish. The program and the black-box tests both
// start here.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	"sepad/internal/admin"
	"sepad/internal/api"
	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/db"
	"sepad/internal/door"
	"sepad/internal/gateway"
	"sepad/internal/gateway/adapters"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/jobs"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/metrics"
	"sepad/internal/notice"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/privacy"
	"sepad/internal/sepa"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/trace"
	"sepad/internal/web"
	"sepad/internal/webhook"
)

// Options are what does not come from settings.
type Options struct {
	Version string
	Logger  *slog.Logger
	// Migrate brings the database to this version first.
	Migrate bool
	// Adapters are further gateways by name, for tests.
	Adapters map[string]gateway.Kind
	// SandboxWait is how long the sandbox's slow and silent outcomes take, for
	// tests; 0 is what developers are told.
	SandboxWait time.Duration
	// World is what this machine's clock shows, for tests of clocks that are wrong;
	// nil is the machine's own.
	World clock.Clock
	// DatabaseClock stands for the database's, for simulations; nil is its own.
	DatabaseClock func() time.Time
}

// App is a process of sepad.
type App struct {
	Store    *store.Store
	Checkout *checkout.Checkout
	Billing  *billing.Billing
	Banking  *banking.Banking
	Mails    *notice.Outbox
	Privacy  *privacy.Privacy
	People   *people.People
	// Movable is the sandbox's clock, nil in production.
	Movable *clock.Movable
	// world is the world's time as this machine shows it, skew how far that is from
	// the database's.
	world clock.Clock
	skew  *skew
	// leaving tells who asks that this process is about to end.
	leaving   atomic.Bool
	readiness readiness

	config   config.Config
	version  string
	logger   *slog.Logger
	metrics  *metrics.Metrics
	tracing  *trace.Tracing
	kinds    map[string]gateway.Kind
	limiter  *limit.Limiter
	banks    sepa.Banks
	keyUses  *api.KeyUses
	webhooks *webhook.Deliverer
	runner   *jobs.Runner
	unlock   func()
	guard    web.TokenGuard
	handler  http.Handler
	// operatorHandler answers operators at an address of their own, nil for none.
	operatorHandler http.Handler
	// doorman turns callers away before they come to the handler.
	doorman door.Doorman
}

// New opens the database and makes every part. Whatever it has opened is closed
// again when it fails.
func New(ctx context.Context, cfg config.Config, opts Options) (_ *App, err error) {
	a := &App{
		config: cfg, version: opts.Version, logger: opts.Logger,
		keyUses: &api.KeyUses{}, unlock: func() {}, world: opts.World,
	}
	if a.world == nil {
		a.world = clock.Real{}
	}
	a.metrics = metrics.New(clock.Own{})
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if a.tracing, err = trace.Setup(ctx, cfg.OTLPEndpoint, opts.Version, opts.Logger); err != nil {
		return nil, err
	}
	if err = a.openStore(ctx, opts); err != nil {
		return nil, err
	}
	if unguarded := cfg.Unguarded(); cfg.Environment == merchant.Production && len(unguarded) > 0 {
		a.logger.WarnContext(ctx, "data goes over a network unencrypted, or to a server whose certificate is not checked", "settings", unguarded)
	}
	if a.banks, err = openBanks(cfg.BankDirectory); err != nil {
		return nil, err
	}
	if a.limiter, err = limit.New(ctx, a.limits(), a.world.Now()); err != nil {
		return nil, err
	}
	a.guard = web.TokenGuard{Guesses: a.limiter.Guesses(), Clock: clock.Own{}}
	a.Checkout = a.newCheckout(opts)
	a.Billing = &billing.Billing{Checkout: a.Checkout}
	a.Banking = &banking.Banking{Checkout: a.Checkout, Logger: a.logger}
	a.Privacy = &privacy.Privacy{
		Store: a.Store, Clock: a.clock(), Real: a.world, Logger: a.logger, Keep: privacy.Retention(a.config.Retain), Observe: a.metrics.CountForgotten,
	}
	a.People = a.newPeople()
	a.webhooks = a.newDeliverer()
	a.Mails = &notice.Outbox{Store: a.Store, Server: cfg.SMTP, Clock: a.world, Logger: a.logger}
	if a.runner, err = jobs.New(a.Billing, a.Banking, a.Privacy, a.webhooks, a.Mails, a.clock(), a.logger, a.metrics.CountFailedJob); err != nil {
		return nil, err
	}
	a.watch()
	a.handler, a.operatorHandler = a.newHandlers()
	return a, nil
}

// newPeople lets operators in, also those for whom a provider vouches.
func (a *App) newPeople() *people.People {
	p := &people.People{Store: a.Store, Clock: a.world, URL: a.config.OperatorURL, Environment: a.config.Environment}
	p.Passwords.Share(a.limiter, "password")
	p.Codes.Share(a.limiter, "code")
	if by := a.config.OIDC; by.Issuer != "" {
		p.Provider = &people.Provider{
			Issuer: by.Issuer, ClientID: by.ClientID, ClientSecret: merchant.Secret(by.ClientSecret), RoleClaim: by.RoleClaim, TenantsClaim: by.TenantsClaim,
			ACR: by.ACR, URL: a.config.OperatorURL, Clock: a.world,
		}
	}
	return p
}

// openStore opens the database and refuses one that this version cannot use.
func (a *App) openStore(ctx context.Context, options Options) (err error) {
	opts := store.Options{Vault: a.config.Vault, Options: db.Options{
		Logger: a.logger, ReplicaURL: a.config.DatabaseReplicaURL, Clock: options.DatabaseClock,
	}}
	if a.config.OTLPEndpoint != "" {
		opts.Tracer = a.tracing.Provider()
	}
	if a.Store, err = store.Open(ctx, a.config.DatabaseURL, opts); err != nil {
		return err
	}
	if a.unlock, err = a.Store.LockForServing(); err != nil {
		a.unlock = func() {}
		return err
	}
	if err = a.Store.CheckFile(ctx); err != nil {
		return err
	}
	if err = a.Store.CheckEnvironment(ctx, a.config.Environment); err != nil {
		return err
	}
	if options.Migrate {
		if err = a.Store.Migrate(ctx); err != nil {
			return fmt.Errorf("the database could not be prepared: %w", err)
		}
	}
	if err = a.Store.Ready(ctx); err != nil {
		return err
	}
	if err = a.Store.CheckClock(ctx, a.world.Now()); err != nil {
		return err
	}
	if err = a.Store.Adopt(ctx, a.config.Environment, a.world.Now()); err != nil {
		return err
	}
	if err = a.Store.CheckReplica(ctx, a.config.Environment); err != nil {
		return err
	}
	a.Store.LeaveOnceMarked()
	a.skew = &skew{store: a.Store, world: a.world, logger: a.logger}
	if a.config.Environment == merchant.Sandbox {
		a.Movable = clock.NewMovable(a.world, a.Store.ClockOffset)
	}
	return nil
}

// openBanks takes the operator's directory in place of the one built in.
func openBanks(path string) (sepa.Banks, error) {
	if path == "" {
		return sepa.EmbeddedBanks, nil
	}
	directory, err := sepa.OpenDirectory(path)
	if err != nil {
		return nil, err
	}
	return directory.Lookup, nil
}

// clock is the service's time: the world's, unless the sandbox has moved it.
func (a *App) clock() clock.Clock {
	if a.Movable == nil {
		return a.world
	}
	return a.Movable
}

func (a *App) limits() limit.Settings {
	return limit.Settings{
		Rates: a.config.Rates, Logger: a.logger, RedisURL: a.config.RedisURL,
		OnRefusal: func(s limit.Scope) { a.metrics.CountLimitRefusal(string(s)) }, OnOutage: a.metrics.CountRedisOutage,
	}
}

func (a *App) newCheckout(opts Options) *checkout.Checkout {
	a.kinds = adapters.All(ledgerdb.New(a.Store.DB, a.config.Vault), sandbox.Options{
		PublicURL: a.config.PublicURL, SlowFor: opts.SandboxWait, GiveUpAfter: opts.SandboxWait,
	})
	maps.Copy(a.kinds, opts.Adapters)
	return &checkout.Checkout{
		Store: a.Store, Vault: a.config.Vault, Banks: a.banks,
		Gateways: gateway.NewPool(a.usableKinds(), gateway.Options{
			Timeout: a.config.GatewayTimeout, Logger: a.logger, Observe: a.metrics.ObserveGatewayCall,
		}),
		Announcements: ledgerdb.New(a.Store.DB, a.config.Vault).Announcements, NextAnnouncement: ledgerdb.New(a.Store.DB, a.config.Vault).NextAnnouncement,
		Clock: a.clock(), Real: a.world, Own: clock.Own{}, Logger: a.logger, Environment: a.config.Environment,
		PublicURL: a.config.PublicURL, SessionTTL: a.config.SessionTTL, KeepSubscriptions: a.config.KeepSubscriptions, Dunning: a.config.Dunning,
		GatewayTimeout: a.config.GatewayTimeout, LookupSchedule: a.config.LookupSchedule,
	}
}

// usableKinds are the adapters that payments go through. An account that moves no
// money may be left in a production's database from before it was refused there.
func (a *App) usableKinds() map[string]gateway.Kind {
	usable := maps.Clone(a.kinds)
	if a.config.Environment == merchant.Production && !a.config.AllowTestGateways {
		maps.DeleteFunc(usable, func(_ string, kind gateway.Kind) bool { return !kind.Real })
	}
	return usable
}

// newDeliverer sends events, and hears of them from the store.
func (a *App) newDeliverer() *webhook.Deliverer {
	d := webhook.NewDeliverer(webhook.Options{
		Store: a.Store, Clock: clock.Own{}, Real: a.world, Schedule: a.config.WebhookSchedule, Logger: a.logger,
		Sender: &webhook.Sender{
			Transport: webhook.NewTransport(a.config.WebhookAllowPrivate), Timeout: webhook.DefaultTimeout,
			UserAgent: "sepad/" + a.version,
		},
		Observe: a.metrics.ObserveDelivery, Linger: webhook.DefaultLinger,
	})
	a.Store.OnEvents(d.Wake)
	return d
}

// watch shows on the metrics page what is read when somebody looks.
func (a *App) watch() {
	a.watchPool("main", a.Store.Pool)
	if a.Store.HasReplica() {
		a.watchPool("replica", a.Store.ReplicaPool)
		a.metrics.WatchReplica(a.Store.IsReplicaNear)
	}
	a.metrics.WatchQueue(a.Store.QueueDepth)
	a.metrics.WatchUnknownOutcomes(a.Store.UnknownOutcomes)
	a.metrics.WatchDeliveries(a.Store.DeliveryBacklog)
	a.metrics.WatchMails(func(ctx context.Context) (metrics.Mails, error) {
		counts, err := a.Store.CountMails(ctx)
		return metrics.Mails(counts), err
	})
	a.metrics.WatchArrears(func(ctx context.Context) (metrics.Arrears, error) {
		arrears, err := a.Store.ReadArrears(ctx, a.Checkout.Clock.Now(), a.world.Now())
		return metrics.Arrears(arrears), err
	})
	a.metrics.WatchClockSkew(a.skew.measure)
	a.metrics.WatchRebillPauses(a.rebillPauses)
	a.metrics.WatchSetAside(a.Checkout.Aside.Total)
	a.metrics.WatchUnreadable(a.config.Vault.Unopened)
}

// rebillPauses counts the gateway accounts that are paused, and those of them that
// need a person though they would be tried again.
func (a *App) rebillPauses(ctx context.Context) (map[string]int, error) {
	pauses, err := a.Store.RebillPauses(ctx)
	counts := map[string]int{"creditor": 0, "away": 0, "away_too_long": 0}
	for _, p := range pauses {
		counts[string(p.Reason)]++
		if p.Reason == payment.PausedAway && p.NeedsPerson(a.Checkout.Clock.Now()) {
			counts["away_too_long"]++
		}
	}
	return counts, err
}

func (a *App) watchPool(name string, read func() db.PoolStats) {
	a.metrics.WatchPool(name, func() metrics.Pool {
		stats := read()
		return metrics.Pool(stats)
	})
}

// applier changes what tenants have set up.
func (a *App) applier() *setup.Applier {
	return &setup.Applier{Store: a.Store, Kinds: a.kinds, Environment: a.config.Environment, AllowTestGateways: a.config.AllowTestGateways}
}

// admin is the operator's API.
func (a *App) admin() *admin.Admin {
	return &admin.Admin{
		Token: a.config.AdminToken, People: a.People, Store: a.Store, Checkout: a.Checkout, Billing: a.Billing, Banking: a.Banking, Privacy: a.Privacy, Guard: a.guard,
		Applier:   a.applier(),
		PublicURL: a.config.PublicURL, Real: a.world, Movable: a.Movable,
	}
}

// api is the merchants' API.
func (a *App) api() *api.API {
	return &api.API{
		Checkout: a.Checkout, Billing: a.Billing, Store: a.Store, Banks: a.banks, Limiter: a.limiter, KeyUses: a.keyUses,
		Environment: a.config.Environment, Real: a.world,
	}
}

// deliveriesPatience is how long deliveries are waited for that a server has not waited for to their end.
const deliveriesPatience = 5 * time.Second

// endDeliveries waits for what is still being written of deliveries. A database that hangs may never take it, and a
// process that was told to end has no time for that: what is left is taken up again like that of one that was killed.
func (a *App) endDeliveries() error {
	ctx, cancel := context.WithTimeout(context.Background(), deliveriesPatience)
	defer cancel()
	err := a.webhooks.Stop(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		a.logger.Warn("ended while deliveries of events were under way: they are taken up again")
		return nil
	}
	return err
}

// Close lets go of everything; a server that is running must be stopped first.
func (a *App) Close() (err error) {
	if a.limiter != nil {
		err = errors.Join(err, a.limiter.Close())
	}
	if a.webhooks != nil {
		err = errors.Join(err, a.endDeliveries())
	}
	if a.Store != nil {
		err = errors.Join(err, a.Store.Close())
	}
	if a.tracing != nil {
		err = errors.Join(err, a.tracing.Shutdown(context.Background()))
	}
	a.unlock()
	return err
}
