package web

import (
	"strings"
	"unicode"
)

// nextLine is U+0085, which Go counts as white space and the contract as the
// control character that it is.
const nextLine = '\u0085'

// trim drops the white space around a text.
func trim(text string) string {
	return strings.TrimFunc(text, func(c rune) bool { return c != nextLine && unicode.IsSpace(c) })
}

// IsBlank tells a text in which nothing can be seen: a name of zero-width
// characters is none.
func IsBlank(text string) bool {
	for i := range len(text) {
		if c := text[i]; c > ' ' && c < unicode.MaxASCII {
			return false
		}
	}
	return !strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) || !isInvisible(c) })
}

const brailleBlank = '\u2800'

func isInvisible(c rune) bool {
	return c == brailleBlank || unicode.IsSpace(c) ||
		unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// TurnsText tells the characters that embed, override or isolate a direction.
// With them a name reads as another one, and what follows it on a page turns
// round. The marks that right-to-left names need (U+200E, U+200F) are none.
func TurnsText(c rune) bool {
	return c >= '\u202a' && c <= '\u202e' || c >= '\u2066' && c <= '\u2069'
}
