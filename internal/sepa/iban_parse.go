package sepa

// What a byte of the input is worth: its upper-case character, or one of two marks that no IBAN character has.
const (
	inputRefused = 0
	inputSkipped = 1
)

var (
	inputCharacters = readInputCharacters()
	characterClass  = readCharacterClasses()
)

func readInputCharacters() (characters [256]byte) {
	characters[' '] = inputSkipped
	characters['-'] = inputSkipped
	for digit := byte('0'); digit <= '9'; digit++ {
		characters[digit] = digit
	}
	for letter := byte('A'); letter <= 'Z'; letter++ {
		characters[letter] = letter
		characters[letter+'a'-'A'] = letter
	}
	return characters
}

func readCharacterClasses() (classes [256]byte) {
	for digit := byte('0'); digit <= '9'; digit++ {
		classes[digit] = classDigit
	}
	for letter := byte('A'); letter <= 'Z'; letter++ {
		classes[letter] = classLetter
	}
	return classes
}

// ParseIBAN reads an IBAN as a payer writes it: with or without spaces and hyphens, in either case. Every other character
// is refused. Country, length, structure and check digits must be right; the check digits that some countries put inside
// the account number are not looked at, because banks' own test numbers break them. The error is always an *IBANError.
func ParseIBAN(text string) (IBAN, error) {
	var plain plainIBAN
	length := 0
	for i := 0; i < len(text); i++ {
		character := inputCharacters[text[i]]
		if character <= inputSkipped {
			if character == inputSkipped {
				continue
			}
			return IBAN{}, &IBANError{Kind: IBANInvalidCharacter}
		}
		if length < maxIBANLength {
			plain[length] = character
		}
		length++
	}
	layout := layoutFor(plain[0], plain[1])
	if layout == nil {
		return IBAN{}, refuseCountry(&plain, length)
	}
	if length != layout.length {
		return IBAN{}, newIBANError(IBANWrongLength, layout, length)
	}
	remainder, misplaced := layout.checkCharacters(&plain)
	if misplaced > 0 {
		return IBAN{}, refuseCharacter(layout, misplaced)
	}
	if remainder != 1 || !possibleCheckDigits(plain[2], plain[3]) {
		return IBAN{}, newIBANError(IBANInvalidChecksum, layout, length)
	}
	plain[lengthIndex] = byte(length)
	return plain.seal(), nil
}

// checkCharacters walks the IBAN once in the order of the checksum (the BBAN, then the first four characters), compares
// every character with the structure and gives the remainder of ISO 7064 MOD 97-10, in which a letter counts as two digits.
// The second result is the first misplaced character, counted from 1, or 0.
func (layout *ibanLayout) checkCharacters(plain *plainIBAN) (remainder uint64, misplaced int) {
	for place, index := 0, 4; place < layout.length; place++ {
		character := plain[index]
		if characterClass[character]&layout.allowed[index] == 0 {
			return 0, layout.firstMisplaced(plain)
		}
		if character <= '9' {
			remainder = remainder*10 + uint64(character-'0')
		} else {
			remainder = remainder*100 + uint64(character-'A') + 10
		}
		// Two more digits always fit below the limit; reducing seldom is what makes this fast.
		if remainder > 1e17 {
			remainder %= 97
		}
		if index++; index == layout.length {
			index = 0
		}
	}
	return remainder % 97, 0
}

func (layout *ibanLayout) firstMisplaced(plain *plainIBAN) int {
	for index := range layout.length {
		if characterClass[plain[index]]&layout.allowed[index] == 0 {
			return index + 1
		}
	}
	return 0
}

// possibleCheckDigits tells apart the pairs that the checksum cannot: 98 minus a remainder is 02 to 98, so that
// 00, 01 and 99 are the congruent doubles of 97, 98 and 02 and never issued.
func possibleCheckDigits(tens, ones byte) bool {
	checkDigits := (tens-'0')*10 + ones - '0'
	return checkDigits >= 2 && checkDigits <= 98
}
