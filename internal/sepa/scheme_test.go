package sepa

import (
	"strings"
	"testing"
	"time"
)

func TestInScheme(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		country string
		on      time.Time
		want    bool
	}{
		{"DE", schemeDay(2026, 11, 1), true},
		{"GB", schemeDay(2026, 11, 1), true},
		{"CH", schemeDay(2026, 11, 1), true},
		{"DE", schemeDay(2009, 11, 1), false},
		{"HR", schemeDay(2013, 6, 30), false},
		{"HR", schemeDay(2013, 7, 1), true},
		{"AD", schemeDay(2019, 2, 28), false},
		{"VA", schemeDay(2019, 3, 1), true},
		{"ME", schemeDay(2025, 10, 5), false},
		{"MD", schemeDay(2025, 10, 6), true},
		{"AL", schemeDay(2025, 10, 6), false},
		{"MK", schemeDay(2025, 10, 7), true},
		{"RS", schemeDay(2026, 5, 4), false},
		{"RS", schemeDay(2026, 5, 5), true},
		{"XK", schemeDay(2026, 11, 1), false},
		{"TR", schemeDay(2026, 11, 1), false},
		{"de", schemeDay(2026, 11, 1), false},
		{"", schemeDay(2026, 11, 1), false},
	} {
		if got := InScheme(test.country, test.on); got != test.want {
			t.Errorf("%q on %s: %v", test.country, test.on.Format(time.DateOnly), got)
		}
	}
}

func TestTheSchemeTableHoldsCountriesWithIBANs(t *testing.T) {
	t.Parallel()
	// The 41 countries of the schemes, and Gibraltar with a country code of its own.
	if len(schemeStart) != 42 {
		t.Errorf("%d entries", len(schemeStart))
	}
	for country := range schemeStart {
		if layoutFor(country[0], country[1]) == nil {
			t.Errorf("%s has no IBANs", country)
		}
	}
}

func TestAccountsOutsideTheEEANeedThePayersAddress(t *testing.T) {
	t.Parallel()
	for _, country := range strings.Fields("CH GB MC SM AD VA GI JE GG IM AL MD ME MK RS") {
		if !NeedsPayerAddress(country) {
			t.Errorf("%s is collected without an address", country)
		}
	}
	for _, country := range append(strings.Fields("TR US XK"), eea...) {
		if NeedsPayerAddress(country) {
			t.Errorf("%s needs no address", country)
		}
	}
	for _, country := range eea {
		if _, known := schemeStart[country]; !known {
			t.Errorf("%s is not in the schemes", country)
		}
	}
	if len(eea) != 30 {
		t.Errorf("%d countries", len(eea))
	}
}
