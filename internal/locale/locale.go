// Package locale is how languages write money, dates and numbers of things. The
// table is our own: the usual libraries put the euro sign first everywhere. The
// words themselves stand with whoever says them.
package locale

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sepad/internal/payment"
)

// Locale is how a language writes money and dates.
type Locale struct {
	decimal string
	group   string
	// groupFrom is the number of digits from which groups are made.
	groupFrom int
	// money and date are patterns; {n} is the number, {s} the currency.
	money  string
	date   string
	months [12]string
	// short is a date without its year, {w} the weekday; days begin with Sunday.
	short string
	days  [7]string
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
	english = Locale{
		decimal: ".", group: ",", groupFrom: 4, money: "{s}{n}", date: "{d} {m} {y}", plural: pluralOne,
		months: [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
		short:  "{w} {d} {m}", days: [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
	}
	german = Locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d}. {m} {y}", plural: pluralOne,
		months: [12]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
		short:  "{w}, {d}. {m}", days: [7]string{"So.", "Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa."},
	}
	french = Locale{
		decimal: ",", group: narrowSpace, groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d} {m} {y}", firstDay: "1er", plural: pluralFrench,
		months: [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
		short:  "{w} {d} {m}", days: [7]string{"dim.", "lun.", "mar.", "mer.", "jeu.", "ven.", "sam."},
	}
	spanish = Locale{
		decimal: ",", group: ".", groupFrom: 5, money: "{n}" + wideSpace + "{s}", date: "{d} de {m} de {y}", plural: pluralOne,
		months: [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
		short:  "{w}, {d} de {m}", days: [7]string{"dom.", "lun.", "mar.", "mié.", "jue.", "vie.", "sáb."},
	}
	italian = Locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d} {m} {y}", firstDay: "1º", plural: pluralOne,
		months: [12]string{"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"},
		short:  "{w} {d} {m}", days: [7]string{"dom", "lun", "mar", "mer", "gio", "ven", "sab"},
	}
	dutch = Locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{s}" + wideSpace + "{n}", date: "{d} {m} {y}", plural: pluralOne,
		months: [12]string{"januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"},
		short:  "{w} {d} {m}", days: [7]string{"zo", "ma", "di", "wo", "do", "vr", "za"},
	}
	portuguese = Locale{
		decimal: ",", group: wideSpace, groupFrom: 5, money: "{n}" + wideSpace + "{s}", date: "{d} de {m} de {y}", plural: pluralOne,
		months: [12]string{"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"},
		short:  "{w}, {d} de {m}", days: [7]string{"dom.", "seg.", "ter.", "qua.", "qui.", "sex.", "sáb."},
	}
	polish = Locale{
		decimal: ",", group: wideSpace, groupFrom: 5, money: "{n}" + wideSpace + "{s}", date: "{d} {m} {y}", plural: pluralPolish,
		months: [12]string{"stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca", "sierpnia", "września", "października", "listopada", "grudnia"},
		short:  "{w}, {d} {m}", days: [7]string{"niedz.", "pon.", "wt.", "śr.", "czw.", "pt.", "sob."},
	}
	swedish = Locale{
		decimal: ",", group: wideSpace, groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d} {m} {y}", plural: pluralOne,
		months: [12]string{"januari", "februari", "mars", "april", "maj", "juni", "juli", "augusti", "september", "oktober", "november", "december"},
		short:  "{w} {d} {m}", days: [7]string{"sön", "mån", "tis", "ons", "tors", "fre", "lör"},
	}
	danish = Locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d}. {m} {y}", plural: pluralOne,
		months: [12]string{"januar", "februar", "marts", "april", "maj", "juni", "juli", "august", "september", "oktober", "november", "december"},
		short:  "{w} {d}. {m}", days: [7]string{"søn.", "man.", "tirs.", "ons.", "tors.", "fre.", "lør."},
	}
	finnish = Locale{
		decimal: ",", group: wideSpace, groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d}. {m} {y}", plural: pluralOne,
		months: [12]string{"tammikuuta", "helmikuuta", "maaliskuuta", "huhtikuuta", "toukokuuta", "kesäkuuta", "heinäkuuta", "elokuuta", "syyskuuta", "lokakuuta", "marraskuuta", "joulukuuta"},
		short:  "{w} {d}. {m}", days: [7]string{"su", "ma", "ti", "ke", "to", "pe", "la"},
	}
	czech = Locale{
		decimal: ",", group: wideSpace, groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d}. {m} {y}", plural: pluralCzech,
		months: [12]string{"ledna", "února", "března", "dubna", "května", "června", "července", "srpna", "září", "října", "listopadu", "prosince"},
		short:  "{w} {d}. {m}", days: [7]string{"ne", "po", "út", "st", "čt", "pá", "so"},
	}
	slovak = Locale{
		decimal: ",", group: wideSpace, groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d}. {m} {y}", plural: pluralCzech,
		months: [12]string{"januára", "februára", "marca", "apríla", "mája", "júna", "júla", "augusta", "septembra", "októbra", "novembra", "decembra"},
		short:  "{w} {d}. {m}", days: [7]string{"ne", "po", "ut", "st", "št", "pi", "so"},
	}
	slovenian = Locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d}. {m} {y}", plural: pluralSlovenian,
		months: [12]string{"januar", "februar", "marec", "april", "maj", "junij", "julij", "avgust", "september", "oktober", "november", "december"},
		short:  "{w}, {d}. {m}", days: [7]string{"ned.", "pon.", "tor.", "sre.", "čet.", "pet.", "sob."},
	}
	croatian = Locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d}. {m} {y}.", plural: pluralCroatian,
		months: [12]string{"siječnja", "veljače", "ožujka", "travnja", "svibnja", "lipnja", "srpnja", "kolovoza", "rujna", "listopada", "studenoga", "prosinca"},
		short:  "{w}, {d}. {m}", days: [7]string{"ned", "pon", "uto", "sri", "čet", "pet", "sub"},
	}
	romanian = Locale{
		decimal: ",", group: ".", groupFrom: 4, money: "{n}" + wideSpace + "{s}", date: "{d} {m} {y}", plural: pluralRomanian,
		months: [12]string{"ianuarie", "februarie", "martie", "aprilie", "mai", "iunie", "iulie", "august", "septembrie", "octombrie", "noiembrie", "decembrie"},
		short:  "{w}, {d} {m}", days: [7]string{"dum.", "lun.", "mar.", "mie.", "joi", "vin.", "sâm."},
	}
)

// locales are the languages that we speak, by their codes.
var locales = map[string]*Locale{
	"en": &english, "de": &german, "fr": &french, "es": &spanish, "it": &italian, "nl": &dutch, "pt": &portuguese, "pl": &polish,
	"sv": &swedish, "da": &danish, "fi": &finnish, "cs": &czech, "sk": &slovak, "sl": &slovenian, "hr": &croatian, "ro": &romanian,
}

// Find gives how a language writes, nil for one that we do not speak.
func Find(code string) *Locale { return locales[code] }

// Plural is which form of a word a number asks for, from 0.
func (l *Locale) Plural(n int) int { return l.plural(n) }

// Fill puts values in the place of the words in braces, given in pairs. Values
// are not looked at again, so that a brace in a shop's name stays one.
func Fill(text string, pairs ...string) string {
	replacements := make([]string, 0, len(pairs))
	for pair := range slices.Chunk(pairs, 2) {
		replacements = append(replacements, "{"+pair[0]+"}", pair[1])
	}
	return strings.NewReplacer(replacements...).Replace(text)
}

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

// pluralCzech has one form for 2, 3 and 4.
func pluralCzech(n int) int {
	switch {
	case n == 1:
		return 0
	case n >= 2 && n <= 4:
		return 1
	default:
		return 2
	}
}

// pluralCroatian says 21 as it says 1, and 22 as it says 2.
func pluralCroatian(n int) int {
	if n%10 == 1 && n%100 != 11 {
		return 0
	}
	return max(pluralPolish(n), 1)
}

// pluralSlovenian has a form for two.
func pluralSlovenian(n int) int {
	switch n % 100 {
	case 1:
		return 0
	case 2:
		return 1
	case 3, 4:
		return 2
	default:
		return 3
	}
}

// pluralRomanian puts a word between numbers from 20 on and what is counted.
func pluralRomanian(n int) int {
	switch lastTwo := n % 100; {
	case n == 1:
		return 0
	case n == 0 || lastTwo > 0 && lastTwo < 20:
		return 1
	default:
		return 2
	}
}

// currencySigns are the currencies that payers know by a sign; all others are
// written with their code.
var currencySigns = map[string]string{"EUR": "€", "GBP": "£"}

// Money writes an amount.
func (l *Locale) Money(minor payment.Minor, currency string) string {
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
	return Fill(pattern, "n", whole+l.decimal+decimals, "s", sign)
}

// Date writes a date.
func (l *Locale) Date(date payment.Date) string { return l.write(l.date, date) }

func (l *Locale) write(pattern string, date payment.Date) string {
	year, month, day := date.Start().Date()
	number := strconv.Itoa(day)
	if day == 1 && l.firstDay != "" {
		number = l.firstDay
	}
	return Fill(pattern, "d", number, "m", l.months[month-1], "y", strconv.Itoa(year), "w", l.days[date.Start().Weekday()])
}

// ShortDate writes a date with its weekday, and with its year when that is not
// the present one.
func (l *Locale) ShortDate(date payment.Date, now time.Time) string {
	pattern := l.short
	if date.Start().Year() != now.Year() {
		pattern = strings.Replace(l.short, l.dayAndMonth(), l.date, 1)
	}
	return l.write(pattern, date)
}

// dayAndMonth is the part of a short date that a full one has too.
func (l *Locale) dayAndMonth() string { return l.short[strings.Index(l.short, "{d}"):] }
