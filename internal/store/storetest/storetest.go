// Package storetest gives a test a fresh, migrated database on each engine, and
// factories for what lies in it.
//
//	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
//		shop := env.Shop(t)
//		found := env.Session(t, shop)
//		claimed := env.Attempt(t, found)
//		settled := env.Settle(t, claimed, payment.Outcome{Verdict: payment.VerdictApproved})
//	})
//
// A factory fills in everything and takes functions that change what the test
// is about. What it makes, it makes through the store, as the program would.
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/testenv"
	"sepad/internal/vault"
)

// Start is the service's time at which every test begins: the last day of a
// long month, with microseconds.
var Start = time.Date(2026, time.March, 31, 12, 0, 0, 123456000, time.UTC)

// Env is a database of one test's own.
type Env struct {
	// Engine is "sqlite" or "postgres".
	Engine string
	URL    string
	Store  *store.Store
	Vault  *vault.Vault
	// Now is the service's time for whatever the factories make, and the database's
	// unless the test has another clock for it.
	Now time.Time
	// DatabaseClock is the database's time.
	DatabaseClock func() time.Time

	tenants atomic.Uint32

	// looks is the bare database at an address, with a connection that is kept.
	looks   *sql.DB
	looksAt string
}

// Each runs a test on both engines, side by side.
func Each(t *testing.T, test func(t *testing.T, env *Env)) {
	t.Helper()
	eachOf(t, Postgres, test)
}

// EachFresh is Each with FreshPostgres.
func EachFresh(t *testing.T, test func(t *testing.T, env *Env)) {
	t.Helper()
	eachOf(t, FreshPostgres, test)
}

func eachOf(t *testing.T, postgres func(testing.TB) *Env, test func(t *testing.T, env *Env)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, postgres(t))
	})
}

// SQLite is an environment in a temporary file.
func SQLite(t testing.TB) *Env {
	t.Helper()
	image, err := sqliteImage()
	if err != nil {
		t.Fatalf("migrate SQLite: %v", err)
	}
	path := filepath.Join(t.TempDir(), "sepad.db")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, "sqlite", "sqlite:"+path)
}

// Postgres is an environment in a migrated database.
func Postgres(t testing.TB) *Env {
	t.Helper()
	return open(t, "postgres", testenv.PostgresLease(t, schemaName, migrate))
}

// FreshPostgres is Postgres in a database that nobody had before, in sessions of its own: for a test that minds who else is
// connected, looks at sessions, or gives them settings in the address.
func FreshPostgres(t testing.TB) *Env {
	t.Helper()
	return open(t, "postgres", testenv.PostgresTemplate(t, schemaName, migrate))
}

// schemaName is by which test processes know the schema.
var schemaName = fmt.Sprintf("store_%d", store.SchemaVersion)

func open(t testing.TB, engine, url string) *Env {
	t.Helper()
	keys, err := vault.New(vault.GenerateKey())
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Engine: engine, URL: url, Vault: keys, Now: Start}
	env.keepLooks(t)
	env.Store = env.Reopen(t)
	return env
}

// maxConnections keeps many tests side by side within one server's limit.
const maxConnections = 8

// Reopen opens the same database again, as another process would.
func (e *Env) Reopen(t testing.TB) *store.Store {
	t.Helper()
	return e.ReopenWith(t, store.Options{Vault: e.Vault, Options: db.Options{MaxConnections: maxConnections, Clock: e.databaseNow}})
}

func (e *Env) databaseNow() time.Time {
	if e.DatabaseClock != nil {
		return e.DatabaseClock()
	}
	return e.Now
}

// OutOfLine has every event say by its own columns that it is in line, as one does that was
// put there before an upgrade was finished: a test may write into them.
func (e *Env) OutOfLine(t testing.TB) {
	t.Helper()
	e.Exec(t, `UPDATE events SET delivery_status = 'pending', attempt_count = 0
		WHERE (tenant_id, webhook_profile_id, id) IN (SELECT tenant_id, webhook_profile_id, event_id FROM events_in_line)`)
	e.Exec(t, `DELETE FROM events_in_line`)
}

// Written is what a database makes of an attempt that it writes now.
func (e *Env) Written(a *payment.Attempt) {
	a.NextLookupAt, a.Silence = e.databaseNow().Add(a.Silence), 0
}

// ReopenWith is Reopen with options of the test's own.
func (e *Env) ReopenWith(t testing.TB, options store.Options) *store.Store {
	t.Helper()
	if options.Vault != nil {
		options.Vault.BindRows() // no older program has ever used it
	}
	opened, err := store.Open(t.Context(), e.URL, options)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Ready(t.Context()) == nil {
		if err := opened.LearnCompatibility(t.Context()); err != nil { // as every process begins
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return opened
}

// Write runs a unit of work that is expected to succeed, at the test's time.
func (e *Env) Write(t testing.TB, work func(*store.Tx) error) {
	t.Helper()
	if err := e.TryWrite(t, work); err != nil {
		t.Fatalf("write: %v", err)
	}
}

// TryWrite runs a unit of work at the test's time and gives its error.
func (e *Env) TryWrite(t testing.TB, work func(*store.Tx) error) error {
	t.Helper()
	return e.Store.Write(t.Context(), e.Now, work)
}

// sqliteImage is a migrated file, made once in a test process.
var sqliteImage = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "sepad-storetest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "image.db")
	if err := migrate("sqlite:" + path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// migrate closes the store before it returns, which also brings SQLite's log
// into the file.
func migrate(url string) error {
	ctx := context.Background()
	opened, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		return err
	}
	if err := opened.Migrate(ctx); err != nil {
		return fmt.Errorf("%w (closing: %w)", err, opened.Close())
	}
	return opened.Close()
}
