package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sepad/internal/limit"
	"sepad/internal/vault"
)

func TestEveryBadSettingIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	s := sufficient()
	s.Environment, s.Listen, s.EncryptionKeys, s.SessionTTL, s.Rates.Page = "staging", "nowhere", "", "soon", "many"
	s.Complete([]string{"SEPAD_ADMIN_TOKN=x", "SEPAD_REDIS_URL_FILE=/nowhere/at/all"})
	_, err := s.Config()
	wrong, ok := errors.AsType[Errors](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	for i, name := range []string{
		"SEPAD_ADMIN_TOKN", "SEPAD_REDIS_URL_FILE", "SEPAD_ENVIRONMENT", "SEPAD_ENCRYPTION_KEYS", "SEPAD_LISTEN", "SEPAD_SESSION_TTL", "SEPAD_RATE_PAGE",
	} {
		if i >= len(wrong) || !strings.HasPrefix(wrong[i], name) {
			t.Errorf("%s is not the problem %d of %q", name, i, wrong)
		}
	}
}

func TestMisspeltVariablesAreRefused(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"SEPAD_DATABSE_URL=x":         "SEPAD_DATABSE_URL is not a setting. Did you mean SEPAD_DATABASE_URL?",
		"SEPAD_LISTEN_FILE=x":         "SEPAD_LISTEN_FILE is not a setting.",
		"SEPAD_ADMIN_TOKENFILE=x":     "SEPAD_ADMIN_TOKENFILE is not a setting. Did you mean SEPAD_ADMIN_TOKEN_FILE?",
		"SEPAD_SOMETHING_ELSE=x":      "SEPAD_SOMETHING_ELSE is not a setting.",
		"SEPAD_SOMETHING_ELSE=":       "",
		"SEPAD_LISTEN=:1":             "",
		"SEPAD_TEST_REQUIRE=1":        "",
		"SEPAD_SERVICE_HOST=10.0.0.1": "",
		"SEPAD_PORT_8080_TCP=tcp://x": "",
		"SEPADX=1":                    "",
	} {
		s := sufficient()
		s.Complete([]string{variable})
		_, err := s.Config()
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: got %v", variable, err)
		}
		_, err = func() (Access, error) { d := sufficient().Database; d.Complete([]string{variable}); return d.Access() }()
		if want == "" && err != nil || want != "" && err == nil {
			t.Errorf("%s, in a short command: got %v", variable, err)
		}
	}
}

func TestSecretsAreReadFromFiles(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Run("every one of them", func(t *testing.T) {
		t.Parallel()
		for i, field := range fieldsOf(&Settings{}) {
			var s Settings
			s.Complete([]string{field.Name + "_FILE=" + write(" a secret\n")})
			if got := *fieldsOf(&s)[i].text; field.Secret != (got == "a secret") || field.Secret != (len(s.problems) == 0) {
				t.Errorf("%s: got %q, %v", field.Name, got, s.problems)
			}
		}
	})
	t.Run("a flag wins", func(t *testing.T) {
		t.Parallel()
		s := Settings{AdminToken: "flag"}
		if s.Complete([]string{"SEPAD_ADMIN_TOKEN_FILE=" + write("file")}); s.AdminToken != "flag" || len(s.problems) > 0 {
			t.Errorf("got %s, %v", s.AdminToken, s.problems)
		}
	})
	for _, example := range []struct {
		name, want string
		environ    []string
	}{
		{"a variable and a file are too much", "SEPAD_ADMIN_TOKEN and SEPAD_ADMIN_TOKEN_FILE are both set", []string{"SEPAD_ADMIN_TOKEN=x", "SEPAD_ADMIN_TOKEN_FILE=y"}},
		{"a missing file is named", "SEPAD_ADMIN_TOKEN_FILE: open nowhere", []string{"SEPAD_ADMIN_TOKEN_FILE=nowhere"}},
		{"an empty file is named", "SEPAD_ADMIN_TOKEN_FILE: the file is empty", []string{"SEPAD_ADMIN_TOKEN_FILE=" + write("\n")}},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			var s Settings
			if s.Complete(example.environ); len(s.problems) != 1 || !strings.HasPrefix(s.problems[0], example.want) {
				t.Errorf("got %v", s.problems)
			}
		})
	}
	t.Run("a short command reads its own", func(t *testing.T) {
		t.Parallel()
		var d Database
		d.Complete([]string{
			"SEPAD_DATABASE_URL_FILE=" + write("sqlite:x.db"), "SEPAD_ENCRYPTION_KEYS_FILE=" + write(vault.GenerateKey()),
			"SEPAD_ADMIN_TOKEN_FILE=/only/a/server/reads/it",
		})
		if access, err := d.Access(); err != nil || access.DatabaseURL != "sqlite:x.db" || access.Vault == nil {
			t.Errorf("got %v, %v", access.DatabaseURL, err)
		}
	})
}

var update = flag.Bool("update", false, "write the table of settings anew")

// TestOperationsListsEverySetting holds the page for operators to the settings.
func TestOperationsListsEverySetting(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/operations.md", "<!-- settings -->\n", "<!-- end of settings -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("the page has no place for the table of settings")
	}
	fresh := before + begin + settingsTable() + end + after
	if *update {
		if err := os.WriteFile(path, []byte(fresh), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if fresh != string(page) {
		t.Error("the table of settings is old: go test ./internal/config -run OperationsLists -update")
	}
}

func settingsTable() string {
	var table strings.Builder
	table.WriteString("| setting | form | default | meaning |\n|---|---|---|---|\n")
	for _, s := range All() {
		name, standard := "`"+s.Name+"`", "none"
		if strings.HasPrefix(s.Name, limit.SettingPrefix) {
			s.Help = "Requests a second and caller, 0 is unlimited: " + s.Help
		}
		if s.Secret {
			name += " (secret)"
		}
		if s.Default != "" {
			standard = "`" + s.Default + "`"
		}
		table.WriteString("| " + name + " | `" + strings.ReplaceAll(s.Form, "|", "`, `") + "` | " + standard + " | " + s.Help + " |\n")
	}
	return table.String()
}
