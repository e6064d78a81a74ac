package page_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sepad/internal/testenv"
)

// lighthousePackage judges pages; it too is kept among the user's caches.
const lighthousePackage = "lighthouse@12.8.2"

var lighthouseProgram = sync.OnceValues(func() (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(caches, "sepad-test", strings.ReplaceAll(lighthousePackage, "@", "-"))
	program := filepath.Join(folder, "node_modules", "lighthouse", "cli", "index.js")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, lighthousePackage).Run(); err != nil {
		return "", errors.New("npm could not fetch it: " + err.Error())
	}
	return program, nil
})

// verdict is what Lighthouse says of a page.
type verdict struct {
	Environment struct {
		Speed float64 `json:"benchmarkIndex"`
	} `json:"environment"`
	Categories map[string]struct {
		Score float64 `json:"score"`
	} `json:"categories"`
	Audits map[string]struct {
		Score   *float64        `json:"score"`
		Number  float64         `json:"numericValue"`
		Display string          `json:"displayValue"`
		Details json.RawMessage `json:"details"`
	} `json:"audits"`
}

// requests are how many the page took.
func (v verdict) requests() int {
	var made struct {
		Items []struct{} `json:"items"`
	}
	_ = json.Unmarshal(v.Audits["network-requests"].Details, &made) // none then, which is wrong too
	return len(made.Items)
}

// judgedInTheMiddle is the one whose performance is neither the best nor the worst: one load among three is often
// disturbed by the machine.
func judgedInTheMiddle(verdicts ...verdict) verdict {
	slices.SortFunc(verdicts, func(a, b verdict) int {
		return cmp.Compare(a.Categories["performance"].Score, b.Categories["performance"].Score)
	})
	return verdicts[len(verdicts)/2]
}

// TestLighthouse lets Lighthouse load the form as a slow phone would. It runs by
// itself (make lighthouse), for what it makes of times holds only on a machine that
// has time for it: a busy one is several times slower than the slowest phone.
func TestLighthouse(t *testing.T) {
	if os.Getenv("SEPAD_TEST_LIGHTHOUSE") != "1" {
		t.Skip("make lighthouse runs this test")
	}
	const fastEnough, most, mostRequests = 1000, 60 << 10, 5
	program, err := lighthouseProgram()
	if err != nil {
		testenv.Refuse(t, "this test needs "+lighthousePackage+": "+err.Error())
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		testenv.Refuse(t, "this test needs Chromium: it is not installed")
	}
	s := openShop(t)
	judge := func() (v verdict) {
		command := exec.CommandContext(t.Context(), "node", program, s.URL+path(s.session(t, premiumCampaign)), "--quiet",
			"--output=json", "--output-path=stdout", "--only-categories=performance,accessibility,best-practices",
			"--chrome-flags=--headless --no-sandbox --disable-dev-shm-usage --user-data-dir="+t.TempDir())
		command.Env = append(os.Environ(), "CHROME_PATH="+chromium)
		said, err := command.Output()
		if err != nil {
			t.Fatalf("Lighthouse: %v", err)
		}
		if err := json.Unmarshal(said, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := judgedInTheMiddle(judge(), judge(), judge())
	for _, category := range []string{"accessibility", "best-practices", "performance"} {
		score := v.Categories[category].Score
		t.Logf("%s is %.2f, by a machine of %.0f", category, score, v.Environment.Speed)
		if category == "performance" && score < 1 && v.Environment.Speed < fastEnough {
			t.Log("the machine is too busy to tell")
			continue
		}
		if score < 1 {
			t.Errorf("%s is %.2f: %v", category, score, v.wanting())
		}
	}
	if shift := v.Audits["cumulative-layout-shift"].Number; shift != 0 {
		t.Errorf("the page moves by %v while it loads", shift)
	}
	if weight := v.Audits["total-byte-weight"].Number; weight <= 0 || weight > most {
		t.Errorf("the page weighs %v bytes", weight)
	}
	if requests := v.requests(); requests == 0 || requests > mostRequests {
		t.Errorf("the page takes %d requests", requests)
	}
}

// wanting are the rules that a page does not meet.
func (v verdict) wanting() (rules []string) {
	for name, audit := range v.Audits {
		if audit.Score != nil && *audit.Score < 1 {
			rules = append(rules, name+" "+audit.Display)
		}
	}
	return rules
}
