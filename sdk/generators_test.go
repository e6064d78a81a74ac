package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// npmTools are what merchants use on openapi.yaml, and what judges it. They are fetched
// once and kept among the user's caches: they serve tests alone.
var npmTools = []string{
	"openapi-typescript@7.13.0", "@hey-api/openapi-ts@0.95.0", "typescript@5.9.3", "@stoplight/spectral-cli@6.16.3", "@redocly/cli@2.73.0",
}

// toolsVariable asks for the tools: they fetch much and take minutes.
const toolsVariable = "SEPAD_TEST_NPM_TOOLS"

// fetchTools gives the folder with the tools' programs, or why they cannot be had.
var fetchTools = sync.OnceValues(func() (programs, reason string) {
	if os.Getenv(toolsVariable) == "" {
		return "", "make verify runs them (" + toolsVariable + "=1)"
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", "npm is not installed"
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err.Error()
	}
	folder := filepath.Join(caches, "sepad-test", "npm")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err.Error()
	}
	if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"private": true}`), 0o600); err != nil {
		return "", err.Error()
	}
	install := exec.Command("npm", append([]string{"install", "--silent", "--no-audit", "--no-fund", "--prefer-offline"}, npmTools...)...)
	install.Dir = folder
	if err := install.Run(); err != nil {
		return "", "npm cannot fetch them: " + err.Error()
	}
	return filepath.Join(folder, "node_modules", ".bin"), ""
})

// tool runs a program of npm in a folder.
func tool(t *testing.T, folder, name string, args ...string) (string, error) {
	t.Helper()
	programs, reason := fetchTools()
	if reason != "" {
		t.Skipf("the tools are not tried: %s", reason)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, name), args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

var strictly = []string{"--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"}

// TestGeneratedTypeScriptCompiles: what merchants' generators make of the documents is
// a program.
func TestGeneratedTypeScriptCompiles(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"openapi.yaml", "openapi-admin.yaml"} {
		for generator, args := range map[string][]string{
			"openapi-typescript": {absolute(t, "../"+document), "-o", "index.ts"},
			"openapi-ts":         {"-i", absolute(t, "../"+document), "-o", "."},
		} {
			t.Run(generator+" of "+document, func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				if out, err := tool(t, folder, generator, args...); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if out, err := tool(t, folder, "tsc", append(strictly, "index.ts")...); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// TestTheTypesCompile: the types that the library ships are right in themselves, and a
// program that uses them is.
func TestTheTypesCompile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program := `import { Sepad, Receiver, SepadError, type Event } from "` + absolute(t, "typescript/sepad.js") + `";
import { accounts, delivery } from "` + absolute(t, "typescript/testing.js") + `";
const sepad = new Sepad("https://pay.shop.example", "rk_test_x");
export async function shop(token: string): Promise<string> {
  const result = await sepad.pay(token, { iban: accounts.approved, iban_holder_name: "Ada" });
  if (result.status === "declined") return result.error_details?.code ?? "unknown";
  for await (const transaction of sepad.transactions({ start_date: "2026-03-01" })) return transaction.status;
  const event: Event = await new Receiver("whsec_x").verify({}, (await delivery("whsec_x", "x", {})).body);
  if (event.type === "transaction.status_changed") return event.data.previous_status;
  throw new SepadError(token);
}
`
	if err := os.WriteFile(filepath.Join(folder, "shop.ts"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--noEmit", "--strict", "--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022", "--lib", "es2022,dom,dom.iterable", "shop.ts"},
	} {
		if out, err := tool(t, folder, "tsc", args...); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// Findings of the judges that stay, and why.
var (
	// The contract has a slash at the end of every path.
	slashes = regexp.MustCompile(`no-path-trailing-slash|path-keys-no-trailing-slash`)
	// Spectral takes what an adapter tells of its settings, an example with the keys
	// type and default, for a schema.
	settingsTaken = regexp.MustCompile(`oas3-valid-schema-example.*schema is invalid: data/type`)
)

// TestTheJudgesFindNoErrorThatIsNotExplained lets Spectral and Redocly read both
// documents by their recommended rules.
func TestTheJudgesFindNoErrorThatIsNotExplained(t *testing.T) {
	t.Parallel()
	documents := []string{absolute(t, "../openapi.yaml"), absolute(t, "../openapi-admin.yaml")}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "rules.yaml"), []byte("extends: [\"spectral:oas\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"spectral": append([]string{"lint", "-r", "rules.yaml", "--format", "text"}, documents...),
		"redocly":  append([]string{"lint", "--format", "stylish"}, documents...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, _ := tool(t, folder, name, args...) // it fails for what is explained, too
			if !strings.Contains(out, "openapi") {
				t.Fatalf("nothing was judged:\n%s", out)
			}
			for line := range strings.Lines(out) {
				if regexp.MustCompile(`\berror\b +[a-z0-9"]`).MatchString(line) && !slashes.MatchString(line) && !settingsTaken.MatchString(line) {
					t.Error(strings.TrimSpace(line))
				}
			}
		})
	}
}
