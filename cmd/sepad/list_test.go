package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/merchant"
)

// TestListsOfTheAdminAPI asks what the API answers, beside a server and by its words.
func TestListsOfTheAdminAPI(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := startDev(t, folder, nil)
	sold := s.sell("listed", sandbox.Approved)
	declined := s.sell("refused", sandbox.Approved)
	t.Run("JSON is what the API has", func(t *testing.T) {
		var listed, answered []map[string]any
		decode(t, mustSepad(t, folder, "transactions", "list", "--json", "--status", "approved"), &listed)
		_, body := s.call(http.MethodGet, "/admin/v1/transactions/?status=approved", adminToken(s), "")
		var page struct{ Results []map[string]any }
		decode(t, body, &page)
		answered = page.Results
		if len(listed) != 2 || len(answered) != 2 || listed[0]["id"] != answered[0]["id"] || len(listed[0]) != len(answered[0]) {
			t.Errorf("the command lists %v, the API %v", listed, answered)
		}
	})
	t.Run("a list is cut, and read beyond its pages", func(t *testing.T) {
		var listed []map[string]any
		decode(t, mustSepad(t, folder, "transactions", "list", "--json", "--limit", "1"), &listed)
		if len(listed) != 1 || listed[0]["id"] != declined {
			t.Errorf("listed: %v", listed)
		}
		want(t, mustSepad(t, folder, "transactions", "list", "--limit", "0"), "MERCHANT TRANSACTION ID", sold, declined)
	})
	t.Run("each kind has its list", func(t *testing.T) { listByCommand(t, folder, sold) })
	t.Run("what the API refuses is said in a line", func(t *testing.T) {
		expectOneLine(t, sepad(t, folder, "transactions", "list", "--status", "gone"), 1, "sepad: status has an unknown value.")
		expectOneLine(t, sepad(t, folder, "admin", "GET", "sessions/", "staus=FAILED"), 1, "sepad: staus is not a parameter of this list.")
		expectOneLine(t, sepad(t, folder, "sessions", "show", "nobody"), 1, "not found")
		expectOneLine(t, sepad(t, folder, "leads", "list", "--tenant", "Nobody"), 1, "no tenant has")
	})
	t.Run("what a command changes is changed", func(t *testing.T) { changeByCommand(t, folder, sold) })
}

func listByCommand(t *testing.T, folder, sold string) {
	t.Helper()
	for _, c := range []struct{ args, shows string }{
		{"sessions list --status COMPLETED", "ORDER NUMBER"},
		{"leads list", "listed@shop.example"},
		{"leads list --email LISTED@shop.example --json", `"email": "listed@shop.example"`},
		{"chargebacks list --json", "[]"},
		{"events list --json", "["},
		{"tenants list", "Demo Shop"},
		{"tenants show --json", merchant.DemoTenantID.String()},
		{"setup list offers", "BILLING TYPE"},
		{"setup list campaigns --json", `"gateway_id"`},
		{"import list --json", "[]"},
		{"totals", "COLLECTED AMOUNT"},
		{"payouts --json", "[]"},
		{"bank statements --json", "[]"},
		{"keys list --json", `"prefix"`},
		{"subscriptions list --json", "[]"},
		{"transactions show " + sold, "order.order_number"},
		{"transactions show --json " + sold, `"order": {`},
		{"transactions timeline " + sold, "KIND"},
		{"transactions timeline --json " + sold, `"entries": [`},
		{"sessions timeline " + firstMatch(mustSepad(t, folder, "sessions", "list", "--json"), `"id": "([^"]+)"`), "KIND"},
		{"leads timeline " + firstMatch(mustSepad(t, folder, "leads", "list", "--json"), `"id": "([^"]+)"`), "The payer became known."},
		{"events timeline " + firstMatch(mustSepad(t, folder, "events", "list", "--json"), `"id": "([^"]+)"`), "KIND"},
		{"audit list", "OBJECT TYPE"},
		{"audit list --json", `"action"`},
		{"gateways adapters", "Sandbox"},
		{"gateways settings " + merchant.DemoGatewayID.String() + " --json", `"secrets"`},
		{"admin GET transactions/ status=approved page_size=1", `"next":"`},
		{"admin GET operators/", `"results":`},
		{"admin GET me/", `"actor":"cli:`},
		{"export transactions", sold},
		{"export transactions --json", `"id":"` + sold},
		{"apply -f - --dry-run --json", `"dry_run": true`},
	} {
		t.Run("sepad "+c.args, func(t *testing.T) {
			cmd := command(t, folder, nil, strings.Fields(c.args)...)
			cmd.Stdin = strings.NewReader("tenants:\n  - {id: 018f0000-0000-7000-8000-00000000aa01, name: Tried}\n")
			ran := execute(t, cmd)
			mustSucceed(t, ran)
			want(t, ran.stdout, c.shows)
		})
	}
}

func changeByCommand(t *testing.T, folder, sold string) {
	t.Helper()
	want(t, mustSepad(t, folder, "chargebacks", "add", sold, "--reason-code", "MD06", "--fee", "2.00"), "is recorded")
	expectOneLine(t, sepad(t, folder, "chargebacks", "add", sold), 1, "sepad: ")
	want(t, mustSepad(t, folder, "chargebacks", "list"), "MD06", "2.00")
	offer := firstMatch(mustSepad(t, folder, "setup", "list", "offers", "--json"), `"id": "([^"]+)"`)
	want(t, mustSepad(t, folder, "setup", "change", "offers", offer, "name=Renamed"), "Renamed")
	want(t, mustSepad(t, folder, "setup", "deactivate", "offers", offer), "is switched off")
	want(t, mustSepad(t, folder, "setup", "show", "offers", offer, "--json"), `"name": "Renamed"`, `"active": false`)
	want(t, mustSepad(t, folder, "setup", "add", "webhook-profiles", "name=Second", "url=https://shop.example/hooks"), "Second", "whsec_")
	want(t, mustSepad(t, folder, "tenants", "change", "--tenant", "Demo Shop", "name=Shop of the demo"), "Shop of the demo")
	expectOneLine(t, sepad(t, folder, "tenants", "add", "nam=Other"), 1, "nam")
	want(t, mustSepad(t, folder, "tenants", "add", "name=Other", "--json"), `"name": "Other"`)
}

// TestEveryCommandSpeaksJSON but those that serve, whose output is JSON or for a pipe
// anyway, or that answer with their exit code.
func TestEveryCommandSpeaksJSON(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, kong.Name("sepad"))
	if err != nil {
		t.Fatal(err)
	}
	silent := []string{"dev", "serve", "listen", "trigger", "events tail", "completion", "admin", "leads export", "webhooks verify", "banks build", "docs build"}
	for _, leaf := range parser.Model.Leaves(true) {
		hasJSON := slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "json" })
		name := commandName(leaf)
		if hasJSON == slices.Contains(silent, name) {
			t.Errorf("sepad %s has --json: %t", name, hasJSON)
		}
	}
}

// commandName is what is typed to call a command, without its arguments.
func commandName(leaf *kong.Node) string {
	words := strings.Fields(strings.TrimPrefix(leaf.Path(), "sepad "))
	if end := slices.IndexFunc(words, func(word string) bool { return strings.ContainsAny(word, "<[(") }); end >= 0 {
		words = words[:end]
	}
	return strings.Join(words, " ")
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func TestApplyDryRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	mustSepad(t, folder, "migrate")
	write(t, folder, "shop.yaml", "tenants:\n  - id: 018f0000-0000-7000-8000-00000000aa01\n    name: Tried\n    api_keys:\n      - name: backend\n")
	out := mustSepad(t, folder, "apply", "-f", "shop.yaml", "--dry-run")
	want(t, out, "created", "Tried", "2 created, 0 changed, 0 unchanged", "Nothing was changed.")
	if strings.Contains(out, "rk_test_") {
		t.Errorf("a key is shown that does not exist:\n%s", out)
	}
	if list := mustSepad(t, folder, "tenants", "list", "--json"); strings.TrimSpace(list) != "[]" {
		t.Errorf("after a dry run there are %s", list)
	}
}

func TestRejectedLinesAreGivenBack(t *testing.T) {
	t.Parallel()
	folder := withShop(t)
	write(t, folder, "may.csv", processorHeader+"P-1;approved;12,50;EUR;31.03.2026\nP-2;approved;nothing;EUR;31.03.2026\n")
	ran := sepad(t, folder, "import", "transactions", "-g", "Main account", "--rejected", "rejected.csv", "--json", "may.csv")
	if ran.code != exitLeftOver {
		t.Errorf("ended with %d: %s", ran.code, ran.stderr)
	}
	var done struct {
		Counts   map[string]int
		Rejected []struct {
			Line int
			Text string
		} `json:"rejected_lines"`
	}
	decode(t, ran.stdout, &done)
	if done.Counts["rejected"] != 1 || done.Rejected[0].Line != 3 || done.Rejected[0].Text != "P-2;approved;nothing;EUR;31.03.2026" {
		t.Errorf("it says %+v", done)
	}
	rejected, err := os.ReadFile(filepath.Join(folder, "rejected.csv"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, string(rejected), "line,reason,text\n3,", "P-2;approved;nothing;EUR;31.03.2026")
	want(t, mustSepad(t, folder, "import", "list"), "transactions", "completed")
}
