package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/testenv"
	"sepad/internal/webhook"
)

const (
	webhookCountVariable = "SEPAD_WEBHOOK_SESSIONS"
	defaultWebhookCount  = 120
	hookSecret           = "whsec_crash_test_receiver"
	webhookPatience      = 10 * time.Minute
	buyers               = 16
)

// hookProfile gives the demo shop a receiver of the test's own.
const hookProfile = `tenants:
  - id: 018f0000-0000-7000-8000-000000000001
    name: Demo Shop
    creditor: {name: Demo Shop GmbH, address: "Musterstr. 1, 10115 Berlin, DE", identifier: DE98ZZZ09999999999}
    webhook_profiles:
      - {id: 018f0000-0000-7000-8000-000000000020, name: Shop backend, url: "%s", signing_secret: %s, default: true}
`

// TestCrashWebhooks has many sessions completed while the receiver fails one
// call in five and the process is killed twice: each completed session must be
// told by exactly one event, however often it is sent.
func TestCrashWebhooks(t *testing.T) {
	t.Parallel()
	t.Run("on SQLite", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		crashWebhooks(t, folder, "sqlite:"+folder+"/sepad.db")
	})
	t.Run("on PostgreSQL", func(t *testing.T) {
		t.Parallel()
		crashWebhooks(t, t.TempDir(), testenv.PostgresURL(t))
	})
}

func crashWebhooks(t *testing.T, folder, databaseURL string) {
	t.Helper()
	wanted := numberFrom(t, webhookCountVariable, defaultWebhookCount)
	hooks := newHooks(t, wanted)
	file := writeFile(t, folder, "hooks.yaml", fmt.Sprintf(hookProfile, hooks.server.URL, hookSecret))
	settings := append([]string{
		"SEPAD_DATABASE_URL=" + databaseURL, "SEPAD_WEBHOOK_SCHEDULE=" + strings.Repeat("200ms,", 30) + "1s",
		"SEPAD_RATE_API_KEY_READ=0",
	}, crashSettings...)
	start := func() *running { return startDev(t, folder, settings, "--data", folder, "--apply", file) }
	s := start()
	shop := &shop{key: s.key, wanted: wanted, third: make(chan struct{}), twoThirds: make(chan struct{}), tokens: map[string]bool{}}
	shop.address.Store(&s.url)
	var group sync.WaitGroup
	for i := range buyers {
		group.Go(func() { shop.buy(t, i) })
	}
	for _, moment := range []chan struct{}{shop.third, shop.twoThirds} {
		await(t, "payments", moment)
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatalf("the server had ended by itself: %v\n%s", err, s.log)
		}
		_ = s.cmd.Wait() // it was killed
		s = start()
		shop.address.Store(&s.url)
	}
	group.Wait()
	await(t, "events", hooks.complete)
	hooks.check(t, shop.tokens)
	t.Logf("%d completed sessions, %d calls at the receiver, %d of them refused", len(shop.tokens), hooks.calls, hooks.refused)
}

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(webhookPatience):
		t.Fatalf("%s took too long", what)
	}
}

// shop is where sessions are created and paid until enough are completed.
type shop struct {
	address atomic.Pointer[string]
	key     string
	wanted  int
	begun   atomic.Int64

	mu               sync.Mutex
	tokens           map[string]bool // of completed sessions
	third, twoThirds chan struct{}
}

func (s *shop) buy(t *testing.T, buyer int) {
	t.Helper()
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for n := s.begun.Add(1); n <= int64(s.wanted) && t.Context().Err() == nil; n = s.begun.Add(1) {
		s.purchase(t, client, fmt.Sprintf("b%d-%d", buyer, n))
	}
}

// purchase goes on until one session of the customer is completed.
func (s *shop) purchase(t *testing.T, client *http.Client, name string) {
	t.Helper()
	var token string
	for t.Context().Err() == nil {
		if token == "" {
			answer := s.call(client, http.MethodPost, "", fmt.Sprintf(`{"campaign_id": "018f0000-0000-7000-8000-000000000053",
				"max_payment_attempts": 10, "lead": {"first_name": "Ada", "last_name": "Byron", "email": "%s@shop.example", "country": "DE"}}`, name))
			token, _ = answer["session_token"].(string)
			if status, _ := answer["status_code"].(float64); status == http.StatusConflict {
				name += "x" // it was created, but the answer was lost
			}
			continue
		}
		answer := s.call(client, http.MethodPost, token+"/pay/", fmt.Sprintf(`{"iban": %q, "iban_holder_name": "Ada Byron"}`, goodIBAN))
		if answer["status"] != "completed" {
			answer = s.call(client, http.MethodGet, token+"/", "")
		}
		if answer["status"] == "completed" || answer["status"] == "COMPLETED" {
			s.completed(token)
			return
		}
	}
}

var goodIBAN = func() string {
	for _, test := range sandbox.TestIBANs() {
		if test.Outcome == sandbox.Approved {
			return test.IBAN
		}
	}
	panic("no test IBAN is approved")
}()

// call gives an empty answer where none came; it then waits a moment.
func (s *shop) call(client *http.Client, method, path, body string) map[string]any {
	request, err := http.NewRequest(method, *s.address.Load()+"/api/v1/payment-sessions/"+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	answer := map[string]any{}
	response, err := client.Do(request)
	if err != nil {
		<-time.After(20 * time.Millisecond)
		return answer
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	_ = json.Unmarshal(text, &answer) // half an answer is none
	return answer
}

func (s *shop) completed(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = true
	switch len(s.tokens) {
	case s.wanted / 3:
		close(s.third)
	case 2 * s.wanted / 3:
		close(s.twoThirds)
	}
}

// hooks is a receiver that fails one call in five and keeps account.
type hooks struct {
	server   *httptest.Server
	wanted   int
	complete chan struct{}

	mu             sync.Mutex
	events         map[string]map[string]bool // accepted completed events: ids by session token
	faults         []string
	calls, refused int
}

func newHooks(t *testing.T, wanted int) *hooks {
	t.Helper()
	h := &hooks{wanted: wanted, complete: make(chan struct{}), events: map[string]map[string]bool{}}
	h.server = httptest.NewServer(h)
	t.Cleanup(h.server.Close)
	return h
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	if webhook.Verify(hookSecret, body, r.Header.Get("X-Service-Signature")) != webhook.MatchBody {
		h.faults = append(h.faults, "a signature does not fit "+string(body))
	}
	if rand.IntN(5) == 0 {
		h.refused++
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	if r.Header.Get("X-Service-Event") == "payment_session.completed" {
		h.accept(r.Header.Get("X-Service-Event-Id"), body)
	}
}

func (h *hooks) accept(event string, body []byte) {
	var payload struct {
		Token string `json:"session_token"`
	}
	if err := json.Unmarshal(body, &payload); err != nil || payload.Token == "" || event == "" {
		h.faults = append(h.faults, "an event cannot be read: "+string(body))
		return
	}
	if h.events[payload.Token] == nil {
		h.events[payload.Token] = map[string]bool{}
		if len(h.events) == h.wanted {
			close(h.complete)
		}
	}
	h.events[payload.Token][event] = true
}

// check expects one event for each completed session and no others.
func (h *hooks) check(t *testing.T, tokens map[string]bool) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, fault := range h.faults {
		t.Error(fault)
	}
	for token, events := range h.events {
		if len(events) != 1 || !tokens[token] {
			t.Errorf("session %.7s, completed: %v, has %d events", token, tokens[token], len(events))
		}
	}
	if len(h.events) != h.wanted || len(tokens) != h.wanted {
		t.Errorf("%d sessions with events, %d completed, want %d", len(h.events), len(tokens), h.wanted)
	}
}
