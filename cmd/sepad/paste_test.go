package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	document "sepad"
)

// The info string of a block in the documents says what the paste test does with
// it: "sh run" is run, "go run", "ts run" and "python run" are where the language is
// installed, and "json shows" or "text shows" after them says what the block before
// has printed; several in a row are the same in several languages. JSON is compared by the fields that are named, text by its
// lines; … stands for anything.
const (
	runMark   = "sh run"
	jsonMark  = "json shows"
	textMark  = "text shows"
	plainMark = "sh"
)

// languages are how blocks that are no shell are run from one. %s is the block.
var languages = map[string]struct{ program, script string }{
	"go run":     {"go", "mkdir -p go%[2]d && cat > go%[2]d/main.go <<'END OF BLOCK'\n%[1]sEND OF BLOCK\ngo run ./go%[2]d\n"},
	"ts run":     {"node", "cat > block%[2]d.mjs <<'END OF BLOCK'\n%[1]sEND OF BLOCK\nnode block%[2]d.mjs\n"},
	"python run": {"python3", "python3 - <<'END OF BLOCK'\n%[1]sEND OF BLOCK\n"},
}

// notRun are the blocks that the test cannot run, and why.
var notRun = map[string]string{
	"go run ./cmd/sepad dev\n": "the test has started this server",
	"make test\n":              "the test would run itself",
}

// documentedURL is where the documents say that sepad dev is.
const documentedURL = "http://127.0.0.1:8080"

// TestDocumentsCanBePasted runs what README and guides tell to paste, each document
// in one shell, in an empty folder beside a fresh sepad dev.
func TestDocumentsCanBePasted(t *testing.T) {
	t.Parallel()
	needCurl(t)
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatalf("no guides: %v", err)
	}
	for _, path := range append(guides, "../../README.md") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			s := startDev(t, folder, nil)
			offerLibraries(t, folder)
			blocks := blocksOf(strings.ReplaceAll(string(text), documentedURL, s.url))
			for i, shown := range paste(t, folder, blocks) {
				blocks[i].expect(t, shown)
			}
		})
	}
}

// TestEveryExampleOfCreateWorks sends each to a fresh sepad dev, for a customer of
// its own: one has one open session at a time.
func TestEveryExampleOfCreateWorks(t *testing.T) {
	t.Parallel()
	var contract struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct {
						Examples map[string]struct {
							Value map[string]any
						}
					}
				} `yaml:"requestBody"`
			}
		}
	}
	if err := yaml.Unmarshal(document.OpenAPI, &contract); err != nil {
		t.Fatal(err)
	}
	s := startDev(t, t.TempDir(), nil)
	examples := contract.Paths["/api/v1/payment-sessions/"].Post.RequestBody.Content["application/json"].Examples
	if len(examples) == 0 {
		t.Fatal("there is none")
	}
	for name, example := range examples {
		example.Value["lead"].(map[string]any)["email"] = name + "@shop.example"
		body, err := json.Marshal(example.Value)
		if err != nil {
			t.Fatal(err)
		}
		if status, answer := s.call(http.MethodPost, "/api/v1/payment-sessions/", s.key, string(body)); status != http.StatusCreated {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
}

func needCurl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("this test needs curl, which is not installed")
	}
}

// block is a fenced block of a document.
type block struct {
	line       int
	info, text string
	// promises are the blocks that say what it shows.
	promises []block
}

// blocksOf gives the blocks that are run, with what is promised of each.
func blocksOf(document string) (run []block) {
	var open *block
	for i, line := range strings.SplitAfter(document, "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{line: i + 1, info: strings.TrimSpace(info)}
		case fence:
			run = open.filed(run)
			open = nil
		case open != nil:
			open.text += line
		}
	}
	return run
}

func (b block) filed(run []block) []block {
	_, isProgram := languages[b.info]
	switch {
	case b.info == runMark, b.info == plainMark, isProgram:
		return append(run, b)
	case b.info == jsonMark, b.info == textMark:
		for i := len(run) - 1; i >= 0; i-- {
			run[i].promises = append(run[i].promises, b)
			if run[i].info == runMark || i == 0 || run[i-1].info == runMark || len(run[i-1].promises) > 0 {
				break
			}
		}
	}
	return run
}

// offerLibraries puts the client libraries where programs in a folder find them.
func offerLibraries(t *testing.T, folder string) {
	t.Helper()
	libraries, err := filepath.Abs("../../sdk")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, folder, "go.mod", "module pasted\n\ngo 1.24\n\nrequire sepad/sdk/go v0.0.0\n\nreplace sepad/sdk/go => "+filepath.Join(libraries, "go")+"\n")
	if err := os.Mkdir(filepath.Join(folder, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(libraries, "typescript"), filepath.Join(folder, "node_modules", "sepad")); err != nil {
		t.Fatal(err)
	}
}

// script is what runs the block in a shell, or why it cannot be run here.
func (b block) script(number int) (script, reason string) {
	if b.info == runMark {
		return b.text, ""
	}
	language, known := languages[b.info]
	if !known {
		return "", notRun[b.text]
	}
	if _, err := exec.LookPath(language.program); err != nil {
		return "", language.program + " is not installed"
	}
	return fmt.Sprintf(language.script, b.text, number), ""
}

// paste runs the blocks in one shell and gives what each has printed.
func paste(t *testing.T, folder string, blocks []block) map[int]string {
	t.Helper()
	const end = "=== end of block"
	script := ""
	isRun := map[int]bool{}
	for i, b := range blocks {
		text, reason := b.script(i)
		switch {
		case text != "":
			isRun[i] = true
			script += text + fmt.Sprintf("\nprintf '\\n%s %d\\n'\n", end, i)
		case reason == "":
			t.Errorf("line %d: a block that is not marked %q and has no reason not to be:\n%s", b.line, runMark, b.text)
		default:
			t.Logf("line %d is not run: %s", b.line, reason)
		}
	}
	if script == "" {
		t.Fatal("nothing can be run")
	}
	shown, rest := map[int]string{}, runScript(t, folder, script)
	for i, b := range blocks {
		if isRun[i] {
			var found bool
			if shown[i], rest, found = strings.Cut(rest, fmt.Sprintf("%s %d\n", end, i)); !found {
				t.Fatalf("line %d: the block did not come to its end:\n%s\n%s", b.line, b.text, shown[i])
			}
		}
	}
	return shown
}

// runScript runs a shell in which this sepad is found, and in which an answer of 400
// or more is a failure.
func runScript(t *testing.T, folder, script string) string {
	t.Helper()
	writeFile(t, folder, ".curlrc", "fail-with-body\nnoproxy = \"*\"\n")
	cmd := command(t, folder, []string{
		"CURL_HOME=" + folder, "PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH"),
	})
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args = shell, []string{"sh", "-euc", script}
	r := execute(t, cmd)
	if r.code != 0 {
		t.Errorf("exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// expect holds what a block has shown against what is promised of it.
func (b block) expect(t *testing.T, shown string) {
	t.Helper()
	for _, promise := range b.promises {
		if promise.info == textMark {
			for line := range strings.Lines(promise.text) {
				pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", ".*")
				if !regexp.MustCompile(pattern).MatchString(shown) {
					t.Errorf("line %d: %q is promised, and shown is\n%s", promise.line, line, shown)
				}
			}
			continue
		}
		var want, got any
		if err := json.Unmarshal([]byte(promise.text), &want); err != nil {
			t.Fatalf("line %d: %v", promise.line, err)
		}
		if err := json.Unmarshal([]byte(shown), &got); err != nil || !includes(got, want) {
			t.Errorf("line %d: promised is\n%s\nand shown is (%v)\n%s", promise.line, promise.text, err, shown)
		}
	}
}

// includes tells whether a value has everything that is wanted of it.
func includes(got, want any) bool {
	if want == "…" {
		return got != nil
	}
	members, isObject := want.(map[string]any)
	if !isObject {
		return reflect.DeepEqual(got, want)
	}
	object, _ := got.(map[string]any)
	for key, value := range members {
		if !includes(object[key], value) {
			return false
		}
	}
	return true
}
