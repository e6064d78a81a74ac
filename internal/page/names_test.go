package page_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"

	"sepad/internal/app/apptest"
)

// spoken is a node as a screen reader gets it.
type spoken struct{ role, name string }

// tree is the page as the browser hands it to screen readers.
func (p *tab) tree() (nodes []spoken) {
	p.t.Helper()
	full, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		p.t.Fatalf("the accessibility tree (%s): %v", p.look.name, err)
	}
	text := func(value *accessibility.Value) (text string) {
		if value != nil {
			_ = json.Unmarshal(value.Value, &text)
		}
		return strings.TrimSpace(text)
	}
	for _, node := range full.Nodes {
		if !node.Ignored {
			nodes = append(nodes, spoken{text(node.Role), text(node.Name)})
		}
	}
	return nodes
}

// controls are the roles that a payer can do something with.
var controls = []string{"button", "link", "textbox", "checkbox", "DisclosureTriangle", "heading", "image", "main", "region"}

// checkNames expects that everything that is used has a name, through the
// browser's own reckoning: a rule about markup does not see what it makes of it.
func (p *tab) checkNames(page string) {
	p.t.Helper()
	for _, node := range p.tree() {
		if slices.Contains(controls, node.role) && node.name == "" && node.role != "main" {
			p.t.Errorf("%s (%s): a %s has no name", page, p.look.name, node.role)
		}
	}
}

func TestControlsHaveTheirNames(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	p := b.open(t, desktop)
	p.visit(path(b.shop.session(t, premiumCampaign)))
	p.awaitStage("pay")
	nodes := p.tree()
	for _, want := range []spoken{
		{"button", "Pay €29.99, then every month"},
		{"textbox", "IBAN"},
		{"textbox", "Account holder"},
		{"checkbox", "I authorise Bergladen GmbH to collect these payments from my account and instruct my bank to honour them."},
		{"DisclosureTriangle", "Language: English"},
		{"DisclosureTriangle", "Read the mandate"},
		{"link", "Back to Bergladen"},
		{"link", "Terms"},
		{"heading", "Pay from your bank account"},
		{"heading", "When your account is debited"},
	} {
		if !slices.Contains(nodes, want) {
			t.Errorf("%v is missing in %v", want, nodes)
		}
	}
	if live := slices.DeleteFunc(slices.Clone(nodes), func(n spoken) bool { return n.role != "status" }); len(live) != 2 {
		t.Errorf("while there is nothing to say the live regions are %v, want the bank's and the progress", live)
	}
	p.fillIn(apptest.Approved)
	p.do(chromedp.Evaluate[chromedp.Void](`HTMLFormElement.prototype.submit = () => {}; document.getElementById("pay").addEventListener("submit", (e) => e.preventDefault())`))
	p.clickPay()
	p.await(`document.querySelector("button.main").getAttribute("aria-busy") === "true"`)
	if !slices.Contains(p.tree(), spoken{"button", "Submitting…"}) {
		t.Errorf("the busy button is not named: %v", p.tree())
	}
}
