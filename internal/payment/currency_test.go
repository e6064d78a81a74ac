package payment

import "testing"

func TestKnownCurrency(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"EUR", "USD", "GBP", "CHF", "PLN", "XCG", "ZWG", "XOF"} {
		if !KnownCurrency(code) {
			t.Errorf("%s is not known", code)
		}
	}
	for _, code := range []string{"", "eur", "EURO", "DEM", "HRK", "BGN", "ANG", "ZWL", "XXX", "XTS", "XAU", "BTC"} {
		if KnownCurrency(code) {
			t.Errorf("%q is taken for a currency", code)
		}
	}
}

func TestTheCurrencyTableIsWholeAndOrdered(t *testing.T) {
	t.Parallel()
	checkCodeTable(t, currencyCodes, 3, 155)
}
