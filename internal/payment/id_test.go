package payment

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNewID(t *testing.T) {
	t.Parallel()
	last := NewID()
	for range 1000 {
		next := NewID()
		if next.Version() != 7 || bytes.Compare(next[:], last[:]) <= 0 {
			t.Fatalf("%s after %s", next, last)
		}
		last = next
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	evening := time.Date(2026, 1, 1, 0, 30, 0, 0, time.FixedZone("Berlin", 3600))
	for name, c := range map[string]struct {
		make func() string
		form string
	}{
		"merchant transaction id carries the UTC day": {func() string { return NewMerchantTransactionID(evening) }, `^TXN-20251231-[A-Z0-9]{8}$`},
		"order number":      {NewOrderNumber, `^ORD-[A-Z0-9]{8}$`},
		"mandate reference": {NewMandateReference, `^MND-[A-Z0-9]{12}$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			form, seen, letters := regexp.MustCompile(c.form), map[string]bool{}, map[rune]bool{}
			for range 2000 {
				text := c.make()
				if !form.MatchString(text) || seen[text] {
					t.Fatalf("%q has not the form %s or came before", text, c.form)
				}
				seen[text] = true
				for _, letter := range text[strings.LastIndexByte(text, '-')+1:] {
					letters[letter] = true
				}
			}
			if len(letters) != len(codeAlphabet) {
				t.Errorf("only %d of %d letters are used", len(letters), len(codeAlphabet))
			}
		})
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^ps_[A-Za-z0-9_-]{44}$`)
	t.Run("carries the tenant's number", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			number := rapid.Uint32().Draw(t, "number")
			token := NewToken(number)
			if got, ok := TokenTenant(token); !ok || got != number || len(token) != TokenLength || !form.MatchString(token) {
				t.Fatalf("token of %d gives %d, %t and has %d characters", number, got, ok, len(token))
			}
		})
	})
	t.Run("never comes twice", func(t *testing.T) {
		t.Parallel()
		seen := map[string]bool{}
		for range 2000 {
			token := NewToken(7)
			if seen[token] {
				t.Fatal("a token came twice")
			}
			seen[token] = true
		}
	})
	t.Run("shows little of itself in logs", func(t *testing.T) {
		t.Parallel()
		if got := ShortToken("ps_ABCDEFGHIJ"); got != "ps_ABCD" {
			t.Errorf("got %q", got)
		}
		if got := ShortToken("ps"); got != "ps" {
			t.Errorf("got %q", got)
		}
	})
}

func TestForeignTokens(t *testing.T) {
	t.Parallel()
	good := NewToken(1)
	for name, token := range map[string]string{
		"empty":                        "",
		"prefix alone":                 "ps_",
		"an API key":                   "rk_" + good[3:],
		"one character short":          good[:46],
		"one character long":           good + "A",
		"upper-case prefix":            "PS_" + good[3:],
		"a sign of another alphabet":   good[:46] + "+",
		"a blank":                      good[:20] + " " + good[21:],
		"padding":                      good[:46] + "=",
		"a letter of two bytes":        good[:45] + "é",
		"line breaks instead of bytes": good[:43] + "\n\n\n\n",
		"one line break":               good[:46] + "\n",
		"carriage returns":             "ps_\r\r\r\r" + good[7:],
		"only line breaks":             "ps_" + strings.Repeat("\n", 44),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if number, ok := TokenTenant(token); ok || number != 0 {
				t.Errorf("taken for a token of tenant %d", number)
			}
		})
	}
}

func FuzzTokenTenant(f *testing.F) {
	f.Add(NewToken(42))
	f.Add("ps_" + strings.Repeat("\n", 44))
	f.Fuzz(func(t *testing.T, token string) {
		if _, ok := TokenTenant(token); ok && len(token) != TokenLength {
			t.Fatalf("a token of %d bytes was taken", len(token))
		}
	})
}

func TestWhatCanBeAReference(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, " ": false, "A B": false, "A\x00": false, "Ä": false, "A\x7f": false, "!": true, "~": true, "TXN-20260101-AAAAAAAA": true} {
		if IsReference(text) != want {
			t.Errorf("%q is a reference: %v", text, !want)
		}
	}
}
