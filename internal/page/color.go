package page

import (
	"encoding/hex"
	"fmt"
	"math"
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

// button is the merchant's colour as a button can wear it.
type button struct{ fill, text, hover color }

// newButton chooses the text that can be read on the colour. A colour between,
// on which neither can, is darkened in the button only.
func newButton(primary color) button {
	const shade = 0.12
	switch {
	case contrast(primary, white) >= textContrast:
		return button{primary, white, primary.mix(black, shade)}
	case contrast(primary, darkText) >= textContrast:
		return button{primary, darkText, primary.mix(white, shade)}
	default:
		fill := readable(primary, black, textContrast, white)
		return button{fill, white, fill.mix(black, shade)}
	}
}

// brandStyle is the stylesheet of a merchant's two colours. The edge keeps a
// button visible whose colour is that of the page.
func brandStyle(primary, accent color) string {
	b := newButton(primary)
	theme := func(towards color, grounds []color) string {
		return fmt.Sprintf(":root{--brand:%s;--on-brand:%s;--brand-hover:%s;--brand-edge:%s;--stripe:%s;--accent:%s}",
			b.fill, b.text, b.hover, readable(b.fill, towards, edgeContrast, grounds...),
			accent, readable(accent, towards, textContrast, grounds...))
	}
	return theme(black, lightGround) + "\n@media (prefers-color-scheme:dark){" + theme(white, darkGround) + "}\n"
}
