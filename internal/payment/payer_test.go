package payment

import (
	"strings"
	"testing"

	"sepad/internal/sepa"
)

func TestCheckPayer(t *testing.T) {
	t.Parallel()
	const swiss, british, german = "CH9300762011623852957", "GB82WEST12345698765432", "DE89370400440532013000"
	for _, test := range []struct {
		name, iban string
		lead       Lead
		refused    bool
	}{
		{"within the European Economic Area nobody asks", german, Lead{}, false},
		{"a Swiss account without an address", swiss, Lead{}, true},
		{"a British account without a town", british, Lead{Address: "1 High Street", PostalCode: "E1"}, true},
		{"a Swiss account without a street", swiss, Lead{City: "Bern"}, true},
		{"a Swiss account with an address", swiss, Lead{Address: "Gasse 1", City: "Bern"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			account, err := sepa.ParseIBAN(test.iban)
			if err != nil {
				t.Fatal(err)
			}
			err = CheckPayer(account, test.lead)
			if (err != nil) != test.refused || err != nil && strings.Contains(err.Error(), test.iban[4:]) {
				t.Errorf("gave %v", err)
			}
		})
	}
}
