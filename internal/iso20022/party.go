package iso20022

import (
	"strings"

	"sepad/internal/sepa"
)

// Party is the holder of an account.
type Party struct {
	Name    string
	Address Address
	Account sepa.IBAN
	// BIC is optional: banks of the scheme find each other by IBAN.
	BIC string
}

// Address in its parts. Since November 2026 banks refuse addresses that are lines only, so that one without town and
// country cannot be written.
type Address struct {
	Street, Building, PostCode, Town string
	Country                          string // two capital letters
}

func (a Address) isEmpty() bool { return a == Address{} }

// writeAgent names the bank of a party. Whoever does not know the BIC says so in the words of the scheme.
func (m *message) writeAgent(element, bic string) {
	m.open(element)
	m.open("FinInstnId")
	switch {
	case bic == "" || m.format.isOld() && !isOldBIC(bic):
		m.open("Othr")
		m.leaf("Id", "NOTPROVIDED")
		m.close("Othr")
	case m.format.isOld():
		m.leaf("BIC", bic)
	default:
		m.leaf("BICFI", bic)
	}
	m.close("FinInstnId")
	m.close(element)
}

// isOldBIC tells the codes that the older schema knows: letters only in front, and no 0, 1 or O where the place begins.
// A newer one is left out rather than have the whole file refused for it.
func isOldBIC(bic string) bool {
	for i := range 6 {
		if bic[i] < 'A' || bic[i] > 'Z' {
			return false
		}
	}
	return bic[6] != '0' && bic[6] != '1' && bic[7] != 'O'
}

// writeHolder names a party: its name and, where it is known, its address.
func (m *message) writeHolder(element string, party Party) {
	m.open(element)
	m.text("Nm", party.Name, maxName)
	if !party.Address.isEmpty() {
		m.open("PstlAdr")
		if m.format.isOld() {
			m.writeAddressLines(party.Address)
		} else {
			m.text("StrtNm", party.Address.Street, maxStreet)
			m.text("BldgNb", party.Address.Building, maxBuilding)
			m.text("PstCd", party.Address.PostCode, maxPostCode)
			m.text("TwnNm", party.Address.Town, maxTown)
			m.leaf("Ctry", party.Address.Country)
		}
		m.close("PstlAdr")
	}
	m.close(element)
}

// writeAddressLines is the only form that the restricted schema of the older versions knows.
func (m *message) writeAddressLines(address Address) {
	m.leaf("Ctry", address.Country)
	m.text("AdrLine", strings.TrimSpace(address.Street+" "+address.Building), maxLine)
	m.text("AdrLine", strings.TrimSpace(address.PostCode+" "+address.Town), maxLine)
}

func (m *message) writeAccount(element string, account sepa.IBAN) {
	m.open(element)
	m.open("Id")
	m.leaf("IBAN", account.Electronic())
	m.close("Id")
	m.close(element)
}
