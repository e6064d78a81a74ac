package main

import (
	"database/sql"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	_ "modernc.org/sqlite" // the driver, to spoil a database with

	"sepad/internal/config"
	"sepad/internal/people"
	"sepad/internal/testenv"
)

func TestDev(t *testing.T) {
	t.Parallel()

	t.Run("answers, and survives a restart with its data and key", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		first := startDev(t, folder, nil)
		for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs"} {
			first.expectOK(path)
		}
		status, token := first.create(first.key, "ada")
		if status != http.StatusCreated {
			t.Fatalf("create: %d", status)
		}
		first.stop(syscall.SIGTERM)

		second := startDev(t, folder, nil)
		if second.key != first.key || adminToken(second) != adminToken(first) || adminToken(first) == "" {
			t.Error("key or admin token changed")
		}
		second.expectOK("/api/v1/payment-sessions/" + token + "/")
		if status, _ := second.create(first.key, "bob"); status != http.StatusCreated {
			t.Errorf("create after the restart: %d", status)
		}
		second.stop(syscall.SIGINT)
	})

	t.Run("prints commands that can be pasted into a shell", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("curl"); err != nil {
			t.Skip("this test needs curl, which is not installed")
		}
		s := startDev(t, t.TempDir(), nil)
		script := strings.Join(regexp.MustCompile(`(?s)TOKEN=.*?"\$TOKEN"\n|\ncurl .*?; echo\n`).FindAllString(s.welcome, -1), "\n")
		output, err := exec.CommandContext(t.Context(), "sh", "-euc", script).CombinedOutput()
		if err != nil || !strings.Contains(string(output), `"status":"completed"`) || !strings.Contains(string(output), `"amount":"19.90"`) {
			t.Errorf("%v\n%s\n%s", err, script, output)
		}
	})
}

func TestDevKey(t *testing.T) {
	t.Parallel()

	t.Run("is made again when the kept one is lost or revoked", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		first := startDev(t, folder, nil)
		first.stop(syscall.SIGTERM)
		if err := os.Remove(filepath.Join(folder, ".sepad", "api-key")); err != nil {
			t.Fatal(err)
		}
		second := startDev(t, folder, nil)
		second.stop(syscall.SIGTERM)
		id := firstMatch(mustSepad(t, folder, "keys", "list"), regexp.QuoteMeta(second.key[:12])+`….* (\S+)\n`)
		mustSepad(t, folder, "keys", "revoke", id)
		third := startDev(t, folder, nil)
		if first.key == second.key || second.key == third.key {
			t.Error("the key is the same")
		}
		if status, _ := third.create(second.key, "ada"); status != http.StatusUnauthorized {
			t.Errorf("create with the revoked key: %d", status)
		}
		for i, key := range []string{first.key, third.key} {
			if status, _ := third.create(key, []string{"bob", "eve"}[i]); status != http.StatusCreated {
				t.Errorf("create with key %d: %d", i, status)
			}
		}
	})
}

func TestDevSettings(t *testing.T) {
	t.Parallel()

	t.Run("are taken, and resource files beside the demo shop", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		file := writeFile(t, folder, "shop.yaml", "tenants:\n  - {id: 018f0000-0000-7000-8000-0000000000aa, name: Second Shop, api_keys: [{name: backend}]}\n")
		settings := []string{"SEPAD_ADMIN_TOKEN=my-own-token", "SEPAD_DUNNING_DAYS=3,5", "SEPAD_PUBLIC_URL="}
		s := startDev(t, folder, settings, "--apply", file, "--data", "elsewhere", "--log-format", "json")
		if adminToken(s) != "my-own-token" {
			t.Errorf("welcome:\n%s\n%s", s.welcome, s.log)
		}
		if !strings.Contains(s.welcome, "Second Shop") || !strings.Contains(mustSepad(t, folder, "keys", "list", "--data", "elsewhere"), "Second Shop") {
			t.Error("the resource file was not applied")
		}
	})

	t.Run("may name a database", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		settings := []string{"SEPAD_DATABASE_URL=" + testenv.PostgresURL(t)}
		s := startDev(t, folder, settings)
		if status, _ := s.create(s.key, "ada"); status != http.StatusCreated {
			t.Errorf("create: %d", status)
		}
		if _, err := os.Stat(filepath.Join(folder, ".sepad", "sepad.db")); err == nil {
			t.Error("there is an SQLite database as well")
		}
		if r := execute(t, command(t, folder, settings, "keys", "list")); !strings.Contains(r.stdout, s.key[:12]) {
			t.Errorf("keys list: %s%s", r.stdout, r.stderr)
		}
	})
}

// TestDevBeyondThisMachine: a sandbox that others reach says so, and what they find.
func TestDevBeyondThisMachine(t *testing.T) {
	t.Parallel()
	for listen, isWarned := range map[string]bool{
		"127.0.0.1:8080": false, "[::1]:8080": false, "localhost:8080": false, "127.8.0.1:0": false,
		":8080": true, "0.0.0.0:8080": true, "[::]:8080": true, "192.0.2.7:8080": true, "sandbox.example:8080": true,
	} {
		var welcome strings.Builder
		printWelcome(&welcome, config.Config{Listen: listen}, "here", "", "", people.Link{})
		if warns := strings.Contains(welcome.String(), listen+" is reached from other machines"); warns != isWarned {
			t.Errorf("on %s it is said: %t\n%s", listen, warns, welcome.String())
		}
	}
}

func adminToken(s *running) string { return firstMatch(s.welcome, `token (\S+)`) }

func writeFile(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartIsRefused(t *testing.T) {
	t.Parallel()

	t.Run("on a port that is taken", func(t *testing.T) {
		t.Parallel()
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		r := sepad(t, t.TempDir(), "dev", "--listen", taken.Addr().String())
		expectOneLine(t, r, 1, taken.Addr().String()+" is taken by another process")
	})

	t.Run("beside another server on the same file, which short commands are not", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		s := startDev(t, folder, nil)
		expectOneLine(t, sepad(t, folder, "dev", "--listen", "127.0.0.1:0"), 1, "another sepad server is using this database")
		mustSepad(t, folder, "keys", "create", "second")
		mustSepad(t, folder, "clock")
		s.expectOK("/readyz")
	})

	t.Run("in a folder that is none", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		file := writeFile(t, folder, "file", "")
		expectOneLine(t, sepad(t, folder, "dev", "--listen", "127.0.0.1:0", "--data", file), 1, "data folder")
	})

	t.Run("on a schema that is too new", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		mustSepad(t, folder, "migrate")
		spoil(t, filepath.Join(folder, ".sepad", "sepad.db"), "UPDATE schema_compatibility SET oldest_version = 99")
		for _, args := range [][]string{{"dev", "--listen", "127.0.0.1:0"}, {"migrate"}, {"keys", "list"}} {
			expectOneLine(t, sepad(t, folder, args...), 1, "needs a sepad that knows schema 99 or newer")
		}
	})

	t.Run("for production", func(t *testing.T) {
		t.Parallel()
		expectOneLine(t, sepad(t, t.TempDir(), "dev", "--environment", "production"), 1, "SEPAD_ENVIRONMENT: sepad dev is always a sandbox")
	})

	t.Run("with a resource file that has mistakes, each of which is named", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		file := writeFile(t, folder, "shop.yaml", "tenants:\n  - id: nonsense\n    nom: Shop\n")
		r := sepad(t, folder, "dev", "--listen", "127.0.0.1:0", "--apply", file)
		if r.code != 1 || !strings.Contains(r.stderr, file+":2: ") || !strings.Contains(r.stderr, file+":3: ") {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
	})
}

func spoil(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
