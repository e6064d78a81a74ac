package dashboard_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/store"
	"sepad/internal/testenv"
	"sepad/internal/testenv/browser"
)

// patience is how long a page may take to become what it should be.
const patience = 30 * time.Second

// tab is a page of a browser.
type tab struct {
	t   *testing.T
	ctx context.Context
	s   *apptest.Server
}

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// openTab opens a tab beside a server.
func openTab(t *testing.T, s *apptest.Server) *tab {
	t.Helper()
	p := &tab{t, browser.Tab(t, 6*patience), s}
	p.do(chromedp.EmulateViewport(1280, 800))
	return p
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("in the browser: %v\n%s", err, p.text())
	}
}

func (p *tab) text() string {
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	return text
}

func evaluate[T any](p *tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
	return value
}

// await waits until an expression is true of the page, across reloads.
func (p *tab) await(expression string) {
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
			p.t.Fatalf("not in time: %s\n%s", expression, p.text())
		}
	}
}

// awaitHead waits for the page with a heading.
func (p *tab) awaitHead(head string) {
	p.t.Helper()
	p.await(`document.querySelector("h1")?.innerText === "` + head + `"`)
}

// fill types into a field.
func (p *tab) fill(id, text string) {
	p.t.Helper()
	p.do(chromedp.Focus(chromedp.ID(id)), chromedp.KeyEvent(text))
}

// axeFinding is a rule of accessibility that a page breaks.
type axeFinding struct {
	ID, Help string
	Nodes    []struct {
		HTML           string
		FailureSummary string
	}
}

// checkAccessible lets axe look at the page.
func (p *tab) checkAccessible(name string) {
	p.t.Helper()
	script, err := testenv.AxeScript()
	if err != nil {
		testenv.Refuse(p.t, "this test needs axe: "+err.Error())
	}
	if !evaluate[bool](p, `"axe" in window`) {
		p.do(chromedp.Evaluate[chromedp.Void](script))
	}
	options := `{resultTypes: ["violations"]}`
	// A page is the same on both engines, so that one shows it in the dark. That has colours of its own, and nothing else.
	if p.s.Env.Engine == "postgres" {
		options = `{resultTypes: ["violations"], runOnly: ["color-contrast", "link-in-text-block"]}`
		name += " in the dark"
		p.prefer("dark")
		defer p.prefer("light")
	}
	for _, finding := range evaluate[[]axeFinding](p, `axe.run(document, `+options+`).then((r) => r.violations)`) {
		for _, node := range finding.Nodes {
			p.t.Errorf("%s: axe rule %s: %s\n%s\n%s", name, finding.ID, finding.Help, node.HTML, node.FailureSummary)
		}
	}
}

// prefer has the browser ask for light or dark pages. Colours would fade over.
func (p *tab) prefer(scheme string) {
	p.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media); err != nil {
		p.t.Fatal(err)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`document.getAnimations().forEach((a) => a instanceof CSSTransition && a.finish())`))
}

// picture keeps what a page looks like in both sizes, light and dark, for a person.
func (p *tab) picture(name string) {
	p.t.Helper()
	folder := os.Getenv("SEPAD_SCREENSHOTS")
	if folder == "" {
		return
	}
	for look, width := range map[string]int64{"desktop": 1280, "phone": 390} {
		for _, scheme := range []string{"light", "dark"} {
			p.do(chromedp.EmulateViewport(width, 800))
			p.prefer(scheme)
			if wide := evaluate[bool](p, `document.documentElement.scrollWidth > innerWidth`); wide {
				p.t.Errorf("%s is wider than a %s", name, look)
			}
			shot, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
			if err != nil {
				p.t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name+"-"+look+"-"+scheme+".png"), shot, 0o644); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	p.do(chromedp.EmulateViewport(1280, 800))
}

// codeOf is what an authenticator app shows some steps from now for a key that was typed
// into it: a second opinion on ours.
func codeOf(t *testing.T, key string, ahead int64) string {
	t.Helper()
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha1.New, secret)
	_ = binary.Write(mac, binary.BigEndian, clock.Real{}.Now().Unix()/30+ahead)
	sum := mac.Sum(nil)
	at := sum[19] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:at+4])&0x7fffffff%1_000_000)
}

func TestFirstSignInByLink(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const secret = "seven words are a good password"
		_, link, err := s.App.People.Add(t.Context(), "ada@counter.example", store.Administrator, store.TenantSet{All: true})
		if err != nil {
			t.Fatal(err)
		}
		p := openTab(t, s)
		p.do(chromedp.Navigate(link.URL))
		p.awaitHead("Welcome")
		p.picture("welcome")
		key := evaluate[string](p, `document.querySelector(".secret code").innerText`)
		p.fill("password", secret)
		p.fill("again", secret)
		p.fill("code", "000000")
		p.do(chromedp.Click(chromedp.CSS("main button")))
		p.await(`document.querySelector(".problem")?.innerText.startsWith("The code is wrong")`)
		p.fill("password", secret)
		p.fill("again", secret)
		p.fill("code", codeOf(t, key, 0))
		p.do(chromedp.Click(chromedp.CSS("main button")))
		p.awaitHead("Overview")
		p.picture("overview")

		p.do(chromedp.Click(chromedp.CSS(".self summary")), chromedp.Click(chromedp.CSS(".menu button")))
		p.awaitHead("Sign in")
		p.picture("sign-in")
		p.do(chromedp.Navigate(s.URL + "/dashboard/people/"))
		p.awaitHead("Sign in")
		p.fill("email", "ada@counter.example")
		p.fill("password", "not the password")
		p.do(chromedp.Click(chromedp.CSS("main button")))
		p.await(`document.querySelector(".problem")?.innerText === "Email or password is wrong."`)
		p.fill("password", secret)
		p.do(chromedp.Click(chromedp.CSS("main button")))
		p.awaitHead("Second step")
		p.picture("second-step")
		p.fill("code", codeOf(t, key, 1))
		p.do(chromedp.Click(chromedp.CSS("main button")))
		p.awaitHead("People") // where one wanted to go

		p.fill("email", "grace@counter.example")
		p.do(chromedp.Click(chromedp.CSS("main section form button")))
		p.await(`document.querySelector(".once code")?.innerText.includes("/dashboard/welcome/?ticket=")`)
		p.picture("people")
		p.do(chromedp.Navigate(s.URL + "/dashboard/account/"))
		p.awaitHead("Your account")
		p.fill("name", "nightly-export")
		p.do(chromedp.Click(chromedp.CSS(".row button")))
		p.await(`document.querySelector(".once code")?.innerText.startsWith("sat_")`)
		p.picture("account")
		p.do(chromedp.Navigate(s.URL + "/dashboard/audit/"))
		p.awaitHead("Audit trail")
		p.picture("audit")
		for _, action := range []string{"operator.welcome", "operator.sign_in", "operator.sign_out", "operator.create", "token.create"} {
			if !strings.Contains(p.text(), action) {
				t.Errorf("the trail does not show %s", action)
			}
		}
	})
}
