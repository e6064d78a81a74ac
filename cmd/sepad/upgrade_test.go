package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
	"sepad/internal/vault"
)

// previous is the program of the version before, or why there is none.
var previous = sync.OnceValues(buildPrevious)

var errNoHistory = errors.New("the commit in cmd/sepad/testdata/previous_version is not at hand: this is no clone, or a shallow one. " +
	"Fetch the history (git fetch --unshallow), or name a program of the release before: make upgrade PREVIOUS=/path/to/sepad")

// buildPrevious builds the commit in testdata/previous_version, unless a program is named
// (make upgrade PREVIOUS=…). It is moved on when a release is made: to the last commit of
// the release before. The program is kept among the user's caches: to build it takes
// longer than what is done with it.
func buildPrevious() (path string, err error) {
	if given := os.Getenv("SEPAD_TEST_PREVIOUS"); given != "" {
		return given, exec.Command(given, "version").Run()
	}
	text, err := os.ReadFile("testdata/previous_version")
	if err != nil {
		return "", err
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	commit := strings.TrimSpace(string(text))
	path = filepath.Join(caches, "sepad-test", "sepad-"+commit+"-"+runtime.Version())
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid()) // another test process may be building it too
	if err := buildCommit(commit, fresh); err != nil {
		return "", err
	}
	return path, os.Rename(fresh, path)
}

func buildCommit(commit, program string) error {
	source := filepath.Join(filepath.Dir(binary), "previous")
	if err := os.Mkdir(source, 0o700); err != nil {
		return err
	}
	archive, err := exec.Command("git", "-C", "../..", "archive", "--format=tar", commit).Output()
	if err != nil {
		return errNoHistory
	}
	unpack := exec.Command("tar", "-x", "-C", source)
	unpack.Stdin = bytes.NewReader(archive)
	if output, err := unpack.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	build := exec.Command("go", "build", "-o", program, "./cmd/sepad")
	build.Dir = source
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}

// needPrevious skips a test where the version before cannot be had, unless it is what was
// asked for: nothing that was tried must not look like something that went well.
func needPrevious(t *testing.T) string {
	t.Helper()
	path, err := previous()
	if errors.Is(err, errNoHistory) && os.Getenv("SEPAD_TEST_UPGRADE") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// upgrade is a service whose processes are brought from one version to the other.
type upgrade struct {
	t             *testing.T
	folder        string
	settings      []string
	before, after string // programs
	processes     []*running
	places        []sync.RWMutex // held while a request is at a process, as by a load balancer
	calls, visits atomic.Int64
	closing       chan struct{}
	visited       chan struct{}
	customers     sync.WaitGroup
	key           string
}

func newUpgrade(t *testing.T, database string, processes int) *upgrade {
	t.Helper()
	u := &upgrade{
		t: t, folder: t.TempDir(), before: needPrevious(t), after: binary, processes: make([]*running, processes),
		places: make([]sync.RWMutex, processes), closing: make(chan struct{}), visited: make(chan struct{}, 1),
	}
	u.settings = append([]string{
		"SEPAD_DATABASE_URL=" + database, "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey(), "SEPAD_RATE_API_KEY_READ=0", "SEPAD_RATE_API_KEY_RECONCILIATION=0",
	}, crashSettings...)
	for i := range u.processes {
		u.processes[i] = u.start(u.before)
	}
	u.key = u.processes[0].key
	return u
}

func (u *upgrade) command(program string, args ...string) *exec.Cmd {
	cmd := command(u.t, u.folder, u.settings, append(args, "--data", u.folder)...)
	cmd.Path = program
	return cmd
}

func (u *upgrade) start(program string) *running {
	u.t.Helper()
	return welcomed(u.t, u.command(program, "dev", "--listen", "127.0.0.1:0"))
}

// replace ends a process, once its requests are answered, and starts a program in its
// place; then customers come by.
func (u *upgrade) replace(i int, program string) {
	u.t.Helper()
	u.places[i].Lock()
	u.processes[i].stop(syscall.SIGTERM)
	u.processes[i] = u.start(program)
	u.places[i].Unlock()
	u.await(6)
}

// await waits for so many visits.
func (u *upgrade) await(visits int64) {
	u.t.Helper()
	late := time.After(time.Minute)
	for until := u.visits.Load() + visits; u.visits.Load() < until; {
		select {
		case <-u.visited:
		case <-late:
			u.t.Fatal("nobody comes any more")
		}
	}
}

// refused expects that a program does not start on the database any more.
func (u *upgrade) refused(program string) {
	u.t.Helper()
	r := execute(u.t, u.command(program, "dev", "--listen", "127.0.0.1:0"))
	expectOneLine(u.t, r, exitFailed, "needs a sepad that knows schema")
}

// finish ends the upgrade.
func (u *upgrade) finish() {
	u.t.Helper()
	if r := execute(u.t, u.command(u.after, "migrate", "--finish")); r.code != 0 || !strings.Contains(r.stdout, "The upgrade is finished") {
		u.t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// call asks the next process and expects a status.
func (u *upgrade) call(want int, method, path, body string) string {
	i := int(u.calls.Add(1)) % len(u.processes)
	u.places[i].RLock()
	defer u.places[i].RUnlock()
	request, err := http.NewRequest(method, u.processes[i].url+path, strings.NewReader(body))
	if err != nil {
		u.t.Error(err)
		return ""
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+u.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		u.t.Error(err)
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		u.t.Errorf("%s %s at process %d: %d %s %v", method, path, i, response.StatusCode, text, err)
	}
	return string(text)
}

const upgradeSessions = "/api/v1/payment-sessions/"

// create makes a session and gives its token.
func (u *upgrade) create(name string) string {
	return firstMatch(u.call(http.StatusCreated, http.MethodPost, upgradeSessions, fmt.Sprintf(`{"campaign_id": %q, "lead": {"first_name": "Ada",
		"last_name": "Byron", "email": "%s@shop.example", "country": "DE"}}`, crashCampaigns[len(name)%len(crashCampaigns)], name)), `"session_token":"([^"]+)"`)
}

// pay pays a session, at the bank if need be, and looks at it.
func (u *upgrade) pay(token string, from sandbox.Outcome) {
	path := upgradeSessions + token + "/"
	u.call(http.StatusOK, http.MethodGet, path, "")
	accounts := sandbox.TestIBANs()
	account := accounts[slices.IndexFunc(accounts, func(a sandbox.TestIBAN) bool { return a.Outcome == from })]
	u.call(http.StatusOK, http.MethodPost, path+"pay/", fmt.Sprintf(`{"iban": %q, "iban_holder_name": "Ada Byron"}`, account.IBAN))
	if from == sandbox.VerificationApproved {
		u.call(http.StatusOK, http.MethodPost, path+"verify/", "{}")
	}
	if shown := u.call(http.StatusOK, http.MethodGet, path, ""); !strings.Contains(shown, `"COMPLETED"`) {
		u.t.Errorf("the session is not paid: %s", shown)
	}
}

// reconcile reads two pages, each at another process.
func (u *upgrade) reconcile() {
	today := time.Now().UTC().Format(time.DateOnly)
	page := u.call(http.StatusOK, http.MethodGet, "/api/v1/reconciliation/transactions/?page_size=1&start_date="+today+"&end_date="+today, "")
	if _, next, more := strings.Cut(firstMatch(page, `"next":"([^"]+)"`), "/api/v1/"); more {
		u.call(http.StatusOK, http.MethodGet, "/api/v1/"+strings.ReplaceAll(next, `\u0026`, "&"), "")
	}
}

// open lets customers in, and gives what ends their shopping.
func (u *upgrade) open() (end func()) {
	outcomes := []sandbox.Outcome{sandbox.Approved, sandbox.VerificationApproved, sandbox.PendingApproved}
	for customer := range 3 {
		u.customers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-u.closing:
					return
				default:
				}
				if u.t.Failed() {
					return // the first failure says it
				}
				u.pay(u.create(fmt.Sprintf("c%d-%d", customer, n)), outcomes[n%len(outcomes)])
				u.reconcile()
				u.visits.Add(1)
				select {
				case u.visited <- struct{}{}:
				default:
				}
			}
		})
	}
	return sync.OnceFunc(func() {
		close(u.closing)
		u.customers.Wait()
	})
}

// TestRollingUpgrade brings two processes on one PostgreSQL database from the version
// before to this one, and one of them back in between, under load.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	database := testenv.PostgresURL(t)
	u := newUpgrade(t, database, 2)
	end := u.open()
	defer end()
	u.await(3)
	u.replace(0, u.after)  // it changes the schema under the other one
	u.replace(0, u.before) // rollback: the old program on the new schema
	u.replace(0, u.after)
	u.replace(1, u.after)
	u.finish()
	u.await(6)
	u.refused(u.before)
	u.replace(0, u.after)
	end()
	awaitBooks(t, database, "what was there before the upgrade is counted", func(b *storetest.Books) bool { return b.Uncounted == 0 })
	expectSound(t, database)
	if t.Failed() {
		return
	}
	t.Logf("%d visits, %d requests, none failed", u.visits.Load(), u.calls.Load())
}

// TestUpgradeOfOneMachine does the same on SQLite, which one process at a time uses.
func TestUpgradeOfOneMachine(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "sepad.db")
	u := newUpgrade(t, database, 1)
	restart := func(program string) {
		u.processes[0].stop(syscall.SIGTERM)
		u.processes[0] = u.start(program)
	}
	first, second := u.create("first"), u.create("second")
	restart(u.after)
	u.pay(first, sandbox.VerificationApproved)
	third, fourth := u.create("third"), u.create("fourth")
	restart(u.before)
	u.pay(third, sandbox.Approved)
	restart(u.after)
	u.pay(second, sandbox.Approved)
	u.finish() // beside the server, as other commands
	u.pay(fourth, sandbox.Approved)
	u.pay(u.create("fifth"), sandbox.Approved)
	u.processes[0].stop(syscall.SIGTERM)
	u.refused(u.before)
	u.processes[0] = u.start(u.after)
	u.call(http.StatusOK, http.MethodGet, upgradeSessions+fourth+"/", "")
	awaitBooks(t, database, "what was there before the upgrade is counted", func(b *storetest.Books) bool { return b.Uncounted == 0 })
	expectSound(t, database)
}
