package app_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
)

// TestEveryAnswerIsSafeInABrowser asks for something of every kind, found or not.
func TestEveryAnswerIsSafeInABrowser(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	token := s.Create(t, apptest.InCampaign(apptest.HostedCampaign))
	for _, path := range []string{
		"/", "/nothing/", "/healthz", "/readyz", "/metrics", "/docs/", "/docs", "/openapi.yaml", "/api/v1/nothing/", apptest.Path(token),
		"/api/v1/reconciliation/transactions/", "/admin/v1/tenants/", "/pay/" + token + "/", "/pay/nobody/", "/pay/" + token + "/mandate/",
		"/sandbox/bank/nothing/", "/sandbox/bank/assets/..%2fpage.html",
	} {
		answer := s.Do(t, apptest.Request{Path: path, Undocumented: true})
		policy := answer.Header.Get("Content-Security-Policy")
		if answer.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("GET %s (%d): %q", path, answer.Status, policy)
		}
		if answer.Status == http.StatusOK && strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") && strings.Contains(policy, "unsafe-eval") {
			t.Errorf("GET %s may evaluate texts: %q", path, policy)
		}
	}
}
