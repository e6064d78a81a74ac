package page_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axePackage is the accessibility checker, by its name in the registry of npm.
const axePackage = "axe-core@4.14.0"

// loadAxe gives the checker's script. It is fetched once and kept among the
// user's caches: it serves tests alone and is no part of the project.
func loadAxe(t testing.TB) string {
	t.Helper()
	script, err := axeScript()
	if err != nil {
		missing(t, axePackage, err.Error())
	}
	return script
}

var axeScript = sync.OnceValues(func() (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(caches, "sepad-test")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	archive := filepath.Join(folder, strings.ReplaceAll(axePackage, "@", "-")+".tgz")
	if _, err := os.Stat(archive); err != nil {
		if err := exec.Command("npm", "pack", "--silent", "--pack-destination", folder, axePackage).Run(); err != nil {
			return "", errors.New("npm could not fetch it: " + err.Error())
		}
	}
	return readFromArchive(archive, "package/axe.min.js")
})

func readFromArchive(archive, name string) (string, error) {
	file, err := os.Open(archive)
	if err != nil {
		return "", err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return "", err
	}
	for entries := tar.NewReader(unpacked); ; {
		entry, err := entries.Next()
		if err != nil {
			return "", err
		}
		if entry.Name == name {
			content, err := io.ReadAll(entries)
			return string(content), err
		}
	}
}

// axeFinding is a rule that a page breaks.
type axeFinding struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// checkAccessible lets axe look at the page as it is, with every rule, or with some
// only. What was loaded without scripts stays so; only axe itself needs them.
func (p *tab) checkAccessible(name string, only ...string) {
	p.t.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	if !evaluate[bool](p, `"axe" in window`) {
		p.do(chromedp.Evaluate[chromedp.Void](p.b.axe))
	}
	options := map[string]any{"resultTypes": []string{"violations"}}
	if p.look.scriptless {
		// Only browsers without scripts are told to reload by themselves, and what
		// they wait for is a payment's own pace.
		options["rules"] = map[string]any{"meta-refresh": map[string]bool{"enabled": false}}
	}
	if len(only) > 0 {
		options["runOnly"] = only
	}
	text, err := json.Marshal(options)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, finding := range evaluate[[]axeFinding](p, `axe.run(document, `+string(text)+`).then((r) => r.violations)`) {
		for _, node := range finding.Nodes {
			p.t.Errorf("%s (%s): axe rule %s: %s\n%s\n%s", name, p.look.name, finding.ID, finding.Help, node.HTML, node.Summary)
		}
	}
}

// call sends a command of the browser's protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, command, params); err != nil {
		p.t.Fatalf("in the browser (%s): %v", p.look.name, err)
	}
}
