package main

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
	"sepad/internal/vault"
)

// TestStopLetsPaymentsFinish stops a server in the middle of a payment.
func TestStopLetsPaymentsFinish(t *testing.T) {
	t.Parallel()
	for engine, url := range databases {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			folder, database := t.TempDir(), url(t)
			s := startDev(t, folder, []string{"SEPAD_DATABASE_URL=" + database}, "--data", folder)
			_, token := s.create(s.key, "ada")
			answer := s.payInBackground(token, sandbox.Slow)
			awaitBooks(t, database, "the payment is at the gateway", func(b *storetest.Books) bool { return len(b.Ledger) == 1 })
			s.stop(syscall.SIGTERM)
			if got := <-answer; got.status != http.StatusOK || !strings.Contains(got.body, `"status":"completed"`) {
				t.Errorf("%d %s", got.status, got.body)
			}
			expectSound(t, database)
		})
	}
}

// TestDatabaseGoesAway takes the database away between claim and settlement.
func TestDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	folder, database := t.TempDir(), testenv.PostgresURL(t)
	s := startDev(t, folder, append([]string{"SEPAD_DATABASE_URL=" + database}, crashSettings...), "--data", folder)
	_, token := s.create(s.key, "ada")
	answer := s.payInBackground(token, sandbox.Slow)
	awaitBooks(t, database, "the payment is at the gateway", func(b *storetest.Books) bool { return len(b.Ledger) == 1 })

	setConnections(t, database, false)
	if got := <-answer; got.status != http.StatusInternalServerError {
		t.Errorf("without a database the payment was answered %d: %s", got.status, got.body)
	}
	s.expectOK("/healthz")
	if status, body := s.call(http.MethodGet, "/readyz", "", ""); status != http.StatusServiceUnavailable {
		t.Errorf("without a database it is ready: %d %s", status, body)
	}
	setConnections(t, database, true)
	s.expectOK("/readyz")

	if status, body := s.pay(token, sandbox.Approved); status != http.StatusConflict {
		t.Errorf("paying again before the outcome is known: %d %s", status, body)
	}
	awaitBooks(t, database, "the outcome is known", func(b *storetest.Books) bool { return len(b.OpenAttempts()) == 0 })
	expectSound(t, database)
	if status, body := s.pay(token, sandbox.Approved); status != http.StatusGone {
		t.Errorf("paying again once it is known: %d %s", status, body)
	}
	s.stop(syscall.SIGTERM)
}

// TestMigrateAtOnce has several processes make the same schema.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	for engine, url := range databases {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			settings := []string{"SEPAD_DATABASE_URL=" + url(t)}
			results := make([]result, 4)
			var running sync.WaitGroup
			for i := range results {
				running.Go(func() { results[i] = execute(t, command(t, t.TempDir(), settings, "migrate")) })
			}
			running.Wait()
			for _, r := range results {
				if r.code != 0 || !strings.HasPrefix(r.stdout, "The database has schema ") {
					t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
				}
			}
		})
	}
}

// TestDiskTrouble starts and runs on disks that take nothing more. The disk is a
// small one of the test's own, which not every machine lets it have.
func TestDiskTrouble(t *testing.T) {
	t.Parallel()
	needDisks(t)
	keys := "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey()

	t.Run("a folder that cannot be written to is named in one line", func(t *testing.T) {
		t.Parallel()
		r := execute(t, onDisk(t, t.TempDir(), "ro", nil, "dev", "--listen", "127.0.0.1:0", "--data", "disk/data"))
		expectOneLine(t, r, 1, "data folder")
		r = execute(t, onDisk(t, t.TempDir(), "ro", []string{keys, "SEPAD_DATABASE_URL=sqlite:disk/sepad.db"}, "serve", "--listen", "127.0.0.1:0"))
		expectOneLine(t, r, 1, "disk/sepad.db")
	})

	t.Run("a disk that is full is named in one line", func(t *testing.T) {
		t.Parallel()
		r := execute(t, onDisk(t, t.TempDir(), "size=64k", nil, "dev", "--listen", "127.0.0.1:0", "--data", "disk/data"))
		expectOneLine(t, r, 1, "full")
	})
}

// needDisks skips a test on machines where onDisk cannot be.
func needDisks(t *testing.T) {
	t.Helper()
	if output, err := exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("this test needs the right to mount a small disk: %v: %s", err, output)
	}
}

// onDisk prepares a call of the program in a folder with a small disk mounted at
// "disk", which is there for this process alone and ends with it.
func onDisk(t *testing.T, folder, options string, settings []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, folder, settings, args...)
	script := `mkdir -p disk && mount -t tmpfs -o "$1" tmpfs disk && shift && exec "$@"`
	cmd.Args = append([]string{"unshare", "--mount", "sh", "-c", script, "sh", options, binary}, args...)
	path, err := exec.LookPath("unshare")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = path
	return cmd
}

// databases make a new database of each engine.
var databases = map[string]func(t *testing.T) string{
	"sqlite":   func(t *testing.T) string { t.Helper(); return "sqlite:" + filepath.Join(t.TempDir(), "sepad.db") },
	"postgres": func(t *testing.T) string { t.Helper(); return testenv.PostgresURL(t) },
}

type answer struct {
	status int
	body   string
}

// pay pays from the account with an outcome.
func (s *running) pay(token string, outcome sandbox.Outcome) (status int, body string) {
	s.t.Helper()
	for _, test := range sandbox.TestIBANs() {
		if test.Outcome == outcome {
			return s.call(http.MethodPost, "/api/v1/payment-sessions/"+token+"/pay/", s.key,
				`{"iban": "`+test.IBAN+`", "iban_holder_name": "Ada Byron"}`)
		}
	}
	s.t.Fatalf("no account has the outcome %s", outcome)
	return 0, ""
}

func (s *running) payInBackground(token string, outcome sandbox.Outcome) <-chan answer {
	s.t.Helper()
	answers := make(chan answer, 1)
	go func() {
		var a answer
		a.status, a.body = s.pay(token, outcome)
		answers <- a
	}()
	return answers
}

// awaitBooks reads a database until it is as expected.
func awaitBooks(t *testing.T, database, what string, expected func(*storetest.Books) bool) {
	t.Helper()
	deadline := time.After(recoveryPatience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !expected(storetest.ReadBooks(t, database)) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// expectSound expects one session that was paid, and nothing that contradicts it.
func expectSound(t *testing.T, database string) {
	t.Helper()
	books := storetest.ReadBooks(t, database)
	for _, finding := range books.Audit(time.Now()) {
		t.Error(finding)
	}
	for _, s := range books.Sessions {
		if s.Status != payment.SessionCompleted {
			t.Errorf("the session is %s", s.Status)
		}
	}
}

// setConnections cuts a database off, as a server does that ends, or brings it
// back.
func setConnections(t *testing.T, database string, allowed bool) {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	name := pgx.Identifier{config.Database}.Sanitize()
	config.Database = "postgres"
	connection, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.Background())
	statements := []string{"ALTER DATABASE " + name + " ALLOW_CONNECTIONS TRUE"}
	if !allowed {
		statements = []string{
			"ALTER DATABASE " + name + " ALLOW_CONNECTIONS FALSE",
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + strings.Trim(name, `"`) + "'",
		}
	}
	for _, statement := range statements {
		if _, err := connection.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}
