package page

import (
	"strconv"
	"strings"

	"sepad/internal/payment"
)

// locale is how a language writes money and dates. The table is our own: the
// usual libraries put the euro sign first everywhere.
type locale struct {
	decimal string
	group   string
	// groupFrom is the number of digits from which groups are made.
	groupFrom int
	// money and date are patterns; {n} is the number, {s} the currency.
	money  string
	date   string
	months [12]string
	// firstDay is how the first of a month is written, "" for its number.
	firstDay string
	plural   func(n int) int
}

// Spaces that do not break, so that an amount stays on one line.
const (
	wideSpace   = "\u00a0"
	narrowSpace = "\u202f"
)

var (
	localeEnglish = locale{
		decimal: ".", group: ",", groupFrom: 4, money: "{s}{n}", date: "{d} {m} {y}", plural: pluralOne,
		months: [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	}
	localeGerman = locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d}. {m} {y}", plural: pluralOne,
		months: [12]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
	}
	localeFrench = locale{
		decimal: ",", group: narrowSpace, groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d} {m} {y}", firstDay: "1er", plural: pluralFrench,
		months: [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
	}
	localeSpanish = locale{
		decimal: ",", group: ".", groupFrom: 5, money: "{n}" + wideSpace + "{s}", date: "{d} de {m} de {y}", plural: pluralOne,
		months: [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
	}
	localeItalian = locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d} {m} {y}", firstDay: "1º", plural: pluralOne,
		months: [12]string{"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"},
	}
	localeDutch = locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{s}" + wideSpace + "{n}", date: "{d} {m} {y}", plural: pluralOne,
		months: [12]string{"januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"},
	}
	localePortuguese = locale{
		decimal: ",", group: wideSpace, groupFrom: 5, money: "{n}" + wideSpace + "{s}", date: "{d} de {m} de {y}", plural: pluralOne,
		months: [12]string{"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"},
	}
	localePolish = locale{
		decimal: ",", group: wideSpace, groupFrom: 5, money: "{n}" + wideSpace + "{s}", date: "{d} {m} {y}", plural: pluralPolish,
		months: [12]string{"stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca", "sierpnia", "września", "października", "listopada", "grudnia"},
	}
)

// pluralOne has one form for 1 and another for all else.
func pluralOne(n int) int {
	if n == 1 {
		return 0
	}
	return 1
}

// pluralFrench says 0 as it says 1.
func pluralFrench(n int) int {
	if n < 2 {
		return 0
	}
	return 1
}

// pluralPolish tells 2, 3 and 4 from more, 12 to 14 apart, in every hundred.
func pluralPolish(n int) int {
	last, lastTwo := n%10, n%100
	switch {
	case n == 1:
		return 0
	case last >= 2 && last <= 4 && (lastTwo < 12 || lastTwo > 14):
		return 1
	default:
		return 2
	}
}

// currencySigns are the currencies that payers know by a sign; all others are
// written with their code.
var currencySigns = map[string]string{"EUR": "€", "GBP": "£"}

// amount writes money.
func (l *locale) amount(minor payment.Minor, currency string) string {
	whole, decimals, _ := strings.Cut(minor.String(), ".")
	if len(whole) >= l.groupFrom {
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + l.group + whole[i:]
		}
	}
	pattern, sign := l.money, currencySigns[currency]
	if sign == "" {
		sign = currency
		if strings.HasPrefix(pattern, "{s}{n}") {
			pattern = "{s}" + wideSpace + "{n}" // a code is not glued to its number
		}
	}
	return fill(pattern, "n", whole+l.decimal+decimals, "s", sign)
}

// day writes a date.
func (l *locale) day(date payment.Date) string {
	year, month, day := date.Start().Date()
	number := strconv.Itoa(day)
	if day == 1 && l.firstDay != "" {
		number = l.firstDay
	}
	return fill(l.date, "d", number, "m", l.months[month-1], "y", strconv.Itoa(year))
}
