package sepa

import "strconv"

// ibanCountry is one country's entry in the IBAN registry.
type ibanCountry struct {
	code      string
	name      string
	adjective string
	bban      string // the registry's notation: n is a digit, a an upper-case letter, c either
	bankFrom  int    // the bank code's place in the BBAN, half-open
	bankTo    int
}

// ibanRegistry retypes the facts of the IBAN registry that SWIFT keeps for ISO 13616, release 102 of June 2026:
// prefix, structure and bank identifier position of its 89 countries. Czechia's structure is the one of its IBAN line.
var ibanRegistry = [...]ibanCountry{
	{"AD", "Andorra", "Andorran", "4!n4!n12!c", 0, 4},
	{"AE", "United Arab Emirates", "Emirati", "3!n16!n", 0, 3},
	{"AL", "Albania", "Albanian", "8!n16!c", 0, 3},
	{"AT", "Austria", "Austrian", "5!n11!n", 0, 5},
	{"AZ", "Azerbaijan", "Azerbaijani", "4!a20!c", 0, 4},
	{"BA", "Bosnia and Herzegovina", "Bosnian", "3!n3!n8!n2!n", 0, 3},
	{"BE", "Belgium", "Belgian", "3!n7!n2!n", 0, 3},
	{"BG", "Bulgaria", "Bulgarian", "4!a4!n2!n8!c", 0, 4},
	{"BH", "Bahrain", "Bahraini", "4!a14!c", 0, 4},
	{"BI", "Burundi", "Burundian", "5!n5!n11!n2!n", 0, 5},
	{"BR", "Brazil", "Brazilian", "8!n5!n10!n1!a1!c", 0, 8},
	{"BY", "Belarus", "Belarusian", "4!c4!n16!c", 0, 4},
	{"CH", "Switzerland", "Swiss", "5!n12!c", 0, 5},
	{"CR", "Costa Rica", "Costa Rican", "4!n14!n", 0, 4},
	{"CY", "Cyprus", "Cypriot", "3!n5!n16!c", 0, 3},
	{"CZ", "Czechia", "Czech", "4!n6!n10!n", 0, 4},
	{"DE", "Germany", "German", "8!n10!n", 0, 8},
	{"DJ", "Djibouti", "Djiboutian", "5!n5!n11!n2!n", 0, 5},
	{"DK", "Denmark", "Danish", "4!n9!n1!n", 0, 4},
	{"DO", "Dominican Republic", "Dominican", "4!c20!n", 0, 4},
	{"EE", "Estonia", "Estonian", "2!n14!n", 0, 2},
	{"EG", "Egypt", "Egyptian", "4!n4!n17!n", 0, 4},
	{"ES", "Spain", "Spanish", "4!n4!n1!n1!n10!n", 0, 4},
	{"FI", "Finland", "Finnish", "3!n11!n", 0, 3},
	{"FK", "Falkland Islands", "Falkland Islands", "2!a12!n", 0, 2},
	{"FO", "Faroe Islands", "Faroese", "4!n9!n1!n", 0, 4},
	{"FR", "France", "French", "5!n5!n11!c2!n", 0, 5},
	{"GB", "United Kingdom", "British", "4!a6!n8!n", 0, 4},
	{"GE", "Georgia", "Georgian", "2!a16!n", 0, 2},
	{"GI", "Gibraltar", "Gibraltar", "4!a15!c", 0, 4},
	{"GL", "Greenland", "Greenlandic", "4!n9!n1!n", 0, 4},
	{"GR", "Greece", "Greek", "3!n4!n16!c", 0, 3},
	{"GT", "Guatemala", "Guatemalan", "4!c20!c", 0, 4},
	{"HN", "Honduras", "Honduran", "4!a20!n", 0, 4},
	{"HR", "Croatia", "Croatian", "7!n10!n", 0, 7},
	{"HU", "Hungary", "Hungarian", "3!n4!n1!n15!n1!n", 0, 3},
	{"IE", "Ireland", "Irish", "4!a6!n8!n", 0, 4},
	{"IL", "Israel", "Israeli", "3!n3!n13!n", 0, 3},
	{"IQ", "Iraq", "Iraqi", "4!a3!n12!n", 0, 4},
	{"IS", "Iceland", "Icelandic", "4!n2!n6!n10!n", 0, 2},
	{"IT", "Italy", "Italian", "1!a5!n5!n12!c", 1, 6},
	{"JO", "Jordan", "Jordanian", "4!a4!n18!c", 0, 4},
	{"KW", "Kuwait", "Kuwaiti", "4!a22!c", 0, 4},
	{"KZ", "Kazakhstan", "Kazakh", "3!n13!c", 0, 3},
	{"LB", "Lebanon", "Lebanese", "4!n20!c", 0, 4},
	{"LC", "Saint Lucia", "Saint Lucian", "4!a24!c", 0, 4},
	{"LI", "Liechtenstein", "Liechtenstein", "5!n12!c", 0, 5},
	{"LT", "Lithuania", "Lithuanian", "5!n11!n", 0, 5},
	{"LU", "Luxembourg", "Luxembourg", "3!n13!c", 0, 3},
	{"LV", "Latvia", "Latvian", "4!a13!c", 0, 4},
	{"LY", "Libya", "Libyan", "3!n3!n15!n", 0, 3},
	{"MC", "Monaco", "Monegasque", "5!n5!n11!c2!n", 0, 5},
	{"MD", "Moldova", "Moldovan", "2!c18!c", 0, 2},
	{"ME", "Montenegro", "Montenegrin", "3!n13!n2!n", 0, 3},
	{"MK", "North Macedonia", "North Macedonian", "3!n10!c2!n", 0, 3},
	{"MN", "Mongolia", "Mongolian", "4!n12!n", 0, 4},
	{"MR", "Mauritania", "Mauritanian", "5!n5!n11!n2!n", 0, 5},
	{"MT", "Malta", "Maltese", "4!a5!n18!c", 0, 4},
	{"MU", "Mauritius", "Mauritian", "4!a2!n2!n12!n3!n3!a", 0, 6},
	{"NI", "Nicaragua", "Nicaraguan", "4!a20!n", 0, 4},
	{"NL", "Netherlands", "Dutch", "4!a10!n", 0, 4},
	{"NO", "Norway", "Norwegian", "4!n6!n1!n", 0, 4},
	{"OM", "Oman", "Omani", "3!n16!c", 0, 3},
	{"PK", "Pakistan", "Pakistani", "4!a16!c", 0, 4},
	{"PL", "Poland", "Polish", "8!n16!n", 0, 8},
	{"PS", "Palestine", "Palestinian", "4!a21!c", 0, 4},
	{"PT", "Portugal", "Portuguese", "4!n4!n11!n2!n", 0, 4},
	{"QA", "Qatar", "Qatari", "4!a21!c", 0, 4},
	{"RO", "Romania", "Romanian", "4!a16!c", 0, 4},
	{"RS", "Serbia", "Serbian", "3!n13!n2!n", 0, 3},
	{"RU", "Russia", "Russian", "9!n5!n15!c", 0, 9},
	{"SA", "Saudi Arabia", "Saudi", "2!n18!c", 0, 2},
	{"SC", "Seychelles", "Seychellois", "4!a2!n2!n16!n3!a", 0, 6},
	{"SD", "Sudan", "Sudanese", "2!n12!n", 0, 2},
	{"SE", "Sweden", "Swedish", "3!n16!n1!n", 0, 3},
	{"SI", "Slovenia", "Slovenian", "5!n8!n2!n", 0, 5},
	{"SK", "Slovakia", "Slovak", "4!n6!n10!n", 0, 4},
	{"SM", "San Marino", "San Marino", "1!a5!n5!n12!c", 1, 6},
	{"SO", "Somalia", "Somali", "4!n3!n12!n", 0, 4},
	{"ST", "São Tomé and Príncipe", "Santomean", "4!n4!n11!n2!n", 0, 4},
	{"SV", "El Salvador", "Salvadoran", "4!a20!n", 0, 4},
	{"TL", "Timor-Leste", "Timorese", "3!n14!n2!n", 0, 3},
	{"TN", "Tunisia", "Tunisian", "2!n3!n13!n2!n", 0, 2},
	{"TR", "Türkiye", "Turkish", "5!n1!n16!c", 0, 5},
	{"UA", "Ukraine", "Ukrainian", "6!n19!c", 0, 6},
	{"VA", "Vatican City", "Vatican", "3!n15!n", 0, 3},
	{"VG", "British Virgin Islands", "British Virgin Islands", "4!a16!n", 0, 4},
	{"XK", "Kosovo", "Kosovar", "4!n10!n2!n", 0, 2},
	{"YE", "Yemen", "Yemeni", "4!a4!n18!c", 0, 4},
}

// Classes of characters, as bits, so that one AND tells whether a character may stand at a place.
const (
	classDigit  = 1
	classLetter = 2
)

// maxIBANLength is the most that ISO 13616 allows; the longest in the registry has 33.
const maxIBANLength = 34

// ibanLayout is an entry made ready for parsing: the allowed class of every character of the whole IBAN.
type ibanLayout struct {
	length  int
	allowed [maxIBANLength]byte
	country *ibanCountry
}

var (
	ibanLayouts = layoutRegistry()
	// layoutIndexes finds a layout by both letters of the country; 0 is no country, so that layouts count from 1.
	layoutIndexes = indexLayouts()
)

func layoutRegistry() (layouts [len(ibanRegistry) + 1]ibanLayout) {
	for i := range ibanRegistry {
		layouts[i+1] = layOut(&ibanRegistry[i])
	}
	return layouts
}

func layOut(country *ibanCountry) ibanLayout {
	layout := ibanLayout{country: country, length: 4}
	copy(layout.allowed[:], []byte{classLetter, classLetter, classDigit, classDigit})
	for rest := country.bban; rest != ""; {
		digits := 1
		for rest[digits] != '!' {
			digits++
		}
		count, err := strconv.Atoi(rest[:digits])
		if err != nil {
			panic("sepa: structure of " + country.code + ": " + err.Error())
		}
		for range count {
			layout.allowed[layout.length] = structureClass(rest[digits+1])
			layout.length++
		}
		rest = rest[digits+2:]
	}
	return layout
}

func structureClass(letter byte) byte {
	switch letter {
	case 'n':
		return classDigit
	case 'a':
		return classLetter
	default:
		return classDigit | classLetter
	}
}

func indexLayouts() (indexes [26 * 26]uint8) {
	for i := range ibanRegistry {
		code := ibanRegistry[i].code
		indexes[int(code[0]-'A')*26+int(code[1]-'A')] = uint8(i + 1)
	}
	return indexes
}

// layoutFor gives nil for anything but two upper-case letters of a country in the registry.
func layoutFor(first, second byte) *ibanLayout {
	if first < 'A' || first > 'Z' || second < 'A' || second > 'Z' {
		return nil
	}
	index := layoutIndexes[int(first-'A')*26+int(second-'A')]
	if index == 0 {
		return nil
	}
	return &ibanLayouts[index]
}
