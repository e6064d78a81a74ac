package app_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
	"sepad/internal/vault"
)

// rotation is a service of several processes whose encryption keys are changed
// while customers pay.
type rotation struct {
	env     *storetest.Env
	servers []*apptest.Server
	// places are held while a request is at a process, and taken to restart it, as a
	// load balancer does that lets requests under way finish.
	places []sync.RWMutex
	paid   atomic.Int64
}

// TestKeysAreRotatedUnderLoad takes the documented steps, process by process.
func TestKeysAreRotatedUnderLoad(t *testing.T) {
	t.Parallel()
	for engine, c := range map[string]struct {
		open      func(testing.TB) *storetest.Env
		processes int
	}{
		"two processes on PostgreSQL": {storetest.Postgres, 2},
		"one process on SQLite":       {storetest.SQLite, 1},
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			oldKey, newKey := vault.GenerateKey(), vault.GenerateKey()
			r := &rotation{env: c.open(t), servers: make([]*apptest.Server, c.processes), places: make([]sync.RWMutex, c.processes)}
			r.env = r.with(t, oldKey)
			r.servers[0] = apptest.Open(t, r.env, apptest.Options{})
			for i := 1; i < c.processes; i++ {
				r.servers[i] = r.servers[0].Beside(t, apptest.Options{})
			}
			end := r.shop(t)
			r.roll(t, oldKey, newKey) // 1. every process can read what the new key will seal
			r.roll(t, newKey, oldKey) // 2. every process seals with it
			st := r.env.Reopen(t)     // 3. so is everything that the old key has sealed
			if _, err := st.Reseal(t.Context(), r.env.Now, func(int, int) {}); err != nil {
				t.Error(err)
			}
			r.roll(t, newKey)
			end()
			name, _, _ := strings.Cut(oldKey, ":")
			for _, column := range []string{"transactions.iban_sealed", "subscriptions.iban_sealed", "setup_records.secrets"} {
				table, column, _ := strings.Cut(column, ".")
				if left := storetest.Scalar[int](t, r.env, `SELECT COUNT(*) FROM `+table+` WHERE `+column+` LIKE $1`, name+":%"); left > 0 {
					t.Errorf("%d rows of %s are sealed with the old key", left, table)
				}
			}
			if r.paid.Load() < int64(8*c.processes) {
				t.Errorf("only %d were paid", r.paid.Load())
			}
		})
	}
}

// with is the same database opened with other keys.
func (r *rotation) with(t *testing.T, keys ...string) *storetest.Env {
	t.Helper()
	opened, err := vault.New(strings.Join(keys, ","))
	if err != nil {
		t.Fatal(err)
	}
	env := &storetest.Env{Engine: r.env.Engine, URL: r.env.URL, Vault: opened, Now: r.env.Now}
	env.Store = env.Reopen(t)
	return env
}

// roll restarts one process after the other with a list of keys, while customers go
// on at the others.
func (r *rotation) roll(t *testing.T, keys ...string) {
	t.Helper()
	r.env = r.with(t, keys...)
	for i := range r.servers {
		before := r.paid.Load()
		r.places[i].Lock()
		old := r.servers[i]
		old.Stop(t)
		r.servers[i] = apptest.Start(t, r.env, apptest.Options{})
		r.servers[i].Key = old.Key
		r.places[i].Unlock()
		apptest.Eventually(t, "customers pay", func() bool { return r.paid.Load() > before+2 })
	}
}

// shop has customers buy and look at their purchases, at every process in turn; no
// request may fail.
func (r *rotation) shop(t *testing.T) (end func()) {
	t.Helper()
	var customers sync.WaitGroup
	closing := make(chan struct{})
	for c := range 3 {
		customers.Go(func() {
			for n := c; ; n++ {
				select {
				case <-closing:
					return
				default:
					r.buy(t, n%len(r.servers))
				}
			}
		})
	}
	return func() {
		close(closing)
		customers.Wait()
	}
}

func (r *rotation) buy(t *testing.T, i int) {
	t.Helper()
	r.places[i].RLock()
	defer r.places[i].RUnlock()
	s := r.servers[i]
	body := apptest.Direct().With(apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
	created, err := s.TryDo(t, apptest.Request{Path: apptest.Sessions, Key: s.Key, Body: body})
	if err != nil || created.Status != http.StatusCreated {
		t.Errorf("create: %d %s %v", created.Status, created.Raw, err)
		return
	}
	paid, err := s.TryDo(t, apptest.PayRequest(created.Text(t, "session_token"), apptest.Approved))
	if err != nil || paid.Status != http.StatusOK {
		t.Errorf("pay: %d %s %v", paid.Status, paid.Raw, err)
		return
	}
	r.paid.Add(1)
}
