package sepa

import (
	"path/filepath"
	"slices"
	"strings"
)

// ibanToBICCountries are the countries for which the package knows more bank codes than the list before it. Its German
// codes are older than the Bundesbank's, and elsewhere it adds nothing.
var ibanToBICCountries = []string{"AT", "ES", "FR", "LU"}

// readIBANToBIC reads the npm package iban-to-bic: BICs without names, for Spain and France those of the European Central Bank.
// They differ from the BICs of the payment systems in places, so they only fill what is empty.
func (b *directoryBuild) readIBANToBIC(folder string) error {
	version, err := npmVersion(folder)
	if err != nil {
		return err
	}
	var filled []string
	for i, country := range ibanToBICCountries {
		file := strings.ToLower(country) + ".json"
		bics := map[string]string{}
		if err := readJSON(folder, "datasets/"+file, &bics); err != nil {
			return err
		}
		if b.fillBICs(country, file, bics) > 0 {
			filled = append(filled, country)
		}
		b.progress(filepath.Base(folder), i+1, len(ibanToBICCountries))
	}
	if len(filled) > 0 {
		b.sources = slices.DeleteFunc(b.sources, func(source Source) bool { return source.Name == "iban-to-bic" })
		b.sources = append(b.sources, Source{Name: "iban-to-bic", Version: version, Countries: filled})
	}
	return nil
}

func (b *directoryBuild) fillBICs(country, file string, bics map[string]string) (filled int) {
	if b.rows[country] == nil {
		b.rows[country] = map[string]Bank{}
	}
	for code, text := range bics {
		if err := checkBankCode(country, code); err != nil {
			b.problem(file, 0, err.Error())
			continue
		}
		bank := b.rows[country][code]
		bic := b.cleanBIC(text, file, 0)
		if bank.BIC != "" || bic == "" {
			continue
		}
		bank.BIC = bic
		b.rows[country][code] = bank
		filled++
	}
	return filled
}
