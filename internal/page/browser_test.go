package page_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	chromium "sepad/internal/testenv/browser"
)

// screenshotsVariable says where pictures are kept; without it none are taken, for
// nothing looks at them but people.
const screenshotsVariable = "SEPAD_SCREENSHOTS"

// patience is how long a page may take to become what it should be.
const patience = 30 * time.Second

// browser is a payer's, beside a shop.
type browser struct {
	axe  string
	shop *shop
}

// openBrowser opens a shop for a browser.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	return &browser{axe: loadAxe(t), shop: openShop(t)}
}

func TestMain(m *testing.M) { os.Exit(chromium.Main(m)) }

// look is how a page is looked at.
type look struct {
	name          string
	width, height int64
	dark          bool
	scriptless    bool
	language      string
	reducedMotion bool
	// zoom enlarges everything, as the payer's browser would; 0 is 1.
	zoom float64
}

var (
	desktop = look{name: "desktop", width: 1280, height: 800}
	phone   = look{name: "phone", width: 390, height: 844}
)

func (l look) inDark() look             { l.dark = true; l.name += "-dark"; return l }
func (l look) withoutScript() look      { l.scriptless = true; l.name += "-noscript"; return l }
func (l look) in(language string) look  { l.language = language; l.name += "-" + language; return l }
func (l look) enlarged(by float64) look { l.zoom = by; l.name += "-zoomed"; return l }
func (l look) withoutMotion() look      { l.reducedMotion = true; l.name += "-still"; return l }

// hasKnownColours tells that another look has shown these colours: neither another language nor larger letters change
// them, and what is said without scripts is said on a desktop as well.
func (l look) hasKnownColours() bool {
	return l.language != "" || l.zoom > 1 || l.scriptless && l.width == phone.width
}

func (l look) feature(on bool, yes, no string) string {
	if on {
		return yes
	}
	return no
}

// tab is one page of a browser, with cookies and storage of its own.
type tab struct {
	t    *testing.T
	ctx  context.Context
	b    *browser
	look look

	mu       sync.Mutex
	requests []string
	problems []string
}

// open makes a tab. What it asks for and complains of is remembered.
func (b *browser) open(t *testing.T, l look) *tab {
	t.Helper()
	p := &tab{t: t, ctx: chromium.Tab(t, 4*patience), b: b}
	p.lookAs(l)
	p.watch()
	return p
}

// lookAs changes how the next page is looked at.
func (p *tab) lookAs(l look) {
	p.t.Helper()
	p.look = l
	zoom := max(l.zoom, 1)
	p.do(chromedp.EmulateViewport(int64(float64(l.width)/zoom), int64(float64(l.height)/zoom), chromedp.EmulateScale(zoom)))
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: l.feature(l.dark, "dark", "light")},
		{Name: "prefers-reduced-motion", Value: l.feature(l.reducedMotion, "reduce", "no-preference")},
	}})
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: l.scriptless})
	language := cmp.Or(l.language, "en-GB")
	call(p, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": language}})
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("in the browser (%s): %v\n%s", p.look.name, err, p.text())
	}
}

// watch notes requests, and complaints about scripts and policies.
func (p *tab) watch() {
	requests := chromedp.Events(p.ctx, network.RequestWillBeSent)
	exceptions := chromedp.Events(p.ctx, runtime.ExceptionThrown)
	console := chromedp.Events(p.ctx, runtime.ConsoleAPICalled)
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			p.note(&p.requests, e.Request.URL)
		}
	}()
	go func() {
		for e, err := range exceptions {
			if err != nil {
				return
			}
			p.note(&p.problems, e.ExceptionDetails.Text)
		}
	}()
	go func() {
		for e, err := range console {
			if err != nil {
				return
			}
			if e.Type == "error" {
				p.note(&p.problems, "console error")
			}
		}
	}()
}

func (p *tab) note(list *[]string, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, text)
}

// requestsElsewhere are those to other hosts.
func (p *tab) requestsElsewhere() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.requests), func(address string) bool {
		return strings.HasPrefix(address, p.b.shop.URL+"/")
	})
}

// visit loads an address of the service.
func (p *tab) visit(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.b.shop.URL + path))
}

// evaluate asks the page something; it works without the page's own scripts.
func evaluate[T any](p *tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("evaluate in the browser (%s): %v", p.look.name, err)
	}
	return value
}

func (p *tab) text() string {
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	return text
}

// await waits until an expression is true of the page, across reloads.
func (p *tab) await(expression string) {
	p.t.Helper()
	ticker, limit := time.NewTicker(25*time.Millisecond), time.After(patience)
	defer ticker.Stop()
	for {
		// A page that is being replaced cannot answer: asked again, its
		// successor can.
		if so, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !!(`+expression+`)`)); err == nil && so {
			return
		}
		select {
		case <-ticker.C:
		case <-limit:
			p.t.Fatalf("(%s) not in time: %s\n%s", p.look.name, expression, p.text())
		}
	}
}

// awaitStage waits for a stage of the payment.
func (p *tab) awaitStage(stage string) {
	p.t.Helper()
	p.await(`document.body.dataset.stage === "` + stage + `"`)
}

// screenshot keeps a picture of the whole page for a person to look at.
func (p *tab) screenshot(name string) {
	p.t.Helper()
	folder := os.Getenv(screenshotsVariable)
	if folder == "" {
		return
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		p.t.Fatal(err)
	}
	const quality = 100 // PNG
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(quality))
	if err != nil {
		p.t.Fatalf("screenshot: %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+"-"+p.look.name+".png"), picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
