package payment

import (
	"slices"
	"strings"
	"testing"
)

func TestKnownCountry(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"DE", "AT", "FR", "GB", "CH", "SS", "CW", "ZW"} {
		if !KnownCountry(code) {
			t.Errorf("%s is not known", code)
		}
	}
	for _, code := range []string{"", "D", "de", "DEU", "UK", "EU", "XK", "AN", "ZZ", "D "} {
		if KnownCountry(code) {
			t.Errorf("%q is taken for a country", code)
		}
	}
}

func TestTheCountryTableIsWholeAndOrdered(t *testing.T) {
	t.Parallel()
	checkCodeTable(t, countryCodes, 2, 249)
}

func checkCodeTable(t *testing.T, table string, length, count int) {
	t.Helper()
	codes := strings.Fields(table)
	if len(codes) != count || !slices.IsSorted(codes) || len(slices.Compact(slices.Clone(codes))) != count {
		t.Errorf("%d codes, ordered: %v; want %d different ones", len(codes), slices.IsSorted(codes), count)
	}
	for _, code := range codes {
		if len(code) != length || strings.ToUpper(code) != code {
			t.Errorf("%q is no code", code)
		}
	}
}
