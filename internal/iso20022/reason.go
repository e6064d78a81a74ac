package iso20022

import (
	"cmp"
	"slices"
	"strings"

	"sepad/internal/sepa"
)

// Reason is why a payment did not go through, as far as the bank says.
type Reason struct {
	// Code of the external code sets, "" when none was given or found.
	Code string
	// Given is what stood where the code belongs, when that was something else: NARR, a bank's own number.
	Given string
	// Text is what the bank adds in words.
	Text string
}

// narrative means that the reason stands in the text.
const narrative = "NARR"

var knownReasons = newKnownReasons()

func newKnownReasons() map[string]bool {
	known := map[string]bool{}
	for _, reason := range sepa.Reasons() {
		known[reason.Code] = true
	}
	delete(known, narrative)
	return known
}

// readReason reads the first of a list of reason elements (StsRsnInf, RtrInf) that gives a code, with the words of all.
// The code decides over what the words say: free text is often another language's, or about something else. Only where
// there is none, one is looked for in the bank's words, most telling first.
func readReason(infos []*element, texts ...string) Reason {
	var r Reason
	var words []string
	for _, info := range infos {
		given := strings.ToUpper(cmp.Or(info.value("Rsn", "Cd"), info.value("Rsn", "Prtry")))
		if r.Given == "" {
			r.Given = given
		}
		words = append(words, info.values("AddtlInf")...)
	}
	r.Text = cut(strings.Join(words, " "))
	if r.Given != "" && r.Given != narrative && (knownReasons[r.Given] || looksLikeCode(r.Given)) {
		r.Code, r.Given = r.Given, ""
		return r
	}
	for _, text := range slices.Concat(words, texts) {
		if code := codeIn(text); code != "" {
			r.Code = code
			return r
		}
	}
	return r
}

// looksLikeCode tells codes that are younger than our table from a bank's own numbers: four characters, a letter first.
func looksLikeCode(text string) bool {
	return len(text) == 4 && 'A' <= text[0] && text[0] <= 'Z'
}

// codeIn finds a reason code in words such as "Rueckgabegrund: MS03 Sonstige". Codes that could be words (CUST, TECH) are
// taken only where they are called a reason.
func codeIn(text string) string {
	isCalled := false
	for word := range strings.FieldsFuncSeq(strings.ToUpper(text), isNoCodeCharacter) {
		if len(word) == 4 && knownReasons[word] && (isCalled || isDigits(word[2:])) {
			return word
		}
		isCalled = slices.ContainsFunc(reasonWords, func(end string) bool { return strings.HasSuffix(word, end) })
	}
	return ""
}

// reasonWords are the ends of words by which banks announce a reason.
var reasonWords = []string{"GRUND", "REASON", "MOTIF", "MOTIVO", "REDEN"}

func isNoCodeCharacter(r rune) bool { return !('A' <= r && r <= 'Z' || '0' <= r && r <= '9') }
