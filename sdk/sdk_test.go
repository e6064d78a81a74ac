// Package sdk_test runs the tests of the client libraries against the real service,
// on both engines. Each library is a module of its own, in its own language.
package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/store"
)

// environment is what the libraries' tests are told of the service.
func environment(t *testing.T, s *apptest.Server) []string {
	t.Helper()
	scopes, _ := merchant.NewScopes([]string{"payments", "refunds", "subscriptions", "reports"})
	_, key, err := setup.CreateKey(t.Context(), s.Env.Store, uuid.MustParse(apptest.Shop), "library", scopes, s.Environment, clock.Real{}.Now(), store.RequestKey{})
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "SEPAD_SDK_ADDRESS="+s.URL, "SEPAD_SDK_KEY="+key.Reveal(), "SEPAD_SDK_ADMIN="+apptest.AdminToken,
		"SEPAD_SDK_CAMPAIGN="+apptest.ServerCampaign, "SEPAD_SDK_MONTHLY="+apptest.MonthlyCampaign, "GOWORK=off")
}

// run runs a command in a folder and expects it to succeed without leaving a test out.
func run(t *testing.T, folder string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = folder, env
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "--- SKIP") || strings.Contains(string(out), "# SKIP") {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func TestGo(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "sdk.test")
	run(t, "go", append(os.Environ(), "GOWORK=off"), "go", "vet", "./...")
	run(t, "go", append(os.Environ(), "GOWORK=off"), "go", "test", "-c", "-o", program, ".")
	if t.Failed() {
		return
	}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		run(t, "go", environment(t, s), program, "-test.v", "-test.count=1")
	})
}

func TestTypeScript(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the library for TypeScript is not tried")
	}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		run(t, "typescript", environment(t, s), node, "--test", "test/")
	})
}
