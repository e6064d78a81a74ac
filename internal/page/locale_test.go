package page

import "testing"

func TestCount(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		code string
		n    int
		want string
	}{
		{"en", 1, "1 week"},
		{"en", 2, "2 weeks"},
		{"de", 1, "1 Woche"},
		{"de", 14, "14 Wochen"},
		{"fr", 1, "1 semaine"},
		{"fr", 2, "2 semaines"},
		{"pl", 1, "1 tydzień"},
		{"pl", 2, "2 tygodnie"},
		{"pl", 5, "5 tygodni"},
		{"pl", 12, "12 tygodni"},
		{"pl", 22, "22 tygodnie"},
		{"pl", 112, "112 tygodni"},
		{"cs", 3, "3 týdny"},
		{"cs", 22, "22 týdnů"},
		{"sk", 5, "5 týždňov"},
		{"sl", 1, "1 teden"},
		{"sl", 2, "2 tedna"},
		{"sl", 4, "4 tedne"},
		{"sl", 5, "5 tednov"},
		{"sl", 102, "102 tedna"},
		{"hr", 21, "21 tjedan"},
		{"hr", 11, "11 tjedana"},
		{"hr", 3, "3 tjedna"},
		{"ro", 1, "1 săptămână"},
		{"ro", 12, "12 săptămâni"},
		{"ro", 20, "20 de săptămâni"},
		{"ro", 101, "101 săptămâni"},
		{"fi", 2, "2 viikkoa"},
	} {
		if l := findLanguage(one.code); l.count(l.Weeks, one.n) != one.want {
			t.Errorf("%s says %q, want %q", one.code, l.count(l.Weeks, one.n), one.want)
		}
	}
}
