package page

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sepad/internal/payment"
)

var braces = regexp.MustCompile(`\{[a-z0-9]+\}`)

// each calls with every text of a language by its name.
func each(t *testing.T, words *texts, visit func(name, text string)) {
	t.Helper()
	value := reflect.ValueOf(*words)
	for i := range value.NumField() {
		if field := value.Type().Field(i); field.Type.Kind() == reflect.String {
			visit(field.Name, value.Field(i).String())
		}
	}
	for _, code := range payment.DeclineCodes() {
		visit("Declines."+string(code)+".What", words.Declines[code].What)
		visit("Declines."+string(code)+".Try", words.Declines[code].Try)
	}
}

func TestEveryTextIsThereInEveryLanguage(t *testing.T) {
	t.Parallel()
	inEnglish := map[string]string{}
	each(t, &english, func(name, text string) { inEnglish[name] = text })
	for _, l := range languages {
		t.Run(l.Code, func(t *testing.T) {
			t.Parallel()
			each(t, l.texts, func(name, text string) {
				if strings.TrimSpace(text) == "" || strings.TrimSpace(text) != text {
					t.Errorf("%s is missing or has blanks around it", name)
				}
				if strings.Contains(text, "!") {
					t.Errorf("%s shouts", name)
				}
				// Each plural form must name what the English ones name.
				for _, form := range strings.Split(text, "|") {
					wanted := braces.FindAllString(strings.Split(inEnglish[name], "|")[0], -1)
					if got := braces.FindAllString(form, -1); !slices.Equal(sorted(got), sorted(wanted)) {
						t.Errorf("%s fills in %v, English fills in %v", name, got, wanted)
					}
				}
				if plurals := strings.Count(text, "|"); strings.Contains(inEnglish[name], "|") && plurals != most(l) {
					t.Errorf("%s has %d forms", name, plurals+1)
				}
			})
			if len(l.Declines) != len(payment.DeclineCodes()) {
				t.Errorf("%d declines have words, there are %d", len(l.Declines), len(payment.DeclineCodes()))
			}
		})
	}
}

// most is the last of a language's plural forms.
func most(l *pageLanguage) (last int) {
	for n := range 200 {
		last = max(last, l.Plural(n))
	}
	return last
}

// sorted gives the distinct words: a language may need one twice.
func sorted(words []string) []string {
	words = slices.Clone(words)
	slices.Sort(words)
	return slices.Compact(words)
}

func TestEveryTextIsUsed(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "texts") || entry.IsDir() {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(text)
	}
	each(t, &english, func(name, _ string) {
		if !strings.HasPrefix(name, "Declines.") && !regexp.MustCompile(`\.`+name+`\b`).MatchString(sources.String()) {
			t.Errorf("nothing says %s", name)
		}
	})
}

func TestWished(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "en", "de": "de", "de-AT,de;q=0.9,en;q=0.8": "de", "fr-CH": "fr", "pt-BR": "pt", "nl-BE": "nl", "pl": "pl",
		"ja": "en", "ja,it;q=0.5": "it", "es-419": "es", "*": "en", ";;;": "en", "en-US,de": "en", "da;q=0.1,fr": "fr", "sv-FI": "sv", "cs,sk;q=0.8": "cs", "hr": "hr", "sl": "sl", "ro-MD": "ro", "fi": "fi",
		strings.Repeat("x-", 5000): "en",
	} {
		if got := preferredLanguage(header); got.Code != want {
			t.Errorf("%.40q speaks %s, want %s", header, got.Code, want)
		}
	}
}

func TestAnUnknownDeclineIsSaidAsUnknown(t *testing.T) {
	t.Parallel()
	if got := english.decline("brand_new_code"); got != english.Declines[payment.DeclineUnknown] {
		t.Errorf("got %+v", got)
	}
}

func TestFillLeavesBracesOfValuesAlone(t *testing.T) {
	t.Parallel()
	if got := fill("{a} and {b}", "a", "{b}", "b", "x"); got != "{b} and x" {
		t.Errorf("got %q", got)
	}
}
