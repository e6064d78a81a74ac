package terms

import "sepad/internal/iso20022"

// Rules are what a bank forces upon its customers' files.
type Rules struct {
	DefaultFormat iso20022.Format
	BatchBooking  bool
	// MaxEntries and MaxBytes bound a file; 0 is unlimited.
	MaxEntries, MaxBytes int
	OneDueDate           bool
	// SchemeName repeats the creditor's name beside its identifier.
	SchemeName bool
	Zip        bool
}

// profile is a named set of rules.
type profile struct {
	Name string
	// Source is where the rules are known from.
	Source string
	Rules
}

const generic = "generic"

// profiles are the built-in ones. Each point can be overridden by the setting of its name.
var profiles = []profile{
	{
		Name: generic, Source: "the scheme's rulebook: nothing beyond it",
		Rules: Rules{DefaultFormat: iso20022.Debits08, BatchBooking: true, MaxEntries: 10_000, SchemeName: true},
	},
	{
		Name: "commerzbank-portal", Source: "service.commerzbank.de, upload of direct debits: 999 entries, 2.5 MB, one due date in a file",
		Rules: Rules{DefaultFormat: iso20022.Debits08, BatchBooking: true, MaxEntries: 999, MaxBytes: 2_500_000, OneDueDate: true, SchemeName: true},
	},
	{
		Name: "german-2009", Source: "German banks' restricted form of pain.008.001.02, which has no place for a name beside the identifier",
		Rules: Rules{DefaultFormat: iso20022.Debits02, BatchBooking: true, MaxEntries: 10_000},
	},
	{
		Name: "no-scheme-name", Source: "Project60/org.project60.sepa issue 589: a bank refuses files with the name beside the identifier",
		Rules: Rules{DefaultFormat: iso20022.Debits08, BatchBooking: true, MaxEntries: 10_000},
	},
}

func profileNames() (names []string) {
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	return names
}

// profileOf finds a profile; the table of settings lets no other name through.
func profileOf(name string) profile {
	for _, p := range profiles {
		if p.Name == name {
			return p
		}
	}
	return profiles[0]
}
