package payment

import "sepad/internal/sepa"

// HasAddress tells whether a bank that asks where the payer lives can be told.
func (l Lead) HasAddress() bool { return l.Address != "" && l.City != "" }

// LacksAddress tells whether an account of a country cannot be collected from with
// what is known of the payer.
func (l Lead) LacksAddress(accountCountry string) bool {
	return sepa.NeedsPayerAddress(accountCountry) && !l.HasAddress()
}

// CheckPayer refuses an account that cannot be collected from with what is known
// of the payer: outside the European Economic Area banks want the address.
func CheckPayer(account sepa.IBAN, payer Lead) error {
	if !payer.LacksAddress(account.Country()) {
		return nil
	}
	return Fields{"iban": "An account outside the European Economic Area is debited only with the payer's address: give lead.address and lead.city when creating the session."}.Err()
}
