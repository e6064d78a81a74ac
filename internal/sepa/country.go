package sepa

// Country is the form of one country's IBANs, for whoever must check them where this package cannot run: in a browser.
type Country struct {
	Code   string
	Length int    // of the whole IBAN
	BBAN   string // what follows the check digits, in the registry's notation ("8!n10!n")
}

// Countries lists every country that has IBANs, ordered by code.
func Countries() []Country {
	countries := make([]Country, len(ibanRegistry))
	for i := range ibanRegistry {
		entry := &ibanRegistry[i]
		countries[i] = Country{Code: entry.code, Length: ibanLayouts[i+1].length, BBAN: entry.bban}
	}
	return countries
}
