package payment

import "sepad/internal/sepa"

// HasAddress tells whether a bank that asks where the payer lives can be told.
func (l Lead) HasAddress() bool { return l.Address != "" && l.City != "" }

// CheckPayer refuses an account that cannot be collected from with what is known
// of the payer: outside the European Economic Area banks want the address.
func CheckPayer(account sepa.IBAN, payer Lead) error {
	if !sepa.NeedsPayerAddress(account.Country()) || payer.HasAddress() {
		return nil
	}
	return Fields{"iban": "An account outside the European Economic Area is debited only with the payer's address: give lead.address and lead.city when creating the session."}.Err()
}
