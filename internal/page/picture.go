package page

import (
	"bytes"
	"image"
	_ "image/gif"  // what a logo may be
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"regexp"
	"strconv"
	"strings"

	_ "golang.org/x/image/webp" // likewise
)

// pictureTone is what a logo is drawn in, as far as it matters for the ground.
type pictureTone int

const (
	// toneEither can be seen on any ground, or is not known.
	toneEither pictureTone = iota
	toneLight
	toneDark
)

// pictureLook is what the page must know of a logo to show it well.
type pictureLook struct {
	tone pictureTone
	// isSymbol tells a picture too narrow to hold the merchant's name.
	isSymbol bool
}

const (
	// symbolRatio is how many times wider than high a picture with a word is.
	symbolRatio = 1.8
	// maxPixels bounds what a picture can make us unpack.
	maxPixels = 4 << 20
)

// lookAt judges a logo by its pixels, a drawing by the colours that it names. The bytes
// are a stranger's: a reader of pictures that stumbles over them stops nobody's payment.
func lookAt(kind string, picture []byte) (look pictureLook) {
	defer func() {
		if recover() != nil {
			look = pictureLook{}
		}
	}()
	if kind == "image/svg+xml" {
		return lookAtDrawing(string(picture))
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(picture))
	if err != nil || size.Width <= 0 || size.Height <= 0 {
		return pictureLook{}
	}
	look.isSymbol = isSymbol(float64(size.Width), float64(size.Height))
	// A photograph has no pixel that can be seen through, so that nothing would follow from its colours; and one can be made
	// that tells each of its pixels ten thousand times, which takes a processor the better part of a minute.
	if format == "jpeg" || size.Width*size.Height > maxPixels {
		return look
	}
	if decoded, _, err := image.Decode(bytes.NewReader(picture)); err == nil {
		look.tone = toneOf(decoded)
	}
	return look
}

func isSymbol(width, height float64) bool { return width < symbolRatio*height }

// toneOf looks at the pixels that can be seen. A picture that brings a ground
// of its own needs none of ours.
func toneOf(picture image.Image) pictureTone {
	const steps, opaque, half = 64, 0xf000, 0x8000
	bounds := picture.Bounds()
	var seen, clear, light, dark int
	for y := range steps {
		for x := range steps {
			r, g, b, a := picture.At(bounds.Min.X+x*bounds.Dx()/steps, bounds.Min.Y+y*bounds.Dy()/steps).RGBA()
			if a < half {
				clear++
				continue
			}
			if a < opaque {
				continue
			}
			seen++
			switch level := (color{float64(r >> 8), float64(g >> 8), float64(b >> 8)}).luminance(); {
			case isLight(level):
				light++
			case isDark(level):
				dark++
			}
		}
	}
	switch {
	case seen == 0 || clear == 0:
		return toneEither
	case light*4 > seen*3:
		return toneLight
	case dark*4 > seen:
		return toneDark // also a wordmark beside a coloured symbol
	default:
		return toneEither
	}
}

// What fades into a white page, and into a dark one.
func isLight(luminance float64) bool { return luminance > 0.6 }
func isDark(luminance float64) bool  { return luminance < 0.08 }

var (
	drawnColor  = regexp.MustCompile(`#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b|\b(white|black)\b|currentColor`)
	drawingSize = regexp.MustCompile(`viewBox=["']\s*[-0-9.]+[ ,]+[-0-9.]+[ ,]+([0-9.]+)[ ,]+([0-9.]+)`)
)

func lookAtDrawing(text string) (look pictureLook) {
	if size := drawingSize.FindStringSubmatch(text); size != nil {
		width, _ := strconv.ParseFloat(size[1], 64)
		height, _ := strconv.ParseFloat(size[2], 64)
		look.isSymbol = height > 0 && isSymbol(width, height)
	}
	var light, dark, all int
	for _, named := range drawnColor.FindAllString(text, -1) {
		all++
		switch level := drawnLuminance(named); {
		case isLight(level):
			light++
		case isDark(level):
			dark++
		}
	}
	switch {
	case all == 0 || dark > 0:
		look.tone = toneDark // what names no colour is drawn in black
	case light == all:
		look.tone = toneLight
	}
	return look
}

func drawnLuminance(named string) float64 {
	switch digits := strings.TrimPrefix(named, "#"); {
	case named == "white":
		return 1
	case len(digits) == 3:
		named = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	default:
		named = digits
	}
	c, _ := parseColor(named) // black, currentColor: black
	return c.luminance()
}
