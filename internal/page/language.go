package page

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/language"

	"sepad/internal/locale"
)

// pageLanguage is a language with all that differs by it.
type pageLanguage struct {
	Code string
	// Name is what its speakers call it.
	Name string
	*texts
	*locale.Locale
}

// languages are the languages of the page; the first is for whoever speaks none.
var languages = []*pageLanguage{
	{"en", "English", &english, locale.Find("en")},
	{"de", "Deutsch", &german, locale.Find("de")},
	{"fr", "Français", &french, locale.Find("fr")},
	{"es", "Español", &spanish, locale.Find("es")},
	{"it", "Italiano", &italian, locale.Find("it")},
	{"nl", "Nederlands", &dutch, locale.Find("nl")},
	{"pt", "Português", &portuguese, locale.Find("pt")},
	{"pl", "Polski", &polish, locale.Find("pl")},
	{"sv", "Svenska", &swedish, locale.Find("sv")},
	{"da", "Dansk", &danish, locale.Find("da")},
	{"fi", "Suomi", &finnish, locale.Find("fi")},
	{"cs", "Čeština", &czech, locale.Find("cs")},
	{"sk", "Slovenčina", &slovak, locale.Find("sk")},
	{"sl", "Slovenščina", &slovenian, locale.Find("sl")},
	{"hr", "Hrvatski", &croatian, locale.Find("hr")},
	{"ro", "Română", &romanian, locale.Find("ro")},
}

var matcher = sync.OnceValue(func() language.Matcher {
	tags := make([]language.Tag, len(languages))
	for i, one := range languages {
		tags[i] = language.MustParse(one.Code)
	}
	return language.NewMatcher(tags)
})

// Languages are the codes of the page's languages, that of whoever speaks none first.
func Languages() []string {
	codes := make([]string, len(languages))
	for i, one := range languages {
		codes[i] = one.Code
	}
	return codes
}

// findLanguage gives nil for a code that the page does not speak.
func findLanguage(code string) *pageLanguage {
	i := slices.IndexFunc(languages, func(one *pageLanguage) bool { return one.Code == code })
	if i < 0 {
		return nil
	}
	return languages[i]
}

// languageCookie remembers a choice until the browser is closed: the way to the
// bank and back carries no query of ours.
const languageCookie = "sepad_language"

// chooseLanguage takes the payer's choice, then an earlier one, then what the
// browser asks for. A choice is remembered.
func (p *Page) chooseLanguage(w http.ResponseWriter, r *http.Request, choice string) *pageLanguage {
	if chosen := findLanguage(choice); chosen != nil {
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // G124: it is Secure wherever the page is
			Name: languageCookie, Value: chosen.Code, Path: "/pay/", HttpOnly: true,
			SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(p.Checkout.PublicURL, "https:"),
		})
		return chosen
	}
	if cookie, err := r.Cookie(languageCookie); err == nil {
		if earlier := findLanguage(cookie.Value); earlier != nil {
			return earlier
		}
	}
	return preferredLanguage(r.Header.Get("Accept-Language"))
}

// hasChosen tells that the payer has picked a language, now or earlier, so that the
// session's language does not count.
func hasChosen(r *http.Request) bool {
	choices := []string{r.URL.Query().Get("lang"), r.PostForm.Get(fieldLanguage), r.PostForm.Get(fieldShown)}
	if cookie, err := r.Cookie(languageCookie); err == nil {
		choices = append(choices, cookie.Value)
	}
	return slices.ContainsFunc(choices, func(code string) bool { return findLanguage(code) != nil })
}

// maxAcceptLanguage bounds the work that a header can ask for.
const maxAcceptLanguage = 512

func preferredLanguage(header string) *pageLanguage {
	tags, _, err := language.ParseAcceptLanguage(header[:min(len(header), maxAcceptLanguage)])
	if err != nil || len(tags) == 0 {
		return languages[0]
	}
	_, index, confidence := matcher().Match(tags...)
	if confidence == language.No {
		return languages[0]
	}
	return languages[index]
}

// count says a text with "|" in the form that a number asks for.
func (l *pageLanguage) count(text string, n int) string {
	forms := strings.Split(text, "|")
	return fill(forms[min(l.Plural(n), len(forms)-1)], "n", strconv.Itoa(n))
}
