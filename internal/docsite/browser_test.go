package docsite_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sepad/internal/docsite"
	"sepad/internal/testenv"
	"sepad/internal/testenv/browser"
)

// screenshotsVariable says where pictures are kept; without it none are taken.
const screenshotsVariable = "SEPAD_SCREENSHOTS"

const patience = time.Minute

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// tab is a page in a browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func openTab(t *testing.T) tab {
	t.Helper()
	return tab{t, browser.Tab(t, 10*patience)}
}

func (p tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
}

func evaluate[T any](p tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("evaluate in the browser: %v", err)
	}
	return value
}

// await waits until an expression is true of the page.
func (p tab) await(expression string) {
	p.t.Helper()
	ticker, limit := time.NewTicker(25*time.Millisecond), time.After(patience)
	defer ticker.Stop()
	for {
		if so, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !!(`+expression+`)`)); err == nil && so {
			return
		}
		select {
		case <-ticker.C:
		case <-limit:
			p.t.Fatalf("not in time: %s", expression)
		}
	}
}

// looksOfPages are the pages that differ in kind.
var looksOfPages = []string{"index.html", "getting-started.html", "webhooks.html", "api.html", "api-payment-sessions.html", "api-errors.html", "operator-api-customers.html"}

// TestThePagesAreAccessible lets axe look at every kind of page, on a desk and on a
// phone, light and dark; nothing may be wider than the screen.
func TestThePagesAreAccessible(t *testing.T) {
	t.Parallel()
	axe, err := testenv.AxeScript()
	if err != nil {
		testenv.Refuse(t, "this test needs axe: "+err.Error())
	}
	server := httptest.NewServer(docsite.Handler(sources()))
	t.Cleanup(server.Close)
	p := openTab(t)
	for _, look := range []struct {
		name   string
		width  int64
		scheme string
	}{{"desk", 1440, "light"}, {"phone-dark", 390, "dark"}} {
		p.do(chromedp.EmulateViewport(look.width, 900))
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}}
		if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media); err != nil {
			t.Fatal(err)
		}
		for _, name := range looksOfPages {
			p.do(chromedp.Navigate(server.URL + "/docs/" + name))
			p.await(`!document.querySelector(".search").hidden`)
			if wider := evaluate[float64](p, `document.documentElement.scrollWidth - innerWidth`); wider > 0 {
				t.Errorf("%s is %v pixels wider than the screen (%s)", name, wider, look.name)
			}
			p.do(chromedp.Evaluate[chromedp.Void](axe))
			for _, finding := range evaluate[[]string](p, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes[0].html))`) {
				t.Errorf("%s (%s): axe: %s", name, look.name, finding)
			}
			p.keep(look.name + "-" + strings.TrimSuffix(name, ".html"))
		}
	}
}

// keep takes a picture for a person to look at.
func (p tab) keep(name string) {
	p.t.Helper()
	folder := os.Getenv(screenshotsVariable)
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "docs-"+name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestTheSearchAsksNobody finds things behind this process and from a folder, with the
// keyboard alone.
func TestTheSearchAsksNobody(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(docsite.Handler(sources()))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	if err := build(t).Write(folder); err != nil {
		t.Fatal(err)
	}
	p := openTab(t)
	for name, address := range map[string]string{
		"served": server.URL + "/docs/", "served above its folder": server.URL + "/docs", "in a folder": "file://" + filepath.Join(folder, "index.html"),
	} {
		p.do(chromedp.Navigate(address))
		p.await(`!document.querySelector(".search").hidden`)
		p.do(chromedp.KeyEvent("/"))
		p.await(`document.activeElement.id === "search"`)
		// The driver also types the key that the page has taken.
		p.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.value = ""`), chromedp.KeyEvent("when to ship"))
		p.await(`document.querySelector("#found-0")`)
		if got := evaluate[string](p, `document.querySelector("#found-0 strong").textContent`); got != "When to ship" {
			t.Errorf("%s: the best is %q", name, got)
		}
		p.do(chromedp.KeyEvent("\r"))
		p.await(`location.href.endsWith("webhooks.html#when-to-ship")`)
	}
}

// TestALanguageIsKept: who reads Go once is shown Go on the next page.
func TestALanguageIsKept(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(docsite.Handler(sources()))
	t.Cleanup(server.Close)
	p := openTab(t)
	const shown = `[...document.querySelectorAll(".tabs")].every((group) => group.querySelectorAll(".code:not([hidden])").length === 1)`
	p.do(chromedp.Navigate(server.URL + "/docs/api-payment-sessions.html"))
	p.await(shown)
	p.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("[role=tab]")].find((tab) => tab.textContent === "Go").click()`))
	p.do(chromedp.Navigate(server.URL + "/docs/reconciliation.html"))
	p.await(shown + ` && document.querySelector("[role=tab][aria-selected=true]").textContent === "Go"`)
}
