package sepa

import (
	"strings"
	"testing"
)

func TestParseCreditorIdentifier(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want, fault string }{
		{"the German example", "DE98ZZZ09999999999", "DE98ZZZ09999999999", ""},
		{"another business code needs no other check digits", "DE98AB109999999999", "DE98AB109999999999", ""},
		{"spaces and lower case are normalised", "de98 zzz 0999 9999 999", "DE98ZZZ09999999999", ""},
		{"an Austrian one", "AT61ZZZ01234567890", "AT61ZZZ01234567890", ""},
		{"a country of which no length is known", "NO38ZZZ123456785", "NO38ZZZ123456785", ""},
		{"a wrong check digit", "DE97ZZZ09999999999", "", "check digits"},
		{"two swapped digits", "DE98ZZZ99099999999", "", "check digits"},
		{"a length that the country does not have", "DE98ZZZ0999999999", "", "has 17 characters; one of DE has 18"},
		{"a country with two lengths", "BE98ZZZ012345678", "", "one of BE has 17 or 20"},
		{"a country outside SEPA", "US98ZZZ09999999999", "", "no country of SEPA"},
		{"no national part", "DE98ZZZ", "", "such as"},
		{"too long for the scheme", "SE98ZZZ" + strings.Repeat("1", 29), "", "such as"},
		{"letters for check digits", "DEXXZZZ09999999999", "", "such as"},
		{"digits for the country", "1298ZZZ09999999999", "", "such as"},
		{"other characters", "DE98ZZZ0999999-999", "", "such as"},
		{"characters that are none of ASCII", "DE98ZZZ0999999999９", "", "such as"},
		{"nothing", "", "", "such as"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseCreditorIdentifier(test.text)
			if test.fault == "" {
				if err != nil || got != test.want {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.fault) || got != "" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestEveryFixedLengthBelongsToACountryOfSEPA(t *testing.T) {
	t.Parallel()
	for country := range creditorLengths {
		if _, known := schemeStart[country]; !known {
			t.Errorf("%s is no country of SEPA", country)
		}
	}
}
