package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sepad/internal/merchant"
	"sepad/internal/sepa"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":            "sepad dev",
		"dev":         "--apply=FILE",
		"serve":       "--rate-browser-pay",
		"migrate":     "SEPAD_DATABASE_URL",
		"apply":       "--file=FILE",
		"keys":        "keys revoke",
		"keys create": "--tenant",
		"keys list":   "--data",
		"keys revoke": "<key>",
		"mandates":    "mandates show",
		"gateways":    "gateways paused",
		"clock":       "--advance=1month",
		"test-ibans":  "--format",
		"bank":        "bank unmatched",
		"bank show":   "--xml",
		"bank read":   "--dry-run",
		"bank answer": "--shape",
		"banks":       "banks build",
		"banks check": "[<file>]",
		"banks build": "--bundesbank",
		"version":     "version",
	} {
		t.Run("sepad "+args+" explains itself", func(t *testing.T) {
			t.Parallel()
			help := mustSepad(t, t.TempDir(), append(strings.Fields(args), "--help")...)
			if !strings.HasPrefix(help, strings.TrimSpace("Usage: sepad "+args)) || !strings.Contains(help, want) {
				t.Errorf("got\n%s", help)
			}
		})
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, example := range []struct{ args, want string }{
		{"", "see sepad --help"},
		{"frobnicate", "see sepad --help"},
		{"keys", "see sepad keys --help"},
		{"keys create", "see sepad keys create --help"},
		{"apply", "--file"},
		{"dev --lisen :80", "--lisen"},
		{"test-ibans --format xml", "--format"},
		{"clock --advance tomorrow", "--advance"},
	} {
		t.Run("sepad "+example.args, func(t *testing.T) {
			t.Parallel()
			expectOneLine(t, sepad(t, t.TempDir(), strings.Fields(example.args)...), 2, example.want)
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"version", "--version"} {
		if out := mustSepad(t, t.TempDir(), word); !strings.HasPrefix(out, "sepad v1.2.3-test (schema ") {
			t.Errorf("got %s", out)
		}
	}
	var told map[string]any
	decode(t, mustSepad(t, t.TempDir(), "version", "--json"), &told)
	for _, name := range []string{"version", "commit", "date", "schema", "go", "platform"} {
		if told[name] == nil {
			t.Errorf("%s is not told: %v", name, told)
		}
	}
}

func TestTestIBANs(t *testing.T) {
	t.Parallel()
	var list []map[string]string
	if err := json.Unmarshal([]byte(mustSepad(t, t.TempDir(), "test-ibans", "--format", "json")), &list); err != nil {
		t.Fatal(err)
	}
	seen, foreign := map[string]bool{}, false
	for _, entry := range list {
		if len(entry) != 4 || entry["description"] == "" || !strings.HasPrefix(entry["iban"], entry["country"]) {
			t.Errorf("entry %v", entry)
		}
		if _, err := sepa.ParseIBAN(entry["iban"]); err != nil {
			t.Errorf("%s: %v", entry["outcome"], err)
		}
		seen[entry["outcome"]] = true
		foreign = foreign || entry["outcome"] == "approved" && entry["country"] != "DE"
	}
	for _, outcome := range strings.Fields(`approved declined_insufficient_funds declined_invalid_iban declined_mandate_rejected
		declined_account_closed declined_do_not_honor declined_unknown gateway_unavailable verification_approved
		verification_rejected verification_page pending_approved pending_declined chargeback returned_insufficient_funds
		returned_mandate_rejected returned_account_closed timeout_approved timeout_lost
		slow rebill_declined_once rebill_declined rebill_account_closed`) {
		if !seen[outcome] {
			t.Errorf("no IBAN is %s", outcome)
		}
	}
	if !foreign {
		t.Error("no account outside Germany is approved")
	}
	if table := mustSepad(t, t.TempDir(), "test-ibans"); strings.Count(table, "\n") != len(list)+1 {
		t.Errorf("the table has other lines:\n%s", table)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()

	t.Run("changes something once, and nothing the second time", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		mustSepad(t, folder, "migrate")
		writeFile(t, folder, "shop.yaml", string(merchant.DemoFile))
		first := mustSepad(t, folder, "apply", "-f", "shop.yaml")
		if !strings.Contains(first, "created  tenant") || !strings.Contains(first, "rk_test_") || !strings.Contains(first, "whsec_") ||
			!strings.HasSuffix(first, " created, 0 changed, 0 unchanged\n") {
			t.Errorf("first:\n%s", first)
		}
		if second := mustSepad(t, folder, "apply", "-f", "shop.yaml"); !strings.HasPrefix(second, "0 created, 0 changed, ") {
			t.Errorf("second:\n%s", second)
		}
	})

	t.Run("reads standard input", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		mustSepad(t, folder, "migrate")
		cmd := command(t, folder, nil, "apply", "-f", "-")
		cmd.Stdin = strings.NewReader(string(merchant.DemoFile))
		if r := execute(t, cmd); r.code != 0 || !strings.Contains(r.stdout, "Demo Shop") {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
	})

	t.Run("names every mistake with its line and changes nothing", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		mustSepad(t, folder, "migrate")
		bad := strings.NewReplacer(`"19.90"`, `"-1"`, "adapter: sandbox", "adapter: sandbx").Replace(string(merchant.DemoFile))
		writeFile(t, folder, "shop.yaml", bad)
		r := sepad(t, folder, "apply", "-f", "shop.yaml")
		if r.code != 1 || strings.Count(r.stderr, "\n") != 2 || strings.Count(r.stderr, "shop.yaml:") != 2 {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
		expectOneLine(t, sepad(t, folder, "keys", "create", "backend"), 1, "there is no tenant yet")
	})

	t.Run("says what is missing", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		file := writeFile(t, folder, "shop.yaml", string(merchant.DemoFile))
		expectOneLine(t, sepad(t, folder, "apply", "-f", file), 1, "there is no data in .sepad")
		missing := command(t, folder, []string{"SEPAD_DATABASE_URL=sqlite:" + filepath.Join(folder, "new.db"), "SEPAD_ENCRYPTION_KEYS=k:" + strings.Repeat("A", 43)}, "apply", "-f", file)
		expectOneLine(t, execute(t, missing), 1, "sepad migrate")
		mustSepad(t, folder, "migrate")
		expectOneLine(t, sepad(t, folder, "apply", "-f", "nowhere.yaml"), 1, "nowhere.yaml")
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := startDev(t, folder, nil)
	made := sepad(t, folder, "keys", "create", "shop floor", "--tenant", "Demo Shop")
	key := strings.TrimSpace(made.stdout)
	if made.code != 0 || !strings.HasPrefix(key, "rk_test_") || strings.Contains(made.stderr, key) {
		t.Fatalf("create: exit %d\n%s", made.code, made.stderr)
	}
	if status, _ := s.create(key, "ada"); status != http.StatusCreated {
		t.Errorf("with the new key: %d", status)
	}
	list := mustSepad(t, folder, "keys", "list")
	if !strings.Contains(list, key[:12]) || strings.Contains(list, key) || !strings.Contains(list, "active") {
		t.Errorf("list:\n%s", list)
	}
	mustSepad(t, folder, "keys", "revoke", "shop floor")
	if status, _ := s.create(key, "bob"); status != http.StatusUnauthorized {
		t.Errorf("with the revoked key: %d", status)
	}
	if list := mustSepad(t, folder, "keys", "list", "-t", merchant.DemoTenantID.String()); !strings.Contains(list, "revoked 20") {
		t.Errorf("list:\n%s", list)
	}
	expectOneLine(t, sepad(t, folder, "keys", "revoke", "shop floor"), 1, "revoked already")
	expectOneLine(t, sepad(t, folder, "keys", "create", "x", "--tenant", "Nobody"), 1, "no tenant has")
}

func TestClock(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := startDev(t, folder, nil)
	status, token := s.create(s.key, "ada")
	if status != http.StatusCreated {
		t.Fatalf("create: %d", status)
	}
	if out := mustSepad(t, folder, "clock"); !strings.Contains(out, "(0s ahead") {
		t.Errorf("before: %s", out)
	}
	if out := mustSepad(t, folder, "clock", "--advance", "25h"); !strings.Contains(out, "(25h0m0s ahead") {
		t.Errorf("after: %s", out)
	}
	if _, body := s.call(http.MethodGet, "/api/v1/payment-sessions/"+token+"/", s.key, ""); !strings.Contains(body, `"status":"EXPIRED"`) {
		t.Errorf("a session after its time: %s", body)
	}
	expectOneLine(t, sepad(t, folder, "clock", "--advance=-1h"), 1, "forward only")
	expectOneLine(t, sepad(t, folder, "clock", "--environment", "production"), 1, "belongs to a deployment of the environment sandbox")
}

func TestBanks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	built := mustSepad(t, folder, "banks", "build", "-o", "banks.tsv", "--date", "2026-09-07")
	if checked := mustSepad(t, folder, "banks", "check", "banks.tsv"); checked != built || !strings.Contains(checked, "bank codes of") {
		t.Errorf("built:\n%s\nchecked:\n%s", built, checked)
	}
	left, err := os.ReadDir(folder)
	if err != nil || !slices.EqualFunc(left, []string{"banks.tsv"}, func(e os.DirEntry, name string) bool { return e.Name() == name }) {
		t.Errorf("left behind: %v, %v", left, err)
	}
	writeFile(t, folder, "bad.tsv", "nonsense\n")
	expectOneLine(t, sepad(t, folder, "banks", "check", "bad.tsv"), 1, "bad.tsv")
	expectOneLine(t, sepad(t, folder, "banks", "build", "-o", "x.tsv", "--bundesbank", "nowhere.txt"), 1, "nowhere.txt")
}
