package checkout

import (
	"errors"

	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// Instrument reads the account that a payer gives. What is wrong with it is
// said in bad; the texts are the same for the API and the page.
func (c *Checkout) Instrument(ibanText, holderName string, bad payment.Fields) payment.Instrument {
	iban, err := sepa.ParseIBAN(ibanText)
	if wrong, ok := errors.AsType[*sepa.IBANError](err); ok {
		bad.Add("iban", wrong.Error())
	} else if !sepa.InScheme(iban.Country(), c.now()) {
		bad.Add("iban", "Accounts in this country cannot be debited by SEPA direct debit.")
	}
	bank, _ := c.Banks(iban)
	return payment.Instrument{IBAN: iban, HolderName: holderName, Bank: bank}
}
