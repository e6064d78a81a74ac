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
	query := r.URL.Query()
	v, err := p.find(r, p.chooseTongue(w, r, query.Get("lang")))
	if err != nil {
		return err
	}
	return p.showStage(w, r, http.StatusOK, v)
}

// showStage shows how the session stands. Two remarks come with the address and
// neither is a result: that the payer wants to stay, and has just asked the bank.
func (p *Page) showStage(w http.ResponseWriter, r *http.Request, status int, v visit) error {
	at := v.stage()
	if at == stagePay {
		return p.showForm(w, status, v, v.form())
	}
	query := r.URL.Query()
	res := v.result(at, query.Has("stay"))
	res.Unconfirmed = query.Has("checked")
	shown := v.frame(res.Title)
	shown.Stage, shown.Result, shown.TestMode = at, res, p.testIBANs(v) != nil
	shown.Reload, shown.Leave = pause(res, at)
	if res.Tone == toneBad || res.Tone == toneNeutral {
		shown.Creditor = "" // nothing is collected, so nobody who does is named
	}
	return write(w, status, "page.html", shown)
}

// showForm shows the form with what is in it.
func (p *Page) showForm(w http.ResponseWriter, status int, v visit, f formView) error {
	shown := v.frame(fill(v.PayTitle, "merchant", v.Tenant.Name))
	order := v.order()
	f.TestIBANs = p.testIBANs(v)
	shown.Stage, shown.Order, shown.Form, shown.TestMode = stagePay, &order, &f, f.TestIBANs != nil
	return write(w, status, "page.html", shown)
}

// Seconds that a browser waits before it looks again or leads on.
const (
	reloadSoon  = 3
	reloadLater = 10
	leaveAfter  = 6
)

// pause tells after how many seconds the browser looks again or goes on.
func pause(res *resultView, at stage) (reload, leave int) {
	switch {
	case res.Leaving:
		return 0, leaveAfter
	case at == stageProcessing && res.Long:
		return reloadLater, 0
	case at == stageProcessing:
		return reloadSoon, 0
	default:
		return 0, 0
	}
}
