package payment

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParseMinor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Minor{
		"0": 0, "0.0": 0, "0.00": 0, "1": 100, "1.5": 150, "29.99": 2999, "0.01": 1, "007": 700,
		"99999999.99": MaxMinor, "99999999": 9999999900, "10": 1000, "100.10": 10010,
	} {
		t.Run("takes "+text, func(t *testing.T) {
			t.Parallel()
			got, err := ParseMinor(text)
			if err != nil || got != want {
				t.Errorf("got %d, %v, want %d", got, err, want)
			}
		})
	}
	for text, want := range map[string]error{
		"": errAmountForm, ".": errAmountForm, ".5": errAmountForm, "5.": errAmountForm, " 1": errAmountForm, "1 ": errAmountForm,
		"1e3": errAmountForm, "1E3": errAmountForm, "-1": errAmountForm, "+1": errAmountForm, "1,5": errAmountForm, "1.2.3": errAmountForm,
		"0x10": errAmountForm, "NaN": errAmountForm, "Inf": errAmountForm, "1_000": errAmountForm, "٣": errAmountForm, "１": errAmountForm,
		"1\n": errAmountForm, "\x00": errAmountForm, "29.99€": errAmountForm, "..": errAmountForm,
		"0.001": errAmountDecimals, "1.000": errAmountDecimals, "1.2345678901": errAmountDecimals,
		"99999999999.99": errAmountDigits, "000000000001.20": errAmountDigits, "100000000": errAmountDigits, "100000000.00": errAmountDigits,
		strings.Repeat("9", 10000): errAmountDigits,
	} {
		t.Run("refuses "+strings.ToValidUTF8(text[:min(len(text), 20)], "?"), func(t *testing.T) {
			t.Parallel()
			if got, err := ParseMinor(text); !errors.Is(err, want) {
				t.Errorf("got %d, %v, want %v", got, err, want)
			}
		})
	}
}

func TestMinorString(t *testing.T) {
	t.Parallel()
	for amount, want := range map[Minor]string{
		0: "0.00", 1: "0.01", 10: "0.10", 99: "0.99", 100: "1.00", 2999: "29.99", MaxMinor: "99999999.99",
		-1: "-0.01", -2999: "-29.99", math.MaxInt64: "92233720368547758.07",
	} {
		if got := amount.String(); got != want {
			t.Errorf("%d is written %q, want %q", int64(amount), got, want)
		}
	}
	if got := string(Minor(5).Append([]byte("EUR "))); got != "EUR 0.05" {
		t.Errorf("appended: %q", got)
	}
}

// FuzzParseMinor checks that whatever is taken comes back unchanged and that
// what it is taken for is what a decimal reader would say.
func FuzzParseMinor(f *testing.F) {
	for _, seed := range []string{"0", "29.99", "1e3", "0.001", "-1", "99999999999.99", "+1", ".5", "5.", " 1", "007", "٣", "99999999.99"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := ParseMinor(text)
		if err != nil {
			if amount != 0 {
				t.Fatalf("%q is refused and yet %d", text, amount)
			}
			return
		}
		if amount < 0 || amount > MaxMinor {
			t.Fatalf("%q is out of bounds: %d", text, amount)
		}
		whole, decimals, _ := strings.Cut(text, ".")
		canonical := strings.TrimLeft(whole, "0")
		if canonical == "" {
			canonical = "0"
		}
		canonical += "." + (decimals + "00")[:2]
		if amount.String() != canonical {
			t.Fatalf("%q is written %q, want %q", text, amount, canonical)
		}
		if again, err := ParseMinor(amount.String()); err != nil || again != amount {
			t.Fatalf("%q came back as %d, %v", text, again, err)
		}
	})
}
