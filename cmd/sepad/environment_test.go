package main

import (
	"path/filepath"
	"strings"
	"testing"

	"sepad/internal/testenv"
	"sepad/internal/vault"
)

// TestAProductionDatabaseTakesNoSandboxCommands is about the default: whoever
// forgets SEPAD_ENVIRONMENT must not move the clock of live subscriptions.
func TestAProductionDatabaseTakesNoSandboxCommands(t *testing.T) {
	t.Parallel()
	for engine, url := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { t.Helper(); return "sqlite:" + filepath.Join(t.TempDir(), "sepad.db") },
		"postgres": func(t *testing.T) string { t.Helper(); return testenv.PostgresURL(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			settings := []string{"SEPAD_DATABASE_URL=" + url(t), "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey()}
			live := append([]string{"SEPAD_ENVIRONMENT=production"}, settings...)
			if r := execute(t, command(t, folder, live, "migrate")); r.code != 0 {
				t.Fatal(r.stderr)
			}
			shop := writeFile(t, folder, "shop.yaml", "tenants:\n  - {id: 018f0000-0000-7000-8000-0000000000aa, name: Shop}\n")
			if r := execute(t, command(t, folder, live, "apply", "-f", shop)); r.code != 0 {
				t.Fatal(r.stderr)
			}
			for _, args := range [][]string{
				{"migrate"}, {"apply", "-f", shop}, {"keys", "create", "test"}, {"clock", "--advance", "744h"},
				{"dev", "--listen", "127.0.0.1:0"}, {"serve", "--listen", "127.0.0.1:0"},
			} {
				expectOneLine(t, execute(t, command(t, folder, settings, args...)), 1, "SEPAD_ENVIRONMENT: the database belongs to a deployment of the environment production")
			}
			other := []string{live[0], live[1], "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey()}
			expectOneLine(t, execute(t, command(t, folder, other, "keys", "list")), 1, "SEPAD_ENCRYPTION_KEYS: the key ")
			expectOneLine(t, execute(t, command(t, folder, append(other, "SEPAD_PUBLIC_URL=https://pay.example"), "serve", "--listen", "127.0.0.1:0")), 1, "SEPAD_ENCRYPTION_KEYS: the key ")
		})
	}
}

// TestTheExampleOfAShopIsTakenInProduction applies deploy/shop.yaml as the page on
// installing has it.
func TestTheExampleOfAShopIsTakenInProduction(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	example, err := filepath.Abs("../../deploy/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	live := []string{
		"SEPAD_ENVIRONMENT=production", "SEPAD_DATABASE_URL=sqlite:" + filepath.Join(folder, "sepad.db"), "SEPAD_ENCRYPTION_KEYS=" + vault.GenerateKey(),
	}
	mustSucceed(t, execute(t, command(t, folder, live, "migrate")))
	for _, c := range []struct{ args, says string }{
		{"--dry-run", "Nothing was changed."}, {"", "rk_live_"}, {"--dry-run", "0 created, 0 changed"},
	} {
		ran := execute(t, command(t, folder, live, append([]string{"apply", "-f", example}, strings.Fields(c.args)...)...))
		mustSucceed(t, ran)
		want(t, ran.stdout, c.says)
	}
}
