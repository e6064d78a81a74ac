package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sepad/internal/vault"
)

// TestOperatorsAreAnsweredApart has two addresses, each with its own paths.
func TestOperatorsAreAnsweredApart(t *testing.T) {
	t.Parallel()
	const token = "the-operator-of-this-test-1234567890"
	folder := t.TempDir()
	settings := []string{
		"SEPAD_DATABASE_URL=sqlite:" + filepath.Join(folder, "sepad.db"), "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey(),
		"SEPAD_ADMIN_TOKEN=" + token, "SEPAD_OPERATOR_LISTEN=127.0.0.1:0",
	}
	s := startServe(t, folder, settings)
	apart := *s
	apart.url = "http://" + firstMatch(s.log.String(), `"operator_address":"([^"]+)"`)
	for _, c := range []struct {
		path             string
		public, operator int
	}{
		{"/admin/v1/tenants/", http.StatusNotFound, http.StatusOK},
		{"/metrics", http.StatusNotFound, http.StatusOK},
		{"/healthz", http.StatusOK, http.StatusOK},
		{"/readyz", http.StatusOK, http.StatusOK},
		{"/openapi.yaml", http.StatusOK, http.StatusNotFound},
		{"/api/v1/payment-sessions/ps_unknown/", http.StatusNotFound, http.StatusNotFound},
	} {
		if status, body := s.call(http.MethodGet, c.path, token, ""); status != c.public {
			t.Errorf("%s in public: %d %s", c.path, status, body)
		}
		if status, body := apart.call(http.MethodGet, c.path, token, ""); status != c.operator {
			t.Errorf("%s for operators: %d %s", c.path, status, body)
		}
	}
	if status, _ := apart.call(http.MethodGet, "/admin/v1/tenants/", "", ""); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d", status)
	}
	s.stop(syscall.SIGTERM)

	wrong := append(settings[:3:3], "SEPAD_OPERATOR_LISTEN=nowhere")
	r := execute(t, command(t, folder, wrong, "serve", "--listen", "127.0.0.1:0"))
	if r.code != 1 || !strings.Contains(r.stderr, "SEPAD_OPERATOR_LISTEN") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
}
