// Package browser gives tests tabs of a Chromium.
//
// One Chromium serves all tests of a package: starting it takes more of a processor than
// most tests in it. A tab has cookies and storage of its own and closes with its test.
//
//	func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }
//
//	ctx := browser.Tab(t, time.Minute)
//	err := chromedp.Do(ctx, chromedp.Navigate(address))
//
// Nothing but this machine is found by its name: no test asks anybody else for anything.
package browser

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sepad/internal/testenv"
)

// startPatience is how long Chromium may take to come up on a busy machine.
const startPatience = time.Minute

var (
	start = sync.OnceValues(launch)
	end   = func() {}
)

// Main runs the tests of a package and ends their browser.
func Main(m *testing.M) int {
	defer func() { end() }()
	return m.Run()
}

// Tab opens a tab for a test, which has so long for everything that it does in it.
func Tab(t testing.TB, patience time.Duration) context.Context {
	t.Helper()
	browser, err := start()
	if errors.Is(err, exec.ErrNotFound) {
		testenv.Refuse(t, "this test needs chromium-headless-shell: it is not installed (make test installs it)")
	}
	if err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	ctx, leave := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(leave)
	ctx, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	// A tab that another test's tab takes the focus from would lose keys that are pressed in it.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	return ctx
}

// find prefers Chromium without windows, menus and all that is drawn around a page: they take half of the processor
// in one that only hides them. Debian's script of that name would leave it behind when a test is killed.
func find() (string, error) {
	const shell = "/usr/lib/chromium/chromium-headless-shell"
	if _, err := os.Stat(shell); err == nil {
		return shell, nil
	}
	return exec.LookPath("chromium")
}

func launch() (context.Context, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "sepad-browser-")
	if err != nil {
		return nil, err
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-features", "OptimizationHints,MediaRouter,Translate,AutofillServerCommunication"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"),
		// Tabs beside each other must not be taken for ones that nobody sees.
		chromedp.Flag("disable-background-timer-throttling", true), chromedp.Flag("disable-renderer-backgrounding", true),
		chromedp.Flag("disable-backgrounding-occluded-windows", true),
		// A key pressed between a page's arrival and its first frame is dropped by Chromium, which no person is quick
		// enough to meet and a test on a busy machine is.
		chromedp.Flag("allow-pre-commit-input", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("lang", "en-GB"),
		// Nobody looks for long enough at a page that making machine code of its scripts, or painting it in a process of its
		// own, were worth what it costs: together a fifth of the processor.
		chromedp.Flag("js-flags", "--no-opt --no-maglev"), chromedp.Flag("in-process-gpu", true), chromedp.Flag("disable-gpu-compositing", true),
		chromedp.UserDataDir(folder), chromedp.WSURLReadTimeout(startPatience))
	ctx, leave := chromedp.NewContext(allocator)
	end = func() {
		leave()
		stop()
		_ = os.RemoveAll(folder)
	}
	return ctx, chromedp.Do(ctx)
}
