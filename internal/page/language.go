package page

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
)

// tongue is a language with all that differs by it.
type tongue struct {
	Code string
	// Name is what its speakers call it.
	Name string
	*texts
	locale
}

// tongues are the languages of the page; the first is for whoever speaks none.
var tongues = []*tongue{
	{"en", "English", &english, localeEnglish},
	{"de", "Deutsch", &german, localeGerman},
	{"fr", "Français", &french, localeFrench},
	{"es", "Español", &spanish, localeSpanish},
	{"it", "Italiano", &italian, localeItalian},
	{"nl", "Nederlands", &dutch, localeDutch},
	{"pt", "Português", &portuguese, localePortuguese},
	{"pl", "Polski", &polish, localePolish},
	{"sv", "Svenska", &swedish, localeSwedish},
	{"da", "Dansk", &danish, localeDanish},
	{"fi", "Suomi", &finnish, localeFinnish},
	{"cs", "Čeština", &czech, localeCzech},
	{"sk", "Slovenčina", &slovak, localeSlovak},
	{"sl", "Slovenščina", &slovenian, localeSlovenian},
	{"hr", "Hrvatski", &croatian, localeCroatian},
	{"ro", "Română", &romanian, localeRomanian},
}

var matcher = newMatcher()

func newMatcher() language.Matcher {
	tags := make([]language.Tag, len(tongues))
	for i, one := range tongues {
		tags[i] = language.MustParse(one.Code)
	}
	return language.NewMatcher(tags)
}

// findTongue gives nil for a code that the page does not speak.
func findTongue(code string) *tongue {
	i := slices.IndexFunc(tongues, func(one *tongue) bool { return one.Code == code })
	if i < 0 {
		return nil
	}
	return tongues[i]
}

// languageCookie remembers a choice until the browser is closed: the way to the
// bank and back carries no query of ours.
const languageCookie = "sepad_language"

// chooseTongue takes the payer's choice, then an earlier one, then what the
// browser asks for. A choice is remembered.
func (p *Page) chooseTongue(w http.ResponseWriter, r *http.Request, choice string) *tongue {
	if chosen := findTongue(choice); chosen != nil {
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // G124: it is Secure wherever the page is
			Name: languageCookie, Value: chosen.Code, Path: "/pay/", HttpOnly: true,
			SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(p.Checkout.PublicURL, "https:"),
		})
		return chosen
	}
	if cookie, err := r.Cookie(languageCookie); err == nil {
		if earlier := findTongue(cookie.Value); earlier != nil {
			return earlier
		}
	}
	return wished(r.Header.Get("Accept-Language"))
}

// maxWishes bounds the work that a header can ask for.
const maxWishes = 512

func wished(header string) *tongue {
	tags, _, err := language.ParseAcceptLanguage(header[:min(len(header), maxWishes)])
	if err != nil || len(tags) == 0 {
		return tongues[0]
	}
	_, index, confidence := matcher.Match(tags...)
	if confidence == language.No {
		return tongues[0]
	}
	return tongues[index]
}

// count says a text with "|" in the form that a number asks for.
func (l *tongue) count(text string, n int) string {
	forms := strings.Split(text, "|")
	return fill(forms[min(l.plural(n), len(forms)-1)], "n", strconv.Itoa(n))
}
