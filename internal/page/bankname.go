package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words that are small in a name, and short ones that are words and no initials.
var (
	smallWords = wordSet("de des du di da do dos das del della delle dei la le les et und y e i of the van der den för och og a per in")
	shortWords = wordSet("san sao new sud ost est mar sol red")
	// initials have vowels and are read letter by letter all the same.
	initials = wordSet("BPCE BAWAG BBVA BPER SEB OTP AIB AXA PKO ABN ING UBS BNP EBS PTSB CIC LCL")
)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// readableName writes a bank's name as people do. Directories shout: "LA BANQUE
// POSTALE" is La Banque Postale. A name that has small letters is left alone.
func readableName(name string) string {
	if strings.ContainsFunc(name, unicode.IsLower) {
		return name
	}
	words := strings.Fields(name)
	for i, word := range words {
		words[i] = readableWord(word, i == 0)
	}
	return strings.Join(words, " ")
}

func readableWord(word string, first bool) string {
	const longestInitials = 3
	bare := strings.Trim(word, ",()&/")
	lower := strings.ToLower(bare)
	switch {
	case smallWords[lower] && !first:
		return strings.ToLower(word)
	case initials[bare] || strings.ContainsAny(bare, ".0123456789") || !strings.ContainsAny(bare, "AEIOUYÄÖÜÉÈÀÅØÆ"):
		return word
	case utf8.RuneCountInString(bare) <= longestInitials && !shortWords[lower] && !smallWords[lower]:
		return word
	}
	// Each part of "CRÉDIT-MUTUEL" and "L'ÉPARGNE" begins with a capital.
	begins := true
	return strings.Map(func(c rune) rune {
		if !unicode.IsLetter(c) {
			begins = true
			return c
		}
		if begins {
			begins = false
			return unicode.ToUpper(c)
		}
		return unicode.ToLower(c)
	}, word)
}
