package vault_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/vault"
)

var (
	tenant  = uuid.MustParse("018f0000-0000-7000-8000-000000000001")
	another = uuid.MustParse("018f0000-0000-7000-8000-000000000002")
	secret  = []byte("a secret of some length, ä")
)

func open(t *testing.T, keys string) *vault.Vault {
	t.Helper()
	v, err := vault.New(keys)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return v
}

func seal(t *testing.T, v *vault.Vault, plain []byte, to vault.Binding) string {
	t.Helper()
	sealed, err := v.Seal(plain, to)
	if err != nil {
		t.Fatalf("Seal: %v", err)
	}
	return sealed
}

func TestSealedTextOpensAgain(t *testing.T) {
	t.Parallel()
	v := open(t, vault.GenerateKey())
	for _, plain := range [][]byte{nil, []byte("x"), secret, bytes.Repeat([]byte{0}, 5000)} {
		sealed := seal(t, v, plain, vault.Purpose(tenant, "iban"))
		got, err := v.Open(sealed, vault.Purpose(tenant, "iban"))
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("a text of %d bytes came back as %d bytes, %v", len(plain), len(got), err)
		}
		if len(plain) > 1 && strings.Contains(sealed, string(plain)) {
			t.Error("the sealed text shows the plain one")
		}
	}
}

func TestTheSameTextIsNeverSealedAlikeTwice(t *testing.T) {
	t.Parallel()
	v := open(t, vault.GenerateKey())
	first, second := seal(t, v, secret, vault.Binding{}), seal(t, v, secret, vault.Binding{})
	if first == second {
		t.Error("equal texts can be recognised by their sealed form")
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	oldKey, newKey := vault.GenerateKey(), vault.GenerateKey()
	before, during, after := open(t, oldKey), open(t, newKey+" , "+oldKey), open(t, newKey)
	sealedBefore := seal(t, before, secret, vault.Binding{})
	sealedDuring := seal(t, during, secret, vault.Binding{})

	t.Run("old texts open while the old key is still listed", func(t *testing.T) {
		t.Parallel()
		if got, err := during.Open(sealedBefore, vault.Binding{}); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("new texts are sealed with the first key", func(t *testing.T) {
		t.Parallel()
		name, _, _ := strings.Cut(newKey, ":")
		if !strings.HasPrefix(sealedDuring, name+":") {
			t.Error("the sealed text does not bear the first key's name")
		}
		if got, err := after.Open(sealedDuring, vault.Binding{}); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a key that was dropped is named in the error", func(t *testing.T) {
		t.Parallel()
		name, _, _ := strings.Cut(oldKey, ":")
		_, err := after.Open(sealedBefore, vault.Binding{})
		if !errors.Is(err, vault.ErrUnknownKey) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a name given to another key does not open old texts", func(t *testing.T) {
		t.Parallel()
		name, _, _ := strings.Cut(oldKey, ":")
		_, key, _ := strings.Cut(newKey, ":")
		if _, err := open(t, name+":"+key).Open(sealedBefore, vault.Binding{}); !errors.Is(err, vault.ErrCannotOpen) {
			t.Errorf("got %v", err)
		}
	})
}

func TestATextOpensOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	before, v := open(t, "k:"+strings.Repeat("A", 43)), open(t, "k:"+strings.Repeat("A", 43))
	v.BindRows()
	here := vault.Purpose(tenant, "iban").In("row 1")
	older, sealed := seal(t, before, secret, here), seal(t, v, secret, here)
	for name, elsewhere := range map[string]vault.Binding{
		"another tenant":  vault.Purpose(another, "iban").In("row 1"),
		"another purpose": vault.Purpose(tenant, "signing_secret").In("row 1"),
		"no purpose":      vault.Purpose(tenant, "").In("row 1"),
		"handed out":      vault.Handed(tenant, "iban").In("row 1"),
		"another row":     vault.Purpose(tenant, "iban").In("row 2"),
		"no row":          vault.Purpose(tenant, "iban"),
		"a longer row":    vault.Purpose(tenant, "ib").In("an row 1"),
		"nothing":         {},
	} {
		if _, err := v.Open(sealed, elsewhere); !errors.Is(err, vault.ErrCannotOpen) {
			t.Errorf("with %s: got %v", name, err)
		}
	}
	t.Run("what older programs sealed opens for its tenant and purpose", func(t *testing.T) {
		t.Parallel()
		if got, err := v.Open(older, here); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("got %v", err)
		}
		if _, err := v.Open(older, vault.Purpose(another, "iban").In("row 1")); !errors.Is(err, vault.ErrCannotOpen) {
			t.Errorf("for another tenant: got %v", err)
		}
	})
	t.Run("a text does not pass for one of the other form", func(t *testing.T) {
		t.Parallel()
		for _, forged := range []string{strings.Replace(sealed, ":~", ":", 1), strings.Replace(older, ":", ":~", 1)} {
			if _, err := v.Open(forged, here); !errors.Is(err, vault.ErrCannotOpen) {
				t.Errorf("got %v", err)
			}
		}
	})
	t.Run("the prefix tells what is sealed now", func(t *testing.T) {
		t.Parallel()
		if !strings.HasPrefix(sealed, v.Prefix()) || strings.HasPrefix(older, v.Prefix()) || !strings.HasPrefix(older, before.Prefix()) {
			t.Errorf("%q and %q", before.Prefix(), v.Prefix())
		}
	})
}

func TestEveryChangedCharacterIsNoticed(t *testing.T) {
	t.Parallel()
	v := open(t, vault.GenerateKey())
	sealed := seal(t, v, secret, vault.Binding{})
	for i := range sealed {
		changed := []byte(sealed)
		if changed[i]++; changed[i] == sealed[i] {
			t.Fatal("nothing was changed")
		}
		if _, err := v.Open(string(changed), vault.Binding{}); err == nil {
			t.Errorf("a change at %d went unnoticed", i)
		}
		if _, err := v.Open(sealed[:i], vault.Binding{}); err == nil {
			t.Errorf("a text cut at %d opened", i)
		}
	}
}

func TestWhatSealDidNotWriteIsRefusedWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	v := open(t, vault.GenerateKey())
	for _, text := range []string{"", ":", "plain", "name:plain text", "DE00:aaaa", "a b:" + strings.Repeat("A", 60)} {
		_, err := v.Open(text, vault.Binding{})
		if !errors.Is(err, vault.ErrNotSealed) {
			t.Errorf("%q: got %v", text, err)
		}
		if text != "" && text != ":" && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats the text: %v", err)
		}
	}
}

func TestWrongSettingsAreNamedByPositionAndNotRepeated(t *testing.T) {
	t.Parallel()
	good := vault.GenerateKey()
	short := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 31))
	for keys, want := range map[string]string{
		"":                                   "is empty",
		"  ":                                 "is empty",
		strings.Split(good, ":")[1]:          "key 1 has no name",
		good + ",b:" + short:                 "key 2 must be 32 bytes",
		good + ",b:%%%":                      "key 2 must be 32 bytes",
		good + "," + good:                    "key 2 has the name of an earlier one",
		good + ",":                           "key 2 has no name",
		"a b:" + short + "A":                 "key 1 needs a name",
		":" + short:                          "key 1 needs a name",
		strings.Repeat("n", 33) + ":" + good: "key 1 needs a name",
	} {
		_, err := vault.New(keys)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "SEPAD_ENCRYPTION_KEYS") {
			t.Errorf("got %v, want %q", err, want)
			continue
		}
		if strings.Contains(err.Error(), short) || strings.Contains(err.Error(), strings.Split(good, ":")[1]) {
			t.Error("the error repeats a key")
		}
	}
}

func TestKeysInEitherAlphabetOfBase64AreTaken(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{0xfb, 0xff}, 16)
	sealed := seal(t, open(t, "k:"+base64.StdEncoding.EncodeToString(key)), secret, vault.Binding{})
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if _, err := open(t, "k:"+encoding.EncodeToString(key)).Open(sealed, vault.Binding{}); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkSealAndOpen(b *testing.B) {
	v, _ := vault.New(vault.GenerateKey())
	v.BindRows()
	associated := vault.Purpose(tenant, "iban").In("mandate MND-0123456789AB")
	b.ReportAllocs()
	for b.Loop() {
		sealed, _ := v.Seal([]byte("DE89370400440532013000"), associated)
		if _, err := v.Open(sealed, associated); err != nil {
			b.Fatal(err)
		}
	}
}
