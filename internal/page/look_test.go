package page_test

import (
	"testing"

	protocol "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// rounds are the looks of a page, those together that one load can show: what a
// style sheet alone decides needs no other. Without scripts a page may load itself
// again while axe has them switched on, so that each look there has a load of its own.
var rounds = [][]look{
	{desktop, desktop.inDark(), phone, phone.inDark(), phone.enlarged(2), phone.withoutMotion()},
	{desktop.in("de"), phone.in("de")},
	{desktop.withoutScript()},
	{phone.withoutScript()},
}

// TestLooks shows every stage in every look: axe finds nothing, nothing asks
// another host, and where pictures are wanted they are kept for a person to look at.
func TestLooks(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	for _, one := range stages {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			page, p := one.make(t, b.shop), b.open(t, desktop)
			p.stay()
			for _, looks := range rounds {
				p.lookAs(looks[0])
				p.visit(page)
				if one.name != "bank" {
					p.awaitStage(one.stage)
				}
				p.await(`document.querySelector("main")`)
				for _, l := range looks {
					p.lookAs(l)
					// Colours would fade over.
					p.do(chromedp.Evaluate[chromedp.Void](`document.getAnimations().forEach((a) => a instanceof CSSTransition && a.finish())`))
					p.checkLook(one.name)
				}
			}
		})
	}
}

// checkLook holds the page, as it is looked at, to everything.
func (p *tab) checkLook(name string) {
	p.t.Helper()
	p.screenshot(name)
	p.checkNames(name)
	p.checkFits(name)
	switch {
	case p.look.reducedMotion: // axe does not see motion
		if moving := evaluate[int](p, `document.getAnimations().length`); moving > 0 {
			p.t.Errorf("%s (%s): %d things move", name, p.look.name, moving)
		}
	case p.look.dark: // the dark has colours of its own, and nothing else
		p.checkAccessible(name, coloursAlone)
	case p.look.hasKnownColours(): // most of axe's time goes into colours
		p.checkAccessible(name, allButColours)
	default:
		p.checkAccessible(name, everyRule)
	}
	if elsewhere := p.requestsElsewhere(); len(elsewhere) > 0 || len(p.problems) > 0 {
		p.t.Errorf("(%s) asked %v, complained %v", p.look.name, elsewhere, p.problems)
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
