package main

import (
	"bufio"
	"io"
	"net"
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
	for _, url := range []string{s.url, apart.url} {
		wantRefusalHeard(t, strings.TrimPrefix(url, "http://"))
	}
	s.stop(syscall.SIGTERM)

	wrong := append(settings[:3:3], "SEPAD_OPERATOR_LISTEN=nowhere")
	r := execute(t, command(t, folder, wrong, "serve", "--listen", "127.0.0.1:0"))
	if r.code != 1 || !strings.Contains(r.stderr, "SEPAD_OPERATOR_LISTEN") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
}

// wantRefusalHeard sends a head that is refused, and goes on with its body: a connection that is reset would be a process that
// fails, to a proxy in between.
func wantRefusalHeard(t *testing.T, address string) {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	half := strings.Repeat("a", 30_000)
	if _, err := io.WriteString(connection, "POST / HTTP/1.1\r\nHost: a{b\r\nContent-Length: 60000\r\n\r\n"+half); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("%s answers %s", address, response.Status)
	}
	if _, err := io.WriteString(connection, half); err != nil {
		t.Errorf("%s: the body breaks off: %v", address, err)
	}
	if _, err := io.Copy(io.Discard, reader); err != nil {
		t.Errorf("%s, after the answer: %v", address, err)
	}
}
