package page_test

import (
	"testing"

	protocol "github.com/chromedp/cdproto/page"
)

// TestLooks shows every stage in every look: axe finds nothing, nothing asks
// another host, and a picture is kept for a person to look at.
func TestLooks(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	looks := []look{
		desktop, phone, desktop.inDark(), phone.inDark(), desktop.in("de"), phone.in("de"),
		desktop.withoutScript(), phone.withoutScript(), phone.enlarged(2), phone.withoutMotion(),
	}
	for _, one := range stages {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			page := one.make(t, b.shop)
			p := b.open(t, desktop)
			p.stay()
			for _, l := range looks {
				p.lookAs(l)
				p.visit(page)
				if one.name != "bank" {
					p.awaitStage(one.stage)
				}
				p.await(`document.querySelector("main")`)
				p.screenshot(one.name)
				p.checkAccessible(one.name)
				p.checkNames(one.name)
				p.checkFits(one.name)
				if elsewhere := p.requestsElsewhere(); len(elsewhere) > 0 || len(p.problems) > 0 {
					t.Errorf("(%s) asked %v, complained %v", l.name, elsewhere, p.problems)
				}
			}
		})
	}
}

// stay keeps a page that leads to the bank by itself from doing so while it is
// looked at.
func (p *tab) stay() {
	p.t.Helper()
	call(p, protocol.AddScriptToEvaluateOnNewDocument, protocol.AddScriptToEvaluateOnNewDocumentParams{
		Source: `{ const later = setTimeout; window.setTimeout = (work, pause, ...more) => (pause === 2500 ? 0 : later(work, pause, ...more)); }`,
	})
}

// checkFits holds the page to its width, also when it is enlarged.
func (p *tab) checkFits(name string) {
	p.t.Helper()
	if wide := evaluate[int](p, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
		p.t.Errorf("%s (%s): %d pixels stick out", name, p.look.name, wide)
	}
}
