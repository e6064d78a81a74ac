package sepa

import (
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// cleanBankName mends what the lists are known to get wrong, and nothing else: the spelling of a name is its bank's.
func cleanBankName(country, name string) string {
	if country == "SI" {
		name = readAsCentralEuropean(name)
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, name)
	name = strings.TrimPrefix(strings.Join(strings.Fields(name), " "), "'")
	switch country {
	case "DE":
		// The Bundesbank marks bank codes that live on after a merger; a payer knows the bank without the mark.
		name = strings.TrimSuffix(name, " -alt-")
	case "HU":
		name, _ = cutAfterLegalForm(name)
	case "SI":
		for _, branch := range []string{" POSLOVALNICA ", " CENTRALA "} {
			name, _, _ = strings.Cut(name, branch)
		}
		name = strings.TrimSuffix(name, ",")
	}
	for len(name) > maxBankNameLength {
		name = name[:strings.LastIndexByte(name, ' ')]
	}
	return name
}

// readAsCentralEuropean undoes what happened to Slovenia's list: its bytes are Windows-1250 and were read as ISO 8859-1,
// which turned Č into È and Ž into a control character.
func readAsCentralEuropean(name string) string {
	bytes, err := charmap.ISO8859_1.NewEncoder().String(name)
	if err != nil {
		return name
	}
	mended, err := charmap.Windows1250.NewDecoder().String(bytes)
	if err != nil {
		return name
	}
	return mended
}

// cutAfterLegalForm shortens "K&H Bank Zrt. 242 Pécs" to the bank: Hungary's list names branches.
func cutAfterLegalForm(name string) (short string, found bool) {
	for _, form := range []string{" Nyrt.", " Zrt."} {
		if bank, _, cut := strings.Cut(name, form); cut {
			return bank + form, true
		}
	}
	return name, false
}

// nameHungarianBanks gives a branch without a legal form in its name ("OTP Budapesti r., I. Iskola u.") the name of the
// bank that has the same BIC and the same first word. Of several the shortest is the parent.
func nameHungarianBanks(banks map[string]Bank) {
	parents := map[string]string{}
	for _, bank := range banks {
		if _, found := cutAfterLegalForm(bank.Name); !found {
			continue
		}
		group := hungarianGroup(bank)
		if parent := parents[group]; parent == "" || len(bank.Name) < len(parent) || len(bank.Name) == len(parent) && bank.Name < parent {
			parents[group] = bank.Name
		}
	}
	for code, bank := range banks {
		if _, found := cutAfterLegalForm(bank.Name); found {
			continue
		}
		if parent := parents[hungarianGroup(bank)]; parent != "" {
			banks[code] = Bank{Name: parent, BIC: bank.BIC}
		}
	}
}

func hungarianGroup(bank Bank) string {
	firstWord, _, _ := strings.Cut(bank.Name, " ")
	return bank.BIC + " " + firstWord
}
