package page

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"sepad/internal/design"
)

// TestEveryBrandIsReadable tries colours from all over the cube: whatever is
// set, the button's text, its edge and the links can be made out.
func TestEveryBrandIsReadable(t *testing.T) {
	t.Parallel()
	const step = 15
	for r := 0; r <= 255; r += step {
		for g := 0; g <= 255; g += step {
			for b := 0; b <= 255; b += step {
				checkBrand(t, color{float64(r), float64(g), float64(b)})
			}
		}
	}
}

func checkBrand(t *testing.T, c color) {
	t.Helper()
	for _, screen := range []theme{lightTheme, darkTheme} {
		b, tint := screen.button(c), screen.ground(c)
		if contrast(b.fill, b.text) < textContrast || contrast(b.hover, b.text) < textContrast {
			t.Errorf("%s: the button's text has a contrast of %.2f, hovered %.2f", c, contrast(b.fill, b.text), contrast(b.hover, b.text))
		}
		if !standsOut(b.fill, edgeContrast, screen.grounds) {
			t.Errorf("%s: the button %s does not stand out from the page", c, b.fill)
		}
		grounds := append([]color{tint}, screen.grounds...)
		if link := readable(c, screen.towards, textContrast, grounds...); !standsOut(link, textContrast, grounds) {
			t.Errorf("%s: links cannot be read", c)
		}
		for _, text := range []color{screen.ink, screen.muted} {
			if contrast(text, tint) < textContrast {
				t.Errorf("%s: %s on the tinted half %s has a contrast of %.2f", c, text, tint, contrast(text, tint))
			}
		}
	}
}

func TestAColorThatStandsOutStaysAsItIs(t *testing.T) {
	t.Parallel()
	for digits, screens := range map[string][]theme{
		"1a56db": {lightTheme}, "0b6b4b": {lightTheme}, "000000": {lightTheme}, "ffd400": {darkTheme}, "ffffff": {darkTheme},
	} {
		for _, screen := range screens {
			if c := mustColor(digits); screen.button(c).fill != c {
				t.Errorf("%s became %s", c, screen.button(c).fill)
			}
		}
	}
}

func TestAButtonNeverLooksSwitchedOff(t *testing.T) {
	t.Parallel()
	if got := lightTheme.button(white).fill; got != lightTheme.ink {
		t.Errorf("white on a white page is %s", got)
	}
	if got := darkTheme.button(mustColor("111827")).fill; got != darkTheme.ink {
		t.Errorf("black on a dark page is %s", got)
	}
}

func TestContrastIsThatOfTheStandard(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		a, b string
		want float64
	}{{"000000", "ffffff", 21}, {"777777", "ffffff", 4.48}, {"ffffff", "ffffff", 1}, {"0000ff", "ffffff", 8.59}} {
		if got := contrast(mustColor(one.a), mustColor(one.b)); math.Abs(got-one.want) > 0.01 {
			t.Errorf("%s on %s: %.2f, want %.2f", one.a, one.b, got, one.want)
		}
	}
}

// TestGroundsAreThoseOfTheTokens keeps the colours that we measure against from
// drifting away from the stylesheet.
func TestGroundsAreThoseOfTheTokens(t *testing.T) {
	t.Parallel()
	light, dark, found := strings.Cut(string(design.Tokens), "prefers-color-scheme: dark")
	if !found {
		t.Fatal("the tokens have no dark half")
	}
	for half, screen := range map[string]theme{light: lightTheme, dark: darkTheme} {
		for name, measured := range map[string]color{"surface": screen.grounds[0], "sunken": screen.grounds[1], "text": screen.ink, "muted": screen.muted} {
			token := regexp.MustCompile(`--` + name + `: (#[0-9a-f]{6});`).FindStringSubmatch(half)
			if token == nil || token[1] != measured.String() {
				t.Errorf("--%s is %v, measured is %s", name, token, measured)
			}
		}
	}
}

func TestBrandAssetTakesColoursOnly(t *testing.T) {
	t.Parallel()
	if made, ok := styleAsset("page-ffd400-112233.css"); !ok || !strings.Contains(string(made.Plain), "prefers-color-scheme:dark){:root{--brand:#ffd400;--on-brand:#10151d") {
		t.Errorf("got %s", made.Plain)
	}
	for _, name := range []string{"", "page-.css", "page-ffd400.css", "page-ffd400-1122.css", "page-ffd400-112233", "page-}body{a:b}-112233.css", "page.html"} {
		if _, ok := styleAsset(name); ok {
			t.Errorf("%q was taken", name)
		}
	}
}
