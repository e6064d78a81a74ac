package people

import (
	"slices"
	"strings"
	"unicode"

	"sepad/internal/merchant"
)

// commonWords are what passwords that everybody knows are made of, those of the lists that guessers begin with, in the
// languages of our operators, and what stands on the page on which a password is chosen.
var commonWords = []string{
	"sepad", "operator", "dashboard", "payment", "direct", "debit", "lastschrift", "merchant", "counter",
	"password", "passwort", "passwd", "motdepasse", "contrasena", "wachtwoord", "haslo", "senha", "parola", "kennwort", "geheim", "secret", "secure",
	"welcome", "willkommen", "bienvenue", "hello", "hallo", "bonjour", "letmein", "login", "admin", "administrator", "root", "master", "superuser", "changeme",
	"default", "guest", "user", "test", "demo", "temp", "access", "iloveyou", "loveyou", "ichliebedich", "jetaime", "teamo", "liebe", "schatz", "princess", "prinzessin",
	"sunshine", "sonnenschein", "football", "fussball", "baseball", "basketball", "dragon", "monkey", "shadow", "superman", "batman", "pokemon", "starwars", "ninja",
	"michael", "jordan", "jennifer", "jessica", "charlie", "daniel", "thomas", "andrea", "nicole", "ashley", "hannah", "whatever", "trustno", "freedom", "computer",
	"internet", "samsung", "google", "facebook", "microsoft", "windows", "linux", "january", "february", "march", "april", "june", "july", "august", "september", "october",
	"november", "december", "januar", "februar", "maerz", "juni", "juli", "oktober", "dezember", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
	"sunday", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "summer", "winter", "spring", "autumn", "sommer", "herbst",
	"fruehling", "company", "firma", "office", "correcthorsebatterystaple",
}

// keyboards are the rows of keys along which fingers walk, and the ways through them.
var keyboards = []string{
	"1234567890", "qwertyuiop", "qwertzuiop", "azertyuiop", "asdfghjkl", "yxcvbnm", "zxcvbnm", "qsdfghjklm", "wxcvbn", "abcdefghijklmnopqrstuvwxyz",
	"1qaz2wsx3edc4rfv5tgb6yhn7ujm", "1q2w3e4r5t6y7u8i9o0p", "1a2s3d4f5g6h7j8k9l", "a1b2c3d4e5f6", "qazwsxedcrfvtgbyhnujm", "147258369", "159357", "13579", "24680",
}

// disguises are the signs that stand for letters.
var disguises = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i", "€", "e")

// leastOwn is how many different letters a password has beside what everybody would guess.
const leastOwn = 5

// isCommon tells a password that is made of well-known words, walks over the keyboard, repetitions and its owner's address.
func isCommon(password merchant.Secret, email string) bool {
	words := slices.Concat(commonWords, strings.FieldsFunc(strings.ToLower(email), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) }) // the longest first, whose parts are words too
	plain := withoutWalks(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) && r != '@' {
			return -1
		}
		return r
	}, strings.ToLower(password.Reveal())))
	return min(own(plain, words), own(disguises.Replace(plain), words)) < leastOwn
}

// own counts the different letters of a text without words.
func own(text string, words []string) int {
	const shortest = 3 // a word of two letters is in every password
	for _, word := range words {
		if len(word) >= shortest {
			text = strings.ReplaceAll(text, word, " ")
		}
	}
	letters := map[rune]bool{}
	for _, r := range text {
		letters[r] = true
	}
	delete(letters, ' ')
	return len(letters)
}

// withoutWalks takes away what goes along a row of keys, there or back, for four keys or more.
func withoutWalks(text string) string {
	const least = 4
	letters := []rune(text)
	for i := 0; i+least <= len(letters); i++ {
		longest := 0
		for _, row := range keyboards {
			for _, way := range []string{row, backwards(row)} {
				for n := least; i+n <= len(letters) && strings.Contains(way, string(letters[i:i+n])); n++ {
					longest = max(longest, n)
				}
			}
		}
		if longest > 0 {
			letters = slices.Replace(letters, i, i+longest, ' ')
		}
	}
	return string(letters)
}

func backwards(text string) string {
	letters := []rune(text)
	slices.Reverse(letters)
	return string(letters)
}
