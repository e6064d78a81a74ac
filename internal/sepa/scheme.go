package sepa

import (
	"slices"
	"time"
)

// Days on which groups of countries could first be reached under the schemes of the European Payments Council.
var (
	directDebitStart  = schemeDay(2009, time.November, 2)
	croatiaStart      = schemeDay(2013, time.July, 1)
	sanMarinoStart    = schemeDay(2014, time.March, 1)
	andorraStart      = schemeDay(2019, time.March, 1)
	montenegroStart   = schemeDay(2025, time.October, 6)
	northMacedonStart = schemeDay(2025, time.October, 7)
	serbiaStart       = schemeDay(2026, time.May, 5)
)

func schemeDay(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// schemeStart is a table of our own because the IBAN registry still denies the youngest five. It counts the day from
// which banks of the country took part, not the earlier day of admission. Keys are the first two letters of an IBAN:
// overseas France uses FR, the Åland Islands FI, and Guernsey, Jersey and Man use GB. For the youngest five a country in
// the table does not mean that its banks already take direct debits; a bank that does not will say so with a reason code.
var schemeStart = map[string]time.Time{
	"AD": andorraStart, "AL": northMacedonStart, "AT": directDebitStart, "BE": directDebitStart, "BG": directDebitStart,
	"CH": directDebitStart, "CY": directDebitStart, "CZ": directDebitStart, "DE": directDebitStart, "DK": directDebitStart,
	"EE": directDebitStart, "ES": directDebitStart, "FI": directDebitStart, "FR": directDebitStart, "GB": directDebitStart,
	"GI": directDebitStart, "GR": directDebitStart, "HR": croatiaStart, "HU": directDebitStart, "IE": directDebitStart,
	"IS": directDebitStart, "IT": directDebitStart, "LI": directDebitStart, "LT": directDebitStart, "LU": directDebitStart,
	"LV": directDebitStart, "MC": directDebitStart, "MD": montenegroStart, "ME": montenegroStart, "MK": northMacedonStart,
	"MT": directDebitStart, "NL": directDebitStart, "NO": directDebitStart, "PL": directDebitStart, "PT": directDebitStart,
	"RO": directDebitStart, "RS": serbiaStart, "SE": directDebitStart, "SI": directDebitStart, "SK": directDebitStart,
	"SM": sanMarinoStart, "VA": andorraStart,
}

// InScheme tells whether accounts of a country (the first two letters of an IBAN) belong to the SEPA schemes on a day.
func InScheme(country string, on time.Time) bool {
	start, known := schemeStart[country]
	return known && !on.Before(start)
}

// eea are the countries of the European Economic Area, by the first two letters of their IBANs.
var eea = []string{
	"AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IS", "IT", "LI", "LT", "LU", "LV",
	"MT", "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK",
}

// NeedsPayerAddress tells whether a collection from an account of this country must carry the payer's address: banks ask
// for it as soon as one of them is in the schemes but outside the European Economic Area. Guernsey, Jersey and Man, whose
// accounts begin with GB, may be named by their own codes too.
func NeedsPayerAddress(country string) bool {
	_, inSchemes := schemeStart[country]
	return inSchemes && !slices.Contains(eea, country) || slices.Contains([]string{"GG", "IM", "JE"}, country)
}
