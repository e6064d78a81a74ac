package iso20022

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Latin brings text into the characters that every bank of the scheme takes, keeping what it says: Müller becomes
// Mueller, Παύλος Pavlos, Щастлив Shtastliv. What has no such form becomes a space and is returned in lost, each
// character once. Runs of spaces become one.
func Latin(text string) (latin string, lost []rune) {
	if isPlain(text) {
		return text, nil
	}
	source := []rune(norm.NFC.String(text))
	var out strings.Builder
	out.Grow(len(text) + len(text)/4)
	for at := 0; at < len(source); {
		replacement, width, known := spell(source, at)
		if !known {
			replacement = " "
			if !slices.Contains(lost, source[at]) {
				lost = append(lost, source[at])
			}
		}
		out.WriteString(withCase(replacement, source, at, width))
		at += width
	}
	return strings.Join(strings.Fields(out.String()), " "), lost
}

// isPlain tells text that is already as Latin would leave it, which most of it is.
func isPlain(text string) bool {
	previous := byte(' ')
	for i := range len(text) {
		c := text[i]
		if !isBasic(rune(c)) || c == ' ' && previous == ' ' {
			return false
		}
		previous = c
	}
	return previous != ' ' || text == ""
}

// isBasic tells the characters of the scheme: Latin letters, digits and some punctuation.
func isBasic(r rune) bool { return 0 <= r && int(r) < len(basic) && basic[r] }

var basic = func() (is [128]bool) {
	for _, r := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-?:().,'+ " {
		is[r] = true
	}
	return is
}()

// spell gives the basic characters for what stands at a place, and how many runes of the source they stand for.
func spell(source []rune, at int) (replacement string, width int, known bool) {
	r := source[at]
	if isBasic(r) {
		return string(r), 1, true
	}
	if text, width := spellGreek(source, at); width > 0 {
		return text, width, true
	}
	if text, found := spelling[unicode.ToLower(r)]; found {
		return text, 1, true
	}
	if unicode.IsSpace(r) || unicode.IsControl(r) {
		return " ", 1, true
	}
	if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r) {
		return "", 1, true // an accent that no letter took, a mark that is not seen
	}
	return decompose(r)
}

// decompose takes a letter with its accents apart (é is e and a mark), and compatibility forms such as full-width
// letters and ligatures.
func decompose(r rune) (replacement string, width int, known bool) {
	var out strings.Builder
	for _, part := range norm.NFKD.String(string(r)) {
		lower := unicode.ToLower(part)
		switch {
		case isBasic(part):
			out.WriteRune(part)
		case spelling[lower] != "":
			out.WriteString(spelling[lower])
		case greek[lower] != "":
			out.WriteString(greek[lower])
		case !unicode.Is(unicode.Mn, part):
			return "", 1, false
		}
	}
	return out.String(), 1, out.Len() > 0
}

// withCase gives a spelling the case of what it stands for: Ä is Ae at the head of a word and AE in capitals.
func withCase(replacement string, source []rune, at, width int) string {
	switch {
	case !unicode.IsUpper(source[at]) || replacement == "":
		return replacement
	case len(replacement) == 1 || inCapitals(source, at, width):
		return strings.ToUpper(replacement)
	}
	return strings.ToUpper(replacement[:1]) + replacement[1:]
}

// inCapitals tells whether a capital stands in a word of capitals, by the letter behind it or else the one before.
func inCapitals(source []rune, at, width int) bool {
	if at+1 < len(source) && (width > 1 || unicode.IsLetter(source[at+1])) {
		return unicode.IsUpper(source[at+1])
	}
	return at > 0 && unicode.IsUpper(source[at-1])
}

// fit cuts text to a length, not leaving a space at the end.
func fit(text string, length int) string {
	if len(text) > length {
		text = text[:length]
	}
	return strings.TrimRight(text, " ")
}
