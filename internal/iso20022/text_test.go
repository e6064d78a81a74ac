package iso20022_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sepad/internal/iso20022"
)

func TestLatin(t *testing.T) {
	t.Parallel()
	for _, example := range []struct{ name, text, want, lost string }{
		{"plain text stays as it is", "Anna Beispiel, 12/3", "Anna Beispiel, 12/3", ""},
		{"German letters are spelled out", "Jürgen Größe", "Juergen Groesse", ""},
		{"a capital at the head of a word keeps the word's case", "Österreich Äpfel", "Oesterreich Aepfel", ""},
		{"capitals stay capitals", "MÜLLER GROẞ STRAßE Ä", "MUELLER GROSS STRAssE Ae", ""},
		{"a last capital follows the one before", "FLÄ", "FLAE", ""},
		{"accents are taken off", "François Çelik Señor Ærø Łukasz Ďurica Żółć", "Francois Celik Senor Aeroe Lukasz Durica Zolc", ""},
		{"Nordic letters", "Åse Bjørn Þór Guðrún", "Aase Bjoern Thor Gudrun", ""},
		{"letters with two marks", "Nguyễn Thị Ánh", "Nguyen Thi Anh", ""},
		{"decomposed letters read as composed ones", "Mu\u0308ller", "Mueller", ""},
		{"Greek by the standard of passports", "Παύλος Ευαγγελία Ψωμάς Μπάμπης Χρήστου", "Pavlos Evangelia Psomas Bampis Christou", ""},
		{"Greek capitals", "ΟΥΡΑΝΟΣ ΑΥΤΗ ΘΕΟΣ", "OURANOS AFTI THEOS", ""},
		{"old Greek accents", "Ἀθῆναι", "Athinai", ""},
		{"Bulgarian", "Георги Щерев Жълъд Юлия", "Georgi Shterev Zhalad Yuliya", ""},
		{"Serbian and Ukrainian letters", "Ђорђе Љиљана Київ", "Djordje Ljiljana Kiiv", ""},
		{"signs that mean something", "Tom & Söhne, 5 €, a_b; (x@y)", "Tom + Soehne, 5 EUR, a-b, (x(at)y)", ""},
		{"typographic signs", "O’Neil – “Co” …", "O'Neil - 'Co' ...", ""},
		{"full-width letters and ligatures", "ＡＢＣ ﬁsh", "ABC fish", ""},
		{"line breaks and tabs become one space", " a\r\n\tb  c ", "a b c", ""},
		{"invisible marks vanish", "a\u200bb\u00adc", "abc", ""},
		{"what has no form becomes a space and is named once", "李 Anna 李明", "Anna", "李明"},
		{"bytes that are no text become a space", "a\xffb", "a b", "\ufffd"},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			got, lost := iso20022.Latin(example.text)
			if got != example.want || string(lost) != example.lost {
				t.Errorf("want %q, lost %q; got %q, lost %q", example.want, example.lost, got, string(lost))
			}
		})
	}
}

func FuzzLatin(f *testing.F) {
	for _, text := range []string{"Müller", "ΟΥ", "ЩЪ", "\xff", "ﬃ", "ǆ", "İ", "ŉ", "  "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		latin, lost := iso20022.Latin(text)
		for _, r := range latin {
			if r > 'z' || !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-?:().,'+ ", r) {
				t.Errorf("%q gives %q, which no bank takes", text, r)
			}
		}
		if strings.TrimSpace(latin) != latin || strings.Contains(latin, "  ") {
			t.Errorf("%q gives %q, which has spaces too many", text, latin)
		}
		if again, _ := iso20022.Latin(latin); again != latin {
			t.Errorf("%q is not stable: %q, %q", text, latin, again)
		}
		if len(lost) == 0 && latin == "" && utf8.RuneCountInString(strings.TrimSpace(text)) > 0 && strings.ContainsAny(text, "aA1") {
			t.Errorf("%q vanishes without a word", text)
		}
	})
}

func TestATextIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"abc": "abc", "abcd": "abcd", "abcde": "abcd", "abcä": "abc", "aä": "aä", "😀x": "😀", "a😀": "a"} {
		if got := iso20022.Shorten(text, 4); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}
