package page

import "testing"

func TestReadableName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"LA BANQUE POSTALE":                  "La Banque Postale",
		"BNP PARIBAS":                        "BNP Paribas",
		"BANCO DE SABADELL, S.A.":            "Banco de Sabadell, S.A.",
		"CRÉDIT MUTUEL - CIC":                "Crédit Mutuel - CIC",
		"CAISSE D'ÉPARGNE":                   "Caisse D'Épargne",
		"ING BANK N.V.":                      "ING Bank N.V.",
		"HSBC FRANCE":                        "HSBC France",
		"BANCA MONTE DEI PASCHI DI SIENA":    "Banca Monte dei Paschi di Siena",
		"Commerzbank":                        "Commerzbank",
		"DZ BANK AG":                         "DZ Bank AG",
		"BANCO BILBAO VIZCAYA ARGENTARIA SA": "Banco Bilbao Vizcaya Argentaria SA",
		"SAN MARINO":                         "San Marino",
		"":                                   "",
	} {
		if got := readableName(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
}
