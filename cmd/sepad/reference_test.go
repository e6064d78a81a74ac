package main

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	document "sepad"
	"sepad/internal/docsite"
)

// referencePages are those that show calls, in their order.
var referencePages = []string{"payment-sessions", "bank-accounts", "transactions", "subscriptions", "events", "reconciliation"}

var (
	blockPattern = regexp.MustCompile(`(?s)<div class="code"><p class="caption">([^<]*)</p><pre[^>]*><code>(.*?)</code></pre>`)
	spanPattern  = regexp.MustCompile(`</?span[^>]*>`)
)

// samplesOf are the calls of a page in a language.
func samplesOf(page, language string) (samples []string) {
	for _, block := range blockPattern.FindAllStringSubmatch(page, -1) {
		if block[1] == language {
			samples = append(samples, html.UnescapeString(spanPattern.ReplaceAllString(block[2], "")))
		}
	}
	return samples
}

// TestReferenceCanBePasted runs the commands of the reference with what each request
// example says, as a developer does who has just started sepad dev.
func TestReferenceCanBePasted(t *testing.T) {
	t.Parallel()
	needCurl(t)
	folder := t.TempDir()
	s := startDev(t, folder, nil)
	script, count, created := "API_KEY=$(cat .sepad/api-key)\n", 0, false
	for _, name := range referencePages {
		_, page := s.call(http.MethodGet, "/docs/api-"+name+".html", "", "")
		for _, line := range samplesOf(page, "curl") {
			count++
			if strings.Contains(line, `/payment-sessions/" \`) && strings.Contains(line, "-d '") {
				created = true
				line = "ANSWER=$(" + line + `); echo "$ANSWER"; TOKEN=$(echo "$ANSWER" | grep -o 'ps_[A-Za-z0-9_-]*' | head -n 1); echo "$TOKEN"`
			}
			if strings.Contains(line, "/verify/") || strings.Contains(line, "/cancel/") {
				continue // not after the payment before them
			}
			if strings.Contains(line, "$ID") || strings.Contains(line, "$REFERENCE") {
				continue // it names a record, which the reader has
			}
			script += line + "\necho\n"
		}
	}
	if !created || count < 20 {
		t.Fatalf("%d commands were found, a create among them: %t", count, created)
	}
	shown := runScript(t, folder, script)
	for _, want := range []string{`"session_token":"ps_`, `"status":"completed"`, `"valid":true`} {
		if !strings.Contains(shown, want) {
			t.Errorf("nothing shows %s:\n%s\n%s", want, script, shown)
		}
	}
}

// TestTheReferencesCodeIsRight has every call of the reference compiled, or read by its
// language. Variables that a reader has are given.
func TestTheReferencesCodeIsRight(t *testing.T) {
	t.Parallel()
	site, err := docsite.Build(docsite.Sources{OpenAPI: document.OpenAPI, AdminAPI: document.AdminAPI, Files: document.Documents, PublicURL: "https://pay.shop.example"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		language, before, after, file string
		judge                         []string
	}{
		{
			"Go", "package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"os\"\n\t\"time\"\n\n\tsepad \"sepad/sdk/go\"\n)\n\n" +
				"var _ = fmt.Println\n\nfunc call(ctx context.Context, token, id, reference, place string, from time.Time) error {\n",
			"\nreturn nil\n}\n\nfunc main() { _ = call }\n", "call%[1]d/main.go", []string{"go", "vet", "./..."},
		},
		{
			"TypeScript", "import { Sepad } from \"sepad\";\nasync function call(token, id, reference, place) {\n", "\n}\nexport { call };\n",
			"call%[1]d.mjs", []string{"node", "--input-type=module", "-e", "for (let i = 0; i < COUNT; i++) await import(process.cwd() + `/call${i}.mjs`);"},
		},
		{"Python", "", "\n", "call%[1]d.py", []string{"python3", "-m", "compileall", "-q", "."}},
	} {
		t.Run(test.language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(test.judge[0]); err != nil {
				t.Skipf("%s is not installed: its calls are not read", test.judge[0])
			}
			folder := t.TempDir()
			offerLibraries(t, folder)
			count := 0
			for _, name := range referencePages {
				for _, sample := range samplesOf(string(site["api-"+name+".html"]), test.language) {
					path := filepath.Join(folder, fmt.Sprintf(test.file, count))
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(test.before+sample+test.after), 0o600); err != nil {
						t.Fatal(err)
					}
					count++
				}
			}
			if count < 20 {
				t.Fatalf("only %d calls are shown", count)
			}
			judge := slices.Clone(test.judge)
			judge[len(judge)-1] = strings.ReplaceAll(judge[len(judge)-1], "COUNT", fmt.Sprint(count))
			cmd := exec.CommandContext(t.Context(), judge[0], judge[1:]...)
			cmd.Dir = folder
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
