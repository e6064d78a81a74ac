package page

import (
	"net/http"

	"sepad/internal/limit"
)

// returnToShop answers GET /pay/{token}/return/: a payer comes from the bank whose
// payment the merchant's server has submitted, and goes on to where the merchant
// asks what became of it. Gateways know our address alone, since what is added to
// the merchant's is known only once they have answered.
func (p *Page) returnToShop(w http.ResponseWriter, r *http.Request) error {
	if err := p.admit(r, limit.Page); err != nil {
		return err
	}
	v, err := p.find(r, p.chooseLanguage(w, r, ""))
	if err != nil {
		return err
	}
	target := p.Checkout.PaymentURL(v.Session.Token)
	if v.last != nil && v.Session.Options.ReturnURL != "" {
		target = withQuery(v.Session.Options.ReturnURL,
			"session_token", v.Session.Token, "verification_id", v.last.Transaction.VerificationReference)
	}
	w.Header().Set("Location", target)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", referrer)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
