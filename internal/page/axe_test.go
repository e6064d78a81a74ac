package page_test

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sepad/internal/testenv"
)

// loadAxe gives the accessibility checker's script.
func loadAxe(t testing.TB) string {
	t.Helper()
	script, err := testenv.AxeScript()
	if err != nil {
		testenv.Refuse(t, "this test needs axe: "+err.Error())
	}
	return script
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

// colourRules are axe's rules about colours.
var colourRules = []string{"color-contrast", "link-in-text-block"}

// ruleSet are the rules that axe holds a page to.
type ruleSet int

const (
	everyRule ruleSet = iota
	coloursAlone
	allButColours
)

// options are those of axe's run.
func (r ruleSet) options(isScriptless bool) map[string]any {
	options, rules := map[string]any{"resultTypes": []string{"violations"}}, map[string]any{}
	off := map[string]bool{"enabled": false}
	switch r {
	case coloursAlone:
		options["runOnly"] = colourRules
	case allButColours:
		for _, rule := range colourRules {
			rules[rule] = off
		}
	}
	if isScriptless {
		// Only browsers without scripts are told to reload by themselves, and what
		// they wait for is a payment's own pace.
		rules["meta-refresh"] = off
	}
	options["rules"] = rules
	return options
}

// checkAccessible lets axe look at the page as it is. What was loaded without scripts stays so; only axe itself needs them.
func (p *tab) checkAccessible(name string, rules ruleSet) {
	p.t.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	if !evaluate[bool](p, `"axe" in window`) {
		p.do(chromedp.Evaluate[chromedp.Void](p.b.axe))
	}
	text, err := json.Marshal(rules.options(p.look.scriptless))
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
