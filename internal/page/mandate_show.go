package page

import (
	"net/http"

	"sepad/internal/limit"
	"sepad/internal/payment"
)

// mandateView is the mandate to print or save.
type mandateView struct {
	view
	Mandate mandate
	// Inline is the style of a file that is saved, which has nobody to ask for it.
	Inline   string
	SaveName string
}

// showMandate answers GET /pay/{token}/mandate/. Before a payment it shows what
// is to be agreed to; afterwards it shows what was, from the evidence, in the
// language in which it was, with the account.
func (p *Page) showMandate(w http.ResponseWriter, r *http.Request) error {
	if err := p.admit(r, limit.Page); err != nil {
		return err
	}
	query := r.URL.Query()
	l := p.chooseLanguage(w, r, query.Get("lang"))
	v, err := p.find(r, l)
	if err != nil {
		return err
	}
	m := v.mandate()
	if v.last != nil && v.stage() != stagePay {
		accepted, err := p.Store.Tenant(v.Session.TenantID).Acceptance(r.Context(), v.last.Transaction.ID)
		if err != nil {
			return err
		}
		if accepted != nil {
			if known := findLanguage(accepted.Language); known != nil {
				v.pageLanguage = known
			}
			m = readMandate(accepted.Text)
		}
		m.Facts = append(m.Facts, v.signature(accepted)...)
	}
	shown := mandateView{view: p.frame(r, v, m.Title), Mandate: m, SaveName: "mandate-" + v.Session.MandateReference + ".html"}
	if query.Has("save") {
		shown.Inline = string(pageStyle())
		w.Header().Set("Content-Disposition", `attachment; filename="`+shown.SaveName+`"`)
	}
	return write(w, r, http.StatusOK, "mandate.html", shown)
}

// signature says who agreed, from which account and when.
func (v visit) signature(accepted *payment.Acceptance) []fact {
	t := v.last.Transaction
	facts := []fact{{v.Holder, t.HolderName}, {v.Account, t.IBANCountry + " •••• " + t.IBANLast4()}}
	if accepted != nil {
		facts = append(facts, fact{v.AgreedOn, v.Date(payment.DateOf(accepted.AcceptedAt)) + ", " + accepted.AcceptedAt.Format("15:04") + " UTC"})
	}
	return facts
}
