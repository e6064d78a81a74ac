package api_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/store/storetest"
)

// wire stands between a process and its database. Cut, it takes what is sent and passes nothing on: no packet says that
// anything is wrong.
type wire struct {
	listener net.Listener
	target   string

	mu   sync.Mutex
	open chan struct{} // closed while things pass
}

func layWire(t *testing.T, target string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, target: target, open: make(chan struct{})}
	close(w.open)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(near)
		}
	}()
	return w
}

func (w *wire) carry(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", w.target)
	if err != nil {
		return
	}
	defer far.Close()
	go w.pass(far, near)
	w.pass(near, far)
}

func (w *wire) pass(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		count, err := from.Read(buffer)
		w.mu.Lock()
		open := w.open
		w.mu.Unlock()
		<-open
		if _, failed := to.Write(buffer[:count]); failed != nil || err != nil {
			return
		}
	}
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = make(chan struct{})
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.open)
}

// TestAHangingDatabase has a database that takes everything and answers nothing. Callers are told so within their
// patience, and not one after the other; when it answers again all is well at once, and the process ends when it is
// told to.
func TestAHangingDatabase(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	address, err := url.Parse(env.URL)
	if err != nil {
		t.Fatal(err)
	}
	between := layWire(t, address.Host)
	direct := env.URL
	address.Host = between.listener.Addr().String()
	env.URL = address.String()
	s := apptest.Open(t, env, apptest.Options{Change: func(settings *config.Settings) { settings.DatabaseTimeout = "1s" }})
	env.URL = direct
	s.Create(t, apptest.Direct())

	token := s.Create(t, apptest.Direct())
	create := func() apptest.Request {
		return apptest.Request{Path: apptest.Sessions, Key: s.Key, Body: apptest.Direct()}
	}
	between.cut()
	began := time.Now()
	for status, answers := range s.AtOnce(t, create(), create(), create(), create(), apptest.Request{Path: apptest.Path(token)},
		apptest.PayRequest(token, apptest.Approved), apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "verify")}) {
		if status != http.StatusServiceUnavailable || answers[0].Header.Get("Retry-After") == "" {
			t.Errorf("while nothing is answered a call is %d: %s", status, answers[0].Raw)
		}
	}
	s.Do(t, apptest.Request{Path: "/readyz"}).Want(t, http.StatusServiceUnavailable, nil)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("seven callers and a look have waited %s", took)
	}
	between.mend()
	began = time.Now()
	apptest.Eventually(t, "it goes on", func() bool { return s.Do(t, create()).Status == http.StatusCreated })
	apptest.Eventually(t, "it is ready", func() bool { return s.Do(t, apptest.Request{Path: "/readyz"}).Status == http.StatusOK })
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it went on after %s", took)
	}
}

// TestAProcessThatLeavesSaysSo looks whether it still answers, that it is no longer ready.
func TestAProcessThatLeavesSaysSo(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{Change: func(settings *config.Settings) { settings.ShutdownDelay = "3s" }})
	s.Do(t, apptest.Request{Path: "/readyz"}).Want(t, http.StatusOK, nil)
	ended := s.Leave()
	apptest.Eventually(t, "it is no longer ready", func() bool {
		return s.Do(t, apptest.Request{Path: "/readyz"}).Status == http.StatusServiceUnavailable
	})
	ended()
}

func TestReadyProvesAWrite(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		get := func(t *testing.T, path string) apptest.Answer {
			t.Helper()
			return s.Do(t, apptest.Request{Path: path})
		}
		get(t, "/readyz").Want(t, http.StatusOK, fields{"status": "ready"})
		// What was found holds for a second.
		becomes := func(status int) {
			apptest.Eventually(t, fmt.Sprintf("/readyz answers %d", status), func() bool { return get(t, "/readyz").Status == status })
		}
		s.Env.Exec(t, `ALTER TABLE schema_compatibility RENAME TO hidden`)
		becomes(http.StatusServiceUnavailable)
		get(t, "/healthz").Want(t, http.StatusOK, nil)
		s.Env.Exec(t, `ALTER TABLE hidden RENAME TO schema_compatibility`)
		becomes(http.StatusOK)
		s.Env.Exec(t, `ALTER TABLE deployment RENAME TO hidden`) // it can be read, and nothing be written
		becomes(http.StatusServiceUnavailable)
		s.Env.Exec(t, `ALTER TABLE hidden RENAME TO deployment`)
		becomes(http.StatusOK)
	})
}
