package people

import (
	"os"
	"strings"
	"testing"

	"sepad/internal/merchant"
)

// TestMain has as many passwords hashed at a time as there are tests: they are strangers to each other, and none may be
// turned away because a busy machine takes long for the others.
func TestMain(m *testing.M) {
	hashing = make(hashers, 100)
	os.Exit(m.Run())
}

func TestPasswordsThatEverybodyTries(t *testing.T) {
	t.Parallel()
	const email = "ada.byron@office.example"
	for _, common := range []string{
		"password1234", "Password123!", "P@ssw0rd12345", "passwort2026!", "qwertyuiop123", "QWERTZuiop!!", "1q2w3e4r5t6y", "1qaz2wsx3edc", "123456789012", "0987654321098",
		"aaaaaaaaaaaa", "abcabcabcabc", "abcdefghijkl", "iloveyou1234", "welcome2sepad", "Sepad-Admin-1", "Summer2026!!", "correct horse battery staple", "admin admin admin",
		"ada.byron@office.example", "AdaByron2026", "office.example1", "letmeinletmein", "Montag, 16.11.", strings.Repeat("password", 25),
	} {
		if fault := checkPassword(merchant.Secret(common), email); fault == "" {
			t.Errorf("%q is taken", common)
		}
	}
	for _, good := range []string{"correct horse battery", "Zweig Tinte Mondlicht", "kx7#Qv2!mZp9", "934857203948", "Πάυλος και θάλασσα", "my password is a long river", "ada likes quiet forks"} {
		if fault := checkPassword(merchant.Secret(good), email); fault != "" {
			t.Errorf("%q is refused: %s", good, fault)
		}
	}
}
