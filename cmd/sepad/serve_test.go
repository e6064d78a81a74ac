package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sepad/internal/testenv"
	"sepad/internal/vault"
)

func TestServe(t *testing.T) {
	t.Parallel()
	for engine, url := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { t.Helper(); return "sqlite:" + filepath.Join(t.TempDir(), "sepad.db") },
		"postgres": func(t *testing.T) string { t.Helper(); return testenv.PostgresURL(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			settings := []string{"SEPAD_DATABASE_URL=" + url(t), "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey()}
			expectOneLine(t, execute(t, command(t, folder, settings, "serve", "--no-migrate", "--listen", "127.0.0.1:0")), 1, "sepad: ")

			s := startServe(t, folder, settings)
			s.expectOK("/healthz")
			s.expectOK("/readyz")
			file := writeFile(t, folder, "shop.yaml", "tenants:\n  - {id: 018f0000-0000-7000-8000-0000000000aa, name: Shop, api_keys: [{name: backend}]}\n")
			applied := execute(t, command(t, folder, settings, "apply", "-f", file))
			key := firstMatch(applied.stdout, `(rk_test_\S+)`)
			if status, _ := s.create(key, "ada"); status != http.StatusBadRequest {
				t.Errorf("a campaign of another tenant: %d\n%s", status, applied.stderr)
			}
			s.stop(syscall.SIGTERM)

			again := startServe(t, folder, settings, "--no-migrate")
			again.stop(syscall.SIGINT)
		})
	}
}

func TestServeNamesTheWrongSetting(t *testing.T) {
	t.Parallel()
	database, keys := "SEPAD_DATABASE_URL=sqlite:sepad.db", "SEPAD_ENCRYPTION_KEYS="+vault.GenerateKey()
	for _, example := range []struct {
		name, want string
		settings   []string
		args       []string
	}{
		{"no database", "SEPAD_DATABASE_URL is not set", []string{keys}, nil},
		{"no keys", "SEPAD_ENCRYPTION_KEYS is not set", []string{database}, nil},
		{"a bad variable", `SEPAD_GATEWAY_TIMEOUT: "abc" is not a duration such as 30s`, []string{database, keys, "SEPAD_GATEWAY_TIMEOUT=abc"}, nil},
		{"a bad flag, which beats a good variable", `SEPAD_SESSION_TTL: "x" is not a duration`, []string{database, keys, "SEPAD_SESSION_TTL=1h"}, []string{"--session-ttl", "x"}},
		{"a bad rate", "SEPAD_RATE_PAGE: it is a number", []string{database, keys, "SEPAD_RATE_PAGE=many"}, nil},
		{"an address that is not ours", "SEPAD_LISTEN: ", []string{database, keys}, []string{"--listen", "192.0.2.1:80"}},
		{"a database that cannot be reached", "the database", []string{"SEPAD_DATABASE_URL=postgres://u:hunter2@127.0.0.1:1/x", keys}, []string{"--listen", "127.0.0.1:0"}},
		{"a folder that does not exist", "sepad: ", []string{"SEPAD_DATABASE_URL=sqlite:nowhere/sepad.db", keys}, []string{"--listen", "127.0.0.1:0"}},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			r := execute(t, command(t, t.TempDir(), example.settings, append([]string{"serve"}, example.args...)...))
			expectOneLine(t, r, 1, example.want)
			if strings.Contains(r.stderr, "hunter2") {
				t.Error("a password was printed")
			}
		})
	}
}
