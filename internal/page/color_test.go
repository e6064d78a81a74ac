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
	b := newButton(c)
	if contrast(b.fill, b.text) < textContrast || contrast(b.hover, b.text) < textContrast {
		t.Errorf("%s: the button's text has a contrast of %.2f, hovered %.2f", c, contrast(b.fill, b.text), contrast(b.hover, b.text))
	}
	for towards, grounds := range map[color][]color{black: lightGround, white: darkGround} {
		for _, ground := range grounds {
			if edge := readable(b.fill, towards, edgeContrast, grounds...); contrast(edge, ground) < edgeContrast {
				t.Errorf("%s: the edge on %s has a contrast of %.2f", c, ground, contrast(edge, ground))
			}
			if link := readable(c, towards, textContrast, grounds...); contrast(link, ground) < textContrast {
				t.Errorf("%s: links on %s have a contrast of %.2f", c, ground, contrast(link, ground))
			}
		}
	}
}

func TestAColorThatCanCarryTextStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, digits := range []string{"1a56db", "0b6b4b", "000000", "ffd400", "ffffff"} {
		if c := mustColor(digits); newButton(c).fill != c {
			t.Errorf("%s became %s", c, newButton(c).fill)
		}
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
	for half, grounds := range map[string][]color{light: lightGround, dark: darkGround} {
		for i, name := range []string{"surface", "sunken"} {
			token := regexp.MustCompile(`--` + name + `: (#[0-9a-f]{6});`).FindStringSubmatch(half)
			if token == nil || token[1] != grounds[i].String() {
				t.Errorf("--%s is %v, measured is %s", name, token, grounds[i])
			}
		}
	}
}

func TestBrandAssetTakesColoursOnly(t *testing.T) {
	t.Parallel()
	if made, ok := brandAsset("brand-ffd400-112233.css"); !ok || !strings.Contains(string(made.plain), "--brand:#ffd400;--on-brand:#10151d") {
		t.Errorf("got %s", made.plain)
	}
	for _, name := range []string{"", "brand-.css", "brand-ffd400.css", "brand-ffd400-1122.css", "brand-ffd400-112233", "brand-}body{a:b}-112233.css", "page.html"} {
		if _, ok := brandAsset(name); ok {
			t.Errorf("%q was taken", name)
		}
	}
}
