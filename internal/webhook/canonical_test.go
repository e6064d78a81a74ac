package webhook

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/gowebpki/jcs"
)

// TestCanonicalIsThatOfTheStandard holds our way against a library that knows every rule, by texts of all kinds.
func TestCanonicalIsThatOfTheStandard(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(random.IntN(2) == 0)
		if err := encoder.Encode(anything(random, 0)); err != nil {
			t.Fatal(err)
		}
		wantSame(t, bytes.TrimSpace(text.Bytes()))
	}
}

func TestCanonicalOfOddTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, `[]`, `{"b":1,"a":2}`, `{"a":1,"a":2}`, `{"a":-0,"b":0,"c":-1,"d":01}`, `{"a":1e3,"b":1.50,"c":123456789012345678}`, `{ "b" : 1 , "a" : 2 }`,
		`{"é":1,"e":2}`, `{"ab":1,"a":2,"a!":3}`, `{"":1,"a":{"":[]}}`, `{"a":"\u00e9\/","b":"` + "\x7f" + `"}`, `{"a":tru}`, `{"a":}`, `{"a"}`, `{"a":1,}`, `[1,]`, `{`, `"`, ``,
		`{"a":"` + "\xff" + `"}`, `{"a":1}x`, `[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]`, `{"a":nulll,"b":--1}`,
	} {
		wantSame(t, []byte(text))
	}
}

func wantSame(t *testing.T, text []byte) {
	t.Helper()
	want, failure := jcs.Transform(text)
	got, err := canonical(text)
	if (err == nil) != (failure == nil) || !bytes.Equal(got, want) {
		t.Errorf("%s became %s (%v), want %s (%v)", text, got, err, want, failure)
	}
}

// anything is a value that JSON can have.
func anything(random *rand.Rand, depth int) any {
	texts := []string{"", "a", "transaction.created", "Zoë", "\"quoted\"", "<b>&", "line\nbreak", "\u2028", "😀", "49.00", "é€"}
	text := func() string { return texts[random.IntN(len(texts))] + texts[random.IntN(len(texts))] }
	switch kind := random.IntN(8); {
	case kind == 0:
		return nil
	case kind == 1:
		return random.IntN(2) == 0
	case kind == 2:
		return random.Int64N(1<<62) >> random.IntN(62)
	case kind == 3:
		return random.NormFloat64() * 1000
	case kind == 4 || depth > 3:
		return text()
	case kind == 5:
		list := make([]any, random.IntN(4))
		for i := range list {
			list[i] = anything(random, depth+1)
		}
		return list
	}
	object := map[string]any{}
	for range random.IntN(8) {
		object[text()] = anything(random, depth+1)
	}
	return object
}
