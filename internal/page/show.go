package page

import (
	"net/http"

	"sepad/internal/limit"
)

// show answers GET /pay/{token}/.
func (p *Page) show(w http.ResponseWriter, r *http.Request) error {
	if err := p.admit(r, limit.Page); err != nil {
		return err
	}
	v, err := p.find(r, p.chooseLanguage(w, r, r.URL.Query().Get("lang")))
	if err != nil {
		return err
	}
	return p.showStage(w, r, http.StatusOK, v)
}

// showStage shows how the session stands. One remark comes with the address,
// and it is no result: that the payer has just asked the bank.
func (p *Page) showStage(w http.ResponseWriter, r *http.Request, status int, v visit) error {
	at := v.stage()
	switch {
	case at == stagePay && v.isFirst():
		return p.showFirst(w, r, status, v)
	case at == stagePay && v.draft != nil:
		return p.showForm(w, r, status, v, v.formWith(v.draft.input))
	case at == stagePay:
		return p.showForm(w, r, status, v, v.form())
	}
	if at != stageProcessing && at != stageVerify {
		p.dropDraft(w, r, v.Session)
	}
	res := v.result(at)
	res.Unconfirmed = r.URL.Query().Has("checked")
	shown := p.frame(r, v, res.Title)
	shown.Stage, shown.Result = at, res
	shown.Reload = pause(res, at)
	return write(w, r, status, "page.html", shown)
}

// showForm shows the form with what is in it.
func (p *Page) showForm(w http.ResponseWriter, r *http.Request, status int, v visit, f formView) error {
	return write(w, r, status, "page.html", p.withForm(r, v, f))
}

func (p *Page) withForm(r *http.Request, v visit, f formView) view {
	shown := p.frame(r, v, fill(v.PayTitle, "merchant", v.Tenant.Name))
	shown.Order.Plan = v.plan()
	f.TestIBANs = p.testIBANs(v)
	shown.Stage, shown.Form = stagePay, &f
	shown.Trust = v.trust(p.Checkout.PublicURL)
	return shown
}

// Seconds that a browser without our script waits before it looks again.
const (
	reloadSoon  = 3
	reloadLater = 10
)

// pause tells after how many seconds the browser looks again, 0 for never.
func pause(res *resultView, at stage) int {
	switch {
	case at != stageProcessing:
		return 0
	case res.Long:
		return reloadLater
	default:
		return reloadSoon
	}
}
