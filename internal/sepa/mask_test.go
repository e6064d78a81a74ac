package sepa

import "testing"

func TestMaskText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		germanIBAN:                    germanMask,
		"DE89 3704 0044 0532 0130 00": germanMask,
		germanMask:                    germanMask,
		"123456":                      "***456",
		"12":                          "*2",
		"1":                           "*",
		"":                            "",
		"Übergröße":                   "*****röße",
	} {
		if got := MaskText(text); got != want {
			t.Errorf("MaskText(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestMaskIBANs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "",
		"Konto aufgeloest":                     "Konto aufgeloest",
		germanIBAN:                             germanMask,
		"IBAN: DE89 3704 0044 0532 0130 00, X": "IBAN: " + germanMask + ", X",
		"de893704004405320130\n00 erloschen":   germanMask + " erloschen",
		"DE89-3704.0044/0532013000":            germanMask,
		"DE89\u00a03704\u202f0044_0532013000":  germanMask,
		"IBANDE89370400440532013000BICDEUT":    "IBAN" + germanMask + "BICDEUT",
		germanIBAN + " " + germanIBAN:          germanMask + " " + germanMask,
		"DE88370400440532013000":               "DE88370400440532013000", // no IBAN
		"DE893704004405320130":                 "DE893704004405320130",
		"RF18539007547034 TXN-20261118-AAAAAA": "RF18539007547034 TXN-20261118-AAAAAA",
		"Ü" + germanIBAN + "ß":                 "Ü" + germanMask + "ß",
		germanMask:                             germanMask,
	} {
		if got := MaskIBANs(text); got != want {
			t.Errorf("MaskIBANs(%q) = %q, want %q", text, got, want)
		}
	}
}
