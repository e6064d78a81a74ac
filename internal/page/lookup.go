package page

import (
	"net/http"

	"sepad/internal/limit"
	"sepad/internal/sepa"
	"sepad/internal/web"
)

type bankBody struct {
	BankName *string `json:"bank_name"`
}

// lookUpBank answers POST /pay/{token}/bank/ for a session that can be paid. The
// IBAN comes in the body: addresses are written down on their way.
func (p *Page) lookUpBank(w http.ResponseWriter, r *http.Request) error {
	if _, err := p.findPayable(w, r, limit.IBANValidate); err != nil {
		return err
	}
	var body bankBody
	if iban, err := sepa.ParseIBAN(cleanIBAN(r.PostFormValue(fieldIBAN))); err == nil {
		if bank, found := p.Checkout.Banks(iban); found && bank.Name != "" {
			name := readableName(bank.Name)
			body.BankName = &name
		}
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}

type stateBody struct {
	State stage `json:"state"`
}

// showState answers GET /pay/{token}/state/, by which the script learns without
// a reload that a payment was settled.
func (p *Page) showState(w http.ResponseWriter, r *http.Request) error {
	if err := p.admit(r, limit.Page); err != nil {
		return err
	}
	v, err := p.find(r, languages[0])
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, stateBody{v.stage()})
	return nil
}
