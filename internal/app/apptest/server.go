package apptest

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sepad/internal/app"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/gateway"
	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/store/storetest"
	"sepad/internal/vault"
	"sepad/internal/web"
)

// AdminToken is the operator's credential.
const AdminToken = "operator-token-of-the-tests-1234567"

// Options change how a server is started. Without any, it is a sandbox without
// limits whose sandbox gateway wastes no time.
type Options struct {
	// Rates are limits by scope; those not named are off.
	Rates limit.Rates
	// Change is given the settings last.
	Change func(*config.Settings)
	// Adapters are further gateways.
	Adapters map[string]gateway.Kind
	// SandboxWait is how long the sandbox's slow and silent outcomes take.
	SandboxWait time.Duration
	// World is what the machine's clock shows; nil is the right time.
	World clock.Clock
}

// Server is a running app.
type Server struct {
	App         *app.App
	Env         *storetest.Env
	Environment merchant.Environment
	URL         string
	Key         string // of the shop
	RivalKey    string

	adapters map[string]gateway.Kind
	client   *http.Client
	log      *log
	stop     func() error
}

// Each runs a test on a server on each engine, side by side.
func Each(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	EachWith(t, Options{}, test)
}

// EachWith is Each with options.
func EachWith(t *testing.T, options Options, test func(t *testing.T, s *Server)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) { test(t, Open(t, env, options)) })
}

// SQLite is a server for tests in which the engine plays no part.
func SQLite(t testing.TB, options Options) *Server {
	t.Helper()
	return Open(t, storetest.SQLite(t), options)
}

// Open starts a server on a database and sets the shop up.
func Open(t testing.TB, env *storetest.Env, options Options) *Server {
	t.Helper()
	s := Start(t, env, options)
	file := string(shopFile)
	if s.Environment == merchant.Production {
		file = strings.NewReplacer("http://", "https://", "test_mode: false", "test_mode: true").Replace(file)
	}
	s.Apply(t, file)
	s.Key, s.RivalKey = s.NewKey(t, Shop, "backend"), s.NewKey(t, Rival, "backend")
	return s
}

// Beside starts another process of the same installation.
func (s *Server) Beside(t testing.TB, options Options) *Server {
	t.Helper()
	other := Start(t, s.Env, options)
	other.Key, other.RivalKey = s.Key, s.RivalKey
	return other
}

// Start starts a server on a database as it is.
func Start(t testing.TB, env *storetest.Env, options Options) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Env: env, URL: "http://" + listener.Addr().String(), adapters: options.Adapters, log: &log{}}
	cfg := configuration(t, env, options).ReachedAt(listener.Addr())
	s.Environment = cfg.Environment
	logger, err := web.NewLogger("json", s.log)
	if err != nil {
		t.Fatal(err)
	}
	s.App, err = app.New(t.Context(), cfg, app.Options{
		Version: "test", Logger: logger, Adapters: options.Adapters, SandboxWait: max(options.SandboxWait, time.Millisecond),
		World: options.World,
	})
	if err != nil {
		listener.Close()
		t.Fatalf("start the app: %v", err)
	}
	s.client = newClient(t)
	s.serve(t, listener)
	return s
}

func (s *Server) serve(t testing.TB, listener net.Listener) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.App.Serve(ctx, listener, nil) }()
	s.stop = sync.OnceValue(func() error {
		s.client.CloseIdleConnections()
		cancel()
		err := <-ended
		if closing := s.App.Close(); err == nil {
			err = closing
		}
		return err
	})
	t.Cleanup(func() {
		s.Stop(t)
		s.log.check(t)
	})
}

// Leave tells the server to stop and does not wait until it has; what it gives does.
func (s *Server) Leave() (wait func()) {
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.stop() }()
	return func() { <-ended }
}

// Stop tells the server to stop, as a signal would, and waits until it has.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Errorf("stop the app: %v", err)
	}
}

// configuration fills in settings for tests: no limits, and lookups so late that
// they come only when a test asks for them.
func configuration(t testing.TB, env *storetest.Env, options Options) config.Config {
	t.Helper()
	settings := config.Settings{
		Database:   config.Database{DatabaseURL: withFewConnections(env), EncryptionKeys: vault.GenerateKey()},
		AdminToken: AdminToken, LookupSchedule: "1h", DatabaseTimeout: "1m", // a machine with much to do is slow
	}
	if options.Change != nil {
		options.Change(&settings)
	}
	cfg, err := settings.Config()
	if err != nil {
		t.Fatalf("settings: %v", err)
	}
	cfg.Vault = env.Vault
	for _, scope := range limit.Scopes() {
		cfg.Rates[scope] = options.Rates[scope]
	}
	return cfg
}

// withFewConnections is the address of a database that gets no more connections than an app needs which one test talks to: they
// are a tenth of what PostgreSQL costs a run of all tests.
func withFewConnections(env *storetest.Env) string {
	if env.Engine != "postgres" {
		return env.URL
	}
	return env.URL + "&pool_max_conns=4"
}

// patience is how long an answer may take before a test gives up.
const patience = time.Minute

func newClient(t testing.TB) *http.Client {
	t.Helper()
	const connections = 64
	return &http.Client{
		Timeout:       patience,
		Transport:     &witness{base: &http.Transport{MaxIdleConnsPerHost: connections}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
