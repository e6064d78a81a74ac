package locale_test

import (
	"testing"

	"sepad/internal/locale"
	"sepad/internal/payment"
)

func TestMoney(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][3]string{
		"en": {"€29.99", "€1,234.50", "CHF\u00a01,234,567.00"},
		"de": {"29,99\u00a0€", "1.234,50\u00a0€", "1.234.567,00\u00a0CHF"},
		"fr": {"29,99\u00a0€", "1\u202f234,50\u00a0€", "1\u202f234\u202f567,00\u00a0CHF"},
		"es": {"29,99\u00a0€", "1234,50\u00a0€", "1.234.567,00\u00a0CHF"},
		"it": {"29,99\u00a0€", "1.234,50\u00a0€", "1.234.567,00\u00a0CHF"},
		"nl": {"€\u00a029,99", "€\u00a01.234,50", "CHF\u00a01.234.567,00"},
		"pt": {"29,99\u00a0€", "1234,50\u00a0€", "1\u00a0234\u00a0567,00\u00a0CHF"},
		"pl": {"29,99\u00a0€", "1234,50\u00a0€", "1\u00a0234\u00a0567,00\u00a0CHF"},
		"fi": {"29,99\u00a0€", "1\u00a0234,50\u00a0€", "1\u00a0234\u00a0567,00\u00a0CHF"},
		"hr": {"29,99\u00a0€", "1.234,50\u00a0€", "1.234.567,00\u00a0CHF"},
	} {
		l := locale.Find(code)
		got := [3]string{l.Money(29_99, "EUR"), l.Money(1234_50, "EUR"), l.Money(1234567_00, "CHF")}
		if got != want {
			t.Errorf("%s writes %q, want %q", code, got, want)
		}
	}
	if got := locale.Find("en").Money(5, "GBP"); got != "£0.05" {
		t.Errorf("pennies are %q", got)
	}
}

func TestDate(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][2]string{
		"en": {"1 December 2026", "15 March 2027"},
		"de": {"1. Dezember 2026", "15. März 2027"},
		"fr": {"1er décembre 2026", "15 mars 2027"},
		"es": {"1 de diciembre de 2026", "15 de marzo de 2027"},
		"it": {"1º dicembre 2026", "15 marzo 2027"},
		"nl": {"1 december 2026", "15 maart 2027"},
		"pt": {"1 de dezembro de 2026", "15 de março de 2027"},
		"pl": {"1 grudnia 2026", "15 marca 2027"},
		"sv": {"1 december 2026", "15 mars 2027"},
		"da": {"1. december 2026", "15. marts 2027"},
		"fi": {"1. joulukuuta 2026", "15. maaliskuuta 2027"},
		"cs": {"1. prosince 2026", "15. března 2027"},
		"sk": {"1. decembra 2026", "15. marca 2027"},
		"sl": {"1. december 2026", "15. marec 2027"},
		"hr": {"1. prosinca 2026.", "15. ožujka 2027."},
		"ro": {"1 decembrie 2026", "15 martie 2027"},
	} {
		l := locale.Find(code)
		if got := [2]string{l.Date(date(t, "2026-12-01")), l.Date(date(t, "2027-03-15"))}; got != want {
			t.Errorf("%s writes %q, want %q", code, got, want)
		}
	}
}

func TestShortDate(t *testing.T) {
	t.Parallel()
	now := date(t, "2026-11-15").Start()
	for code, want := range map[string][2]string{
		"en": {"Tue 17 November", "Mon 15 March 2027"},
		"de": {"Di., 17. November", "Mo., 15. März 2027"},
		"fr": {"mar. 17 novembre", "lun. 15 mars 2027"},
		"es": {"mar., 17 de noviembre", "lun., 15 de marzo de 2027"},
		"it": {"mar 17 novembre", "lun 15 marzo 2027"},
		"hr": {"uto, 17. studenoga", "pon, 15. ožujka 2027."},
		"fi": {"ti 17. marraskuuta", "ma 15. maaliskuuta 2027"},
	} {
		l := locale.Find(code)
		if got := [2]string{l.ShortDate(date(t, "2026-11-17"), now), l.ShortDate(date(t, "2027-03-15"), now)}; got != want {
			t.Errorf("%s writes %q, want %q", code, got, want)
		}
	}
}

func date(t *testing.T, text string) payment.Date {
	t.Helper()
	d, err := payment.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
