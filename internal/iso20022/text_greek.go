package iso20022

import (
	"strings"
	"unicode"
)

// greek is ELOT 743, the standard of Greek passports, letter by letter; vowels with an accent are listed because some
// pairs of vowels sound as one only without it.
var greek = map[rune]string{
	'α': "a", 'ά': "a", 'β': "v", 'γ': "g", 'δ': "d", 'ε': "e", 'έ': "e", 'ζ': "z", 'η': "i", 'ή': "i", 'θ': "th",
	'ι': "i", 'ί': "i", 'ϊ': "i", 'ΐ': "i", 'κ': "k", 'λ': "l", 'μ': "m", 'ν': "n", 'ξ': "x", 'ο': "o", 'ό': "o",
	'π': "p", 'ρ': "r", 'σ': "s", 'ς': "s", 'τ': "t", 'υ': "y", 'ύ': "y", 'ϋ': "y", 'ΰ': "y", 'φ': "f", 'χ': "ch",
	'ψ': "ps", 'ω': "o", 'ώ': "o",
}

// greekPairs sound as one.
var greekPairs = map[[2]rune]string{
	{'γ', 'γ'}: "ng", {'γ', 'ξ'}: "nx", {'γ', 'χ'}: "nch", {'ο', 'υ'}: "ou", {'ο', 'ύ'}: "ou",
}

// voiced follow an upsilon that is spoken v; before all others, and at the end of a word, it is an f.
const voiced = "αάεέηήιίϊΐοόυύϋΰωώβγδζλμνρ"

// spellGreek gives the spelling of one or two Greek letters at a place, and how many they are: none when there is no
// Greek letter.
func spellGreek(source []rune, at int) (text string, width int) {
	first := unicode.ToLower(source[at])
	text, found := greek[first]
	if !found {
		return "", 0
	}
	if at+1 == len(source) {
		return text, 1
	}
	second := unicode.ToLower(source[at+1])
	if pair, found := greekPairs[[2]rune{first, second}]; found {
		return pair, 2
	}
	if strings.ContainsRune("αεη", first) && (second == 'υ' || second == 'ύ') {
		if at+2 < len(source) && strings.ContainsRune(voiced, unicode.ToLower(source[at+2])) {
			return text + "v", 2
		}
		return text + "f", 2
	}
	// At the head of a word the two together are a b.
	if first == 'μ' && second == 'π' && (at == 0 || !unicode.IsLetter(source[at-1])) {
		return "b", 2
	}
	return text, 1
}
