package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// looker watches a service as a customer and as a proxy would, from the first server.
type looker struct {
	t      *testing.T
	crash  *crash
	client *http.Client
	visits int
	// known is a session that was made before anything broke.
	known string
}

// sight is what was seen while something was broken. The status 0 is no answer at all.
type sight struct {
	creates, reads, readyz map[int]int
	slowest                time.Duration
}

func newLooker(t *testing.T, c *crash) *looker {
	t.Helper()
	l := &looker{t: t, crash: c, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
	if _, l.known = l.create(l.name()); l.known == "" {
		t.Fatal("no session is made before anything breaks")
	}
	return l
}

// look asks for a new session, for the known one and for /readyz, over and over for a while.
func (l *looker) look(d time.Duration) sight {
	l.t.Helper()
	s := sight{creates: map[int]int{}, reads: map[int]int{}, readyz: map[int]int{}}
	var mu sync.Mutex
	note := func(counts map[int]int, status int, began time.Time) {
		mu.Lock()
		defer mu.Unlock()
		counts[status]++
		if status != 0 {
			s.slowest = max(s.slowest, time.Since(began))
		}
	}
	var looking sync.WaitGroup
	for deadline := time.Now().Add(d); time.Now().Before(deadline); l.crash.pass(250 * time.Millisecond) {
		looking.Go(func() {
			began := time.Now()
			note(s.readyz, l.get("/readyz"), began)
		})
		looking.Go(func() {
			began := time.Now()
			note(s.reads, l.get("/api/v1/payment-sessions/"+l.known+"/"), began)
		})
		name := l.name()
		looking.Go(func() {
			began := time.Now()
			status, _ := l.create(name)
			note(s.creates, status, began)
		})
	}
	looking.Wait()
	return s
}

func counted(counts map[int]int) string {
	var words []string
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		name := fmt.Sprint(status)
		if status == 0 {
			name = "none"
		}
		words = append(words, fmt.Sprintf("%d × %s", counts[status], name))
	}
	return cmp.Or(strings.Join(words, ", "), "not asked")
}

func (l *looker) name() string {
	l.visits++
	return fmt.Sprintf("looker-%d", l.visits)
}

func (l *looker) get(path string) int {
	request, err := http.NewRequest(http.MethodGet, *l.crash.addresses[0].Load()+path, http.NoBody)
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+l.crash.key)
	response, err := l.client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0
	}
	if response.StatusCode >= http.StatusBadRequest {
		l.checkRefusal(response.StatusCode, text)
	}
	return response.StatusCode
}

// checkRefusal holds a refusal to the contract's form: a sentence and the status.
func (l *looker) checkRefusal(status int, text []byte) {
	var body struct {
		Detail     string
		StatusCode int `json:"status_code"`
	}
	if err := json.Unmarshal(text, &body); err != nil || body.Detail == "" || body.StatusCode != status {
		l.t.Errorf("a refusal with %d says %s", status, text)
	}
}

// create makes a session, which must be there from then on.
func (l *looker) create(name string) (int, string) {
	as := &customer{crash: l.crash, client: l.client}
	status, answer := as.post(*l.crash.addresses[0].Load(), "", fmt.Sprintf(`{"campaign_id": %q, "lead": {"first_name": "Ada", "last_name": "Byron",
		"email": "%s@shop.example", "country": "DE"}}`, crashCampaigns[0], name))
	if status == http.StatusCreated {
		l.crash.promises.Created(answer.SessionToken)
	}
	return status, answer.SessionToken
}

// pay pays a session, and remembers the answer.
func (l *looker) pay(token string) int {
	as := &customer{crash: l.crash, client: l.client}
	status, answer := as.post(*l.crash.addresses[0].Load(), token+"/pay/", fmt.Sprintf(`{"iban": %q, "iban_holder_name": "Ada Byron"}`, goodIBAN))
	if status == http.StatusOK {
		l.crash.promises.Answered(answer)
	}
	return status
}

// awaitPayment goes on until a payment is through.
func (l *looker) awaitPayment() {
	l.t.Helper()
	began := time.Now()
	for time.Since(began) < recoveryPatience {
		if status, token := l.create(l.name()); status == http.StatusCreated && l.pay(token) == http.StatusOK {
			return
		}
		l.crash.pass(20 * time.Millisecond)
	}
	l.t.Fatal("nobody can pay any more")
}

// smallDisk is a disk of the test's own, which not every machine lets it have.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	folder := serverFolder(t)
	if output, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", folder).CombinedOutput(); err != nil {
		t.Skipf("this fault needs the right to mount a small disk: %v: %s", err, output)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	return folder
}

// journaledDisk is a small disk whose file system gives up after an error, as Debian's do.
func journaledDisk(t *testing.T, size string) (folder, image string) {
	t.Helper()
	folder, image = serverFolder(t), filepath.Join(t.TempDir(), "disk")
	for _, step := range [][]string{{"truncate", "-s", size, image}, {"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, folder}} {
		if output, err := exec.Command(step[0], step[1:]...).CombinedOutput(); err != nil {
			t.Skipf("this fault needs ext4 and the right to mount a disk: %s: %v: %s", step[0], err, output)
		}
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	return folder, image
}

// turnReadOnly does to a file system what the kernel does after an error of its disk: nothing can be written to it any
// more until it is mounted anew, for which the process has to end.
func turnReadOnly(t *testing.T, w *world) func() {
	t.Helper()
	run := func(name string, args ...string) {
		t.Helper()
		if output, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, output)
		}
	}
	run("mount", "-o", "remount,abort", w.disk)
	return func() {
		endInTime(t, w.servers[0])
		run("umount", w.disk)
		run("mount", "-o", "loop", w.image, w.disk)
		w.mendedAt = time.Now()
		w.start(0)
	}
}

// fillDisk leaves no room, until it does again. PostgreSQL ends by itself where its log
// finds none, and is started again by whoever watches over it.
func fillDisk(t *testing.T, w *world) func() {
	t.Helper()
	path := filepath.Join(w.disk, "full")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 64<<10); err == nil; {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if w.cluster != nil && w.cluster.HasEnded() {
			if err := w.cluster.Restart(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// lockFile has somebody else write to the file and take their time.
func lockFile(t *testing.T, w *world) func() {
	t.Helper()
	db := (&storetest.Env{URL: w.url}).DB(t)
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		db.Close()
	}
}

// deafHooks is a receiver that takes nothing while it is deaf, and keeps account.
type deafHooks struct {
	mu     sync.Mutex
	hears  chan struct{}             // closed while it answers
	events map[string]map[string]int // how often each event of a session was taken
}

// withDeafHooks gives the demo shop a receiver.
func withDeafHooks(t *testing.T, w *world) *world {
	t.Helper()
	w.hooks = &deafHooks{hears: make(chan struct{}), events: map[string]map[string]int{}}
	close(w.hooks.hears)
	receiver := httptest.NewServer(w.hooks)
	t.Cleanup(receiver.Close)
	w.apply = writeFile(t, w.folder, "hooks.yaml", fmt.Sprintf(hookProfile, receiver.URL, hookSecret))
	w.settings = append(w.settings, "SEPAD_WEBHOOK_SCHEDULE="+strings.Repeat("500ms,", 60)+"1s")
	return w
}

func deafen(_ *testing.T, w *world) func() {
	w.hooks.mu.Lock()
	defer w.hooks.mu.Unlock()
	hears := make(chan struct{})
	w.hooks.hears = hears
	return func() { close(hears) }
}

func (h *deafHooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	hears := h.hears
	h.mu.Unlock()
	select {
	case <-hears:
	case <-r.Context().Done():
		return
	}
	var payload struct {
		Token string `json:"session_token"`
	}
	if r.Header.Get("X-Service-Event") != "payment_session.completed" || json.Unmarshal(body, &payload) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.events[payload.Token] == nil {
		h.events[payload.Token] = map[string]int{}
	}
	h.events[payload.Token][r.Header.Get("X-Service-Event-Id")]++
}

// check waits until every session that the books call completed was told, by one event
// each, however often it came.
func (h *deafHooks) check(t *testing.T, c *crash) {
	t.Helper()
	for deadline := time.Now().Add(recoveryPatience); !h.hasTold(t, c) && time.Now().Before(deadline); {
		c.pass(100 * time.Millisecond)
	}
	if !h.hasTold(t, c) {
		t.Error("completed sessions were not told, or others were")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for token, events := range h.events {
		if len(events) != 1 {
			t.Errorf("session %.7s was told by %d events", token, len(events))
		}
	}
}

// hasTold tells whether what was told are the sessions that are completed.
func (h *deafHooks) hasTold(t *testing.T, c *crash) bool {
	t.Helper()
	completed := map[string]bool{}
	for _, s := range storetest.ReadBooks(t, c.url).Sessions {
		if s.Status == payment.SessionCompleted {
			completed[s.TokenKey] = true
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for token := range h.events {
		if !completed[store.TokenKey(token)] {
			return false
		}
	}
	return len(h.events) == len(completed)
}
