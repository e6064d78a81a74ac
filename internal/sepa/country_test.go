package sepa

import (
	"slices"
	"strings"
	"testing"
)

func TestCountries(t *testing.T) {
	t.Parallel()
	countries := Countries()
	if len(countries) != len(ibanRegistry) {
		t.Fatalf("%d countries, the registry has %d", len(countries), len(ibanRegistry))
	}
	if !slices.IsSortedFunc(countries, func(a, b Country) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("not ordered by code")
	}
	germany := countries[slices.IndexFunc(countries, func(c Country) bool { return c.Code == "DE" })]
	if germany != (Country{Code: "DE", Length: 22, BBAN: "8!n10!n"}) {
		t.Errorf("Germany is %+v", germany)
	}
}
