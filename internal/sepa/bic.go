package sepa

// ValidBIC tells whether text has the form of a business identifier code (ISO 9362): four characters for the party, two
// letters for the country, two characters for the place and, optionally, three for the branch; upper-case throughout.
func ValidBIC(text string) bool {
	if len(text) != 8 && len(text) != 11 {
		return false
	}
	for i := range len(text) {
		allowed := byte(classDigit | classLetter)
		if i == 4 || i == 5 {
			allowed = classLetter
		}
		if characterClass[text[i]]&allowed == 0 {
			return false
		}
	}
	return true
}
