package page

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
)

// color is a colour of the screen.
type color struct{ r, g, b float64 }

// Surfaces and texts of the design tokens; a test holds them to the stylesheet.
var (
	white       = color{255, 255, 255}
	black       = color{0, 0, 0}
	darkText    = color{0x10, 0x15, 0x1d}
	lightGround = []color{mustColor("ffffff"), mustColor("f5f7fa")}
	darkGround  = []color{mustColor("11161e"), mustColor("181f2a")}
)

// Contrasts that WCAG 2.2 asks of texts (1.4.3) and of controls (1.4.11).
const (
	textContrast = 4.5
	edgeContrast = 3
)

// parseColor reads six hexadecimal digits.
func parseColor(digits string) (color, bool) {
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != 3 {
		return color{}, false
	}
	return color{float64(raw[0]), float64(raw[1]), float64(raw[2])}, true
}

func mustColor(digits string) color {
	c, ok := parseColor(digits)
	if !ok {
		panic("page: not a colour: " + digits)
	}
	return c
}

func (c color) String() string {
	return fmt.Sprintf("#%02x%02x%02x", uint8(math.Round(c.r)), uint8(math.Round(c.g)), uint8(math.Round(c.b)))
}

// rounded is the colour as a stylesheet can write it, so that what is measured
// is what is shown.
func (c color) rounded() color { return color{math.Round(c.r), math.Round(c.g), math.Round(c.b)} }

// mix goes a part of the way to another colour.
func (c color) mix(to color, part float64) color {
	between := func(from, to float64) float64 { return from + (to-from)*part }
	return color{between(c.r, to.r), between(c.g, to.g), between(c.b, to.b)}.rounded()
}

// luminance is that of WCAG 2.
func (c color) luminance() float64 {
	linear := func(channel float64) float64 {
		channel /= 255
		if channel <= 0.04045 {
			return channel / 12.92
		}
		return math.Pow((channel+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast is that of WCAG 2: from 1 to 21.
func contrast(a, b color) float64 {
	x, y := a.luminance(), b.luminance()
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// readable moves a colour towards another one until it stands out from every
// ground by at least a contrast. A colour that does already stays as it is.
func readable(c, towards color, least float64, grounds ...color) color {
	const steps = 50
	for step := range steps + 1 {
		moved := c.mix(towards, float64(step)/steps)
		if standsOut(moved, least, grounds) {
			return moved
		}
	}
	return towards
}

func standsOut(c color, least float64, grounds []color) bool {
	for _, ground := range grounds {
		if contrast(c, ground) < least {
			return false
		}
	}
	return true
}

// isGrey tells a colour that has no hue to keep.
func (c color) isGrey() bool {
	const hardly = 24
	return max(c.r, c.g, c.b)-min(c.r, c.g, c.b) < hardly
}

// theme is a light or a dark screen: its grounds, its ink, and the colour that
// others are moved towards to stand out from it.
type theme struct {
	grounds             []color
	ink, muted, towards color
	// tint is how much of the ground is in the tinted half.
	tint float64
}

var (
	lightTheme = theme{lightGround, mustColor("1b2430"), mustColor("566275"), black, 0.93}
	darkTheme  = theme{darkGround, mustColor("e4e9f1"), mustColor("9aa7ba"), white, 0.91}
)

// button is the merchant's colour as a button can wear it.
type button struct{ fill, text, hover color }

// button guards the colour against the page, from which it must stand out, and
// chooses the text that can be read on it. White on white would end as a grey
// that looks switched off: a colour without a hue becomes the ink. A colour
// between, on which no text can be read, is moved away from the page.
func (t theme) button(primary color) button {
	const shade = 0.12
	fill := primary
	if !standsOut(fill, edgeContrast, t.grounds) {
		if fill = readable(primary, t.towards, edgeContrast, t.grounds...); primary.isGrey() {
			fill = t.ink
		}
	}
	if contrast(fill, white) < textContrast && contrast(fill, darkText) < textContrast {
		text := white
		if t.towards == white {
			text = darkText
		}
		fill = readable(fill, t.towards, textContrast, text)
	}
	if contrast(fill, white) >= textContrast {
		return button{fill, white, fill.mix(black, shade)}
	}
	return button{fill, darkText, fill.mix(white, shade)}
}

// ColorWords says what becomes of a colour as that of the main button, for who chooses
// it; "" where it is none.
func ColorWords(value string) string {
	primary, ok := parseColor(strings.TrimPrefix(value, "#"))
	if !ok {
		return ""
	}
	on := lightTheme.button(primary)
	text := "dark"
	if on.text == white {
		text = "white"
	}
	words := fmt.Sprintf("The button's text is %s, with a contrast of %.1f to 1.", text, contrast(on.fill, on.text))
	if on.fill != primary {
		words += " As it is, the colour would not stand out or could not be read on: the button wears " + on.fill.String() + "."
	}
	return words
}

// ground is the tinted half: the page with a trace of the colour in it.
func (t theme) ground(accent color) color {
	const hardly, more = 1.03, 0.85
	tinted := accent.mix(t.grounds[0], t.tint)
	switch {
	case contrast(tinted, t.grounds[0]) >= hardly:
		return tinted
	case accent.isGrey():
		return t.grounds[1]
	default:
		return accent.mix(t.grounds[0], more) // a light colour: yellow
	}
}

func (t theme) style(primary, accent color) string {
	b, tint := t.button(primary), t.ground(accent)
	grounds := append([]color{tint}, t.grounds...)
	return fmt.Sprintf(":root{--brand:%s;--on-brand:%s;--brand-hover:%s;--accent:%s;--tint:%s;--tint-line:%s}",
		b.fill, b.text, b.hover, readable(accent, t.towards, textContrast, grounds...), tint, tint.mix(accent, 0.12))
}

// brandStyle is the stylesheet of a merchant's two colours.
func brandStyle(primary, accent color) string {
	return lightTheme.style(primary, accent) + "\n@media (prefers-color-scheme:dark){" + darkTheme.style(primary, accent) + "}\n"
}
