package sepa

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const (
	germanIBAN = "DE89370400440532013000"
	germanMask = "******************3000"
)

func mustParse(t testing.TB, text string) IBAN {
	t.Helper()
	iban, err := ParseIBAN(text)
	if err != nil {
		t.Fatalf("ParseIBAN(%q): %v", text, err)
	}
	return iban
}

func TestParseIBANAcceptsEveryRegistryExample(t *testing.T) {
	t.Parallel()
	if len(registryExamples) != len(ibanRegistry) || len(ibanRegistry) != 89 {
		t.Fatalf("%d examples for %d countries, want 89 of each", len(registryExamples), len(ibanRegistry))
	}
	for i, example := range registryExamples {
		iban := mustParse(t, example)
		if iban.Electronic() != example {
			t.Errorf("Electronic() = %q, want %q", iban.Electronic(), example)
		}
		if iban.Country() != ibanRegistry[i].code {
			t.Errorf("%s: Country() = %q, want %q", example, iban.Country(), ibanRegistry[i].code)
		}
		if iban.Last4() != example[len(example)-4:] {
			t.Errorf("%s: Last4() = %q", example, iban.Last4())
		}
	}
}

func TestParseIBANNormalisesWhatPayersType(t *testing.T) {
	t.Parallel()
	want := mustParse(t, germanIBAN)
	for _, text := range []string{
		"DE89 3704 0044 0532 0130 00", "de89370400440532013000", " De89-3704-0044-0532-0130-00 ", "D E 8 9370400440532013000",
	} {
		if got := mustParse(t, text); got != want {
			t.Errorf("%q is not equal to the plain form", text)
		}
	}
}

func TestIBANParts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ iban, country, bankCode, last4, masked string }{
		{germanIBAN, "DE", "37040044", "3000", germanMask},
		{"IT60X0542811101000000123456", "IT", "05428", "3456", "***********************3456"},
		{"NL91ABNA0417164300", "NL", "ABNA", "4300", "**************4300"},
		{"PL61109010140000071219812874", "PL", "10901014", "2874", "************************2874"},
		{"SI56263300012039086", "SI", "26330", "9086", "***************9086"},
		{"NO9386011117947", "NO", "8601", "7947", "***********7947"},
	} {
		iban := mustParse(t, test.iban)
		if iban.Country() != test.country || iban.BankCode() != test.bankCode || iban.Last4() != test.last4 || iban.Masked() != test.masked {
			t.Errorf("%s: country %q, bank code %q, last four %q, masked %q",
				test.iban, iban.Country(), iban.BankCode(), iban.Last4(), iban.Masked())
		}
	}
}

func TestTheZeroIBANIsNone(t *testing.T) {
	t.Parallel()
	var none IBAN
	if !none.IsZero() || none.Electronic()+none.Country()+none.Last4()+none.Masked()+none.BankCode()+none.String() != "" {
		t.Error("the zero IBAN has content")
	}
	if encoded, err := json.Marshal(none); err != nil || string(encoded) != "null" {
		t.Errorf("the zero IBAN is encoded as %s, %v", encoded, err)
	}
	if mustParse(t, germanIBAN).IsZero() {
		t.Error("a parsed IBAN counts as none")
	}
}

func TestAnIBANIsNeverPrintedInFull(t *testing.T) {
	t.Parallel()
	iban := mustParse(t, germanIBAN)
	holder := struct {
		Public  IBAN
		private IBAN
		pointer *IBAN
	}{iban, iban, &iban}
	var printed bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%b", "%o", "%c", "%U", "%t", "%e", "%08v", "%-40s"} {
		fmt.Fprintf(&printed, verb+"\n", iban)
		fmt.Fprintf(&printed, verb+"\n", &iban)
		fmt.Fprintf(&printed, verb+"\n", holder)
		fmt.Fprintf(&printed, verb+"\n", []IBAN{iban})
		fmt.Fprintf(&printed, verb+"\n", map[IBAN]IBAN{iban: iban})
	}
	slog.New(slog.NewTextHandler(&printed, nil)).Info("text", "iban", iban, "holder", holder)
	slog.New(slog.NewJSONHandler(&printed, nil)).Info("json", "iban", iban, "holder", holder)
	if err := json.NewEncoder(&printed).Encode(map[string]any{"iban": iban, "holder": holder.Public}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(printed.String(), germanMask) {
		t.Error("the masked form is not printed")
	}
	account := "0532013"
	for name, leak := range map[string]string{
		"text":         account,
		"hexadecimal":  fmt.Sprintf("%x", account),
		"byte numbers": strings.Trim(fmt.Sprint([]byte(account)), "[]"),
		"hex numbers":  strings.Trim(fmt.Sprintf("%#v", []byte(account)), "[]byte{}"),
	} {
		if strings.Contains(printed.String(), leak) {
			t.Errorf("the account number is printed as %s", name)
		}
	}
}

func TestIBANErrorsTellThePayerWhatToMend(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, sentence string
		kind                 IBANErrorKind
	}{
		{"nothing", "", "IBAN is required", IBANMissing},
		{"blanks only", " - ", "IBAN is required", IBANMissing},
		{"too short", "DE8937040044053201300", "This IBAN has 21 characters; a German one has 22.", IBANWrongLength},
		{"too long", "AT6119043002345732011", "This IBAN has 21 characters; an Austrian one has 20.", IBANWrongLength},
		{"far too long", "UA" + strings.Repeat("1", 500), "This IBAN has 502 characters; a Ukrainian one has 29.", IBANWrongLength},
		{"the country alone", "FR", "This IBAN has 2 characters; a French one has 27.", IBANWrongLength},
		{"an unknown country", "DX89370400440532013000", "Unknown country code: no IBAN starts with DX.", IBANUnknownCountry},
		{"a country without IBANs", "US89370400440532013000", "Unknown country code: no IBAN starts with US.", IBANUnknownCountry},
		{"one letter", "D", "Unknown country code: an IBAN starts with the two letters of its country.", IBANUnknownCountry},
		{"an account number", "0532013000", "Unknown country code: an IBAN starts with the two letters of its country.", IBANUnknownCountry},
		{"a dot", "DE89.3704.0044.0532.0130.00", "Invalid characters: an IBAN has only the letters A to Z and digits.", IBANInvalidCharacter},
		{"a tab", "DE89\t370400440532013000", "Invalid characters: an IBAN has only the letters A to Z and digits.", IBANInvalidCharacter},
		{"a no-break space", "DE89\u00a0370400440532013000", "Invalid characters: an IBAN has only the letters A to Z and digits.", IBANInvalidCharacter},
		{"full-width digits", "DE８９370400440532013000", "Invalid characters: an IBAN has only the letters A to Z and digits.", IBANInvalidCharacter},
		{"a letter among digits", "DE8937O400440532013000", "Invalid format: in a German IBAN character 7 is a digit.", IBANWrongStructure},
		{"letters as check digits", "IEXXAIBK93115212345678", "Invalid format: in an Irish IBAN character 3 is a digit.", IBANWrongStructure},
		{"a digit among letters", "NL911BNA0417164300", "Invalid format: in a Dutch IBAN character 5 is a letter.", IBANWrongStructure},
		{"a wrong digit", "DE89370400440532013001", "Invalid checksum: a character of this IBAN is wrong, or two are swapped.", IBANInvalidChecksum},
		{"swapped digits", "DE89370400440532010300", "Invalid checksum: a character of this IBAN is wrong, or two are swapped.", IBANInvalidChecksum},
	} {
		t.Run(test.name+" is refused", func(t *testing.T) {
			t.Parallel()
			iban, err := ParseIBAN(test.text)
			var refusal *IBANError
			if !errors.As(err, &refusal) || !iban.IsZero() {
				t.Fatalf("ParseIBAN(%q) = %v, %v", test.text, iban, err)
			}
			if refusal.Kind != test.kind || refusal.Error() != test.sentence {
				t.Errorf("%s: %q, want %s: %q", refusal.Kind, refusal, test.kind, test.sentence)
			}
		})
	}
}

func TestIBANErrorsCarryWhatATranslationNeeds(t *testing.T) {
	t.Parallel()
	_, err := ParseIBAN("DE8937040044053201300")
	var refusal *IBANError
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	if refusal.Country != "DE" || refusal.CountryName != "Germany" || refusal.Length != 21 || refusal.ExpectedLength != 22 {
		t.Errorf("country %q %q, length %d of %d", refusal.Country, refusal.CountryName, refusal.Length, refusal.ExpectedLength)
	}
	_, err = ParseIBAN("NL911BNA0417164300")
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	if refusal.Position != 5 || refusal.DigitExpected {
		t.Errorf("position %d, digit expected %v", refusal.Position, refusal.DigitExpected)
	}
}

func TestCheckDigitsThatAreNeverIssuedAreRefused(t *testing.T) {
	t.Parallel()
	// 00, 01 and 99 leave the same remainder as 97, 98 and 02, so the checksum alone lets them pass.
	issued := map[string]string{"97": "00", "98": "01", "02": "99"}
	seen := 0
	for account := range 400 {
		for genuine, double := range issued {
			bban := fmt.Sprintf("37040044%010d", account)
			if _, err := ParseIBAN("DE" + genuine + bban); err != nil {
				continue
			}
			seen++
			if _, err := ParseIBAN("DE" + double + bban); err == nil {
				t.Errorf("check digits %s are accepted for an account that has %s", double, genuine)
			}
		}
	}
	if seen < 3 {
		t.Fatalf("only %d accounts with such check digits were tried", seen)
	}
}

// Replacing one character changes the number modulo 97 by d·10^k, or by d·10^k with two digits at once for letters; the
// checksum misses it only when that is a multiple of 97, which no difference of two digits is.
func TestEveryOneCharacterMutationIsCaught(t *testing.T) {
	t.Parallel()
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, example := range registryExamples {
		for i := range len(example) {
			for _, replacement := range []byte(alphabet) {
				if example[i] == replacement {
					continue
				}
				mutated := example[:i] + string(replacement) + example[i+1:]
				_, err := ParseIBAN(mutated)
				if err == nil && remainderOf(mutated) != 1 {
					t.Errorf("%s with %q at %d is accepted", example, replacement, i+1)
				}
				if err == nil && sameClass(example[i], replacement) {
					t.Errorf("%s with %q at %d slips through the checksum", example, replacement, i+1)
				}
			}
		}
	}
}

func sameClass(a, b byte) bool { return characterClass[a] == characterClass[b] }

// remainderOf is the checksum done the slow way, digit by digit, as a second opinion.
func remainderOf(iban string) int {
	remainder := 0
	for _, character := range iban[4:] + iban[:4] {
		if character >= 'A' {
			value := int(character-'A') + 10
			remainder = (remainder*10 + value/10) % 97
			remainder = (remainder*10 + value%10) % 97
			continue
		}
		remainder = (remainder*10 + int(character-'0')) % 97
	}
	return remainder
}

func TestParsingAValidIBANAllocatesNothing(t *testing.T) {
	for _, example := range registryExamples {
		allocations := testing.AllocsPerRun(20, func() {
			if iban, err := ParseIBAN(example); err != nil || iban.Country() == "" {
				t.Error(err)
			}
		})
		if allocations != 0 {
			t.Errorf("%s: %v allocations", example, allocations)
		}
	}
}

func FuzzParseIBAN(f *testing.F) {
	for _, example := range registryExamples {
		f.Add(example)
	}
	f.Add("de89 3704-0044 0532 0130 00")
	f.Add("DE\x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		iban, err := ParseIBAN(text)
		if err != nil {
			var refusal *IBANError
			if !errors.As(err, &refusal) || refusal.Error() == "" || !iban.IsZero() {
				t.Fatalf("%v, %v", iban, err)
			}
			return
		}
		electronic := iban.Electronic()
		if remainderOf(electronic) != 1 {
			t.Fatalf("%q is accepted with a wrong checksum", text)
		}
		if stripped := strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(text)); stripped != electronic {
			t.Fatalf("%q became %q", text, electronic)
		}
		if again := mustParse(t, electronic); again != iban {
			t.Fatalf("%q does not parse to itself", electronic)
		}
		if masked := iban.Masked(); len(masked) != len(electronic) || strings.Trim(masked[:len(masked)-4], "*") != "" {
			t.Fatalf("mask %q", masked)
		}
	})
}

func BenchmarkParseIBAN(b *testing.B) {
	for name, texts := range map[string][]string{
		"German":        {germanIBAN},
		"with spaces":   {"DE89 3704 0044 0532 0130 00"},
		"every country": registryExamples,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			next := 0
			for b.Loop() {
				if _, err := ParseIBAN(texts[next]); err != nil {
					b.Fatal(err)
				}
				if next++; next == len(texts) {
					next = 0
				}
			}
		})
	}
}
