// Package vault encrypts what must not lie open in the database: IBANs, gateway
// settings, signing secrets.
//
// The operator gives named keys. Seal encrypts with the first (AES-256-GCM by
// Tink) and writes its name in front of the text; Open picks the key by that
// name. A key is rotated by putting a new one first and dropping the old one
// when no row bears its name any more.
//
// Every text is bound to its tenant and purpose (Purpose): moved into another
// tenant's row, or from one column to another, it cannot be opened.
package vault

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// setting is where the keys come from; mistakes in it are told by this name.
const setting = "SEPAD_ENCRYPTION_KEYS"

const keyBytes = 32

var (
	// ErrUnknownKey is a text sealed with a key that the settings do not hold.
	ErrUnknownKey = errors.New("vault: sealed with a key that " + setting + " does not hold")
	// ErrNotSealed is a text that Seal did not write.
	ErrNotSealed = errors.New("vault: not a sealed text")
	// ErrCannotOpen is a sealed text that was changed, or that belongs to
	// another tenant or purpose.
	ErrCannotOpen = errors.New("vault: the text was changed or belongs elsewhere")
)

// Vault seals and opens texts. It is safe for concurrent use.
type Vault struct {
	current string
	keys    map[string]tink.AEAD
	raw     map[string][]byte // what further keys are derived from
}

// New reads keys of the form "name:base64 of 32 bytes", separated by commas.
// An error tells which entry is wrong and never what stands there.
func New(keys string) (*Vault, error) {
	if strings.TrimSpace(keys) == "" {
		return nil, errors.New(setting + " is empty: it needs at least one key, as name:base64 of 32 bytes")
	}
	v := &Vault{keys: map[string]tink.AEAD{}, raw: map[string][]byte{}}
	for i, entry := range strings.Split(keys, ",") {
		name, key, err := parseEntry(strings.TrimSpace(entry))
		if err == nil && v.keys[name] != nil {
			err = errors.New("has the name of an earlier one")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: key %d %w", setting, i+1, err)
		}
		if v.keys[name], err = subtle.NewAESGCM(key); err != nil {
			return nil, fmt.Errorf("%s: key %d cannot be used", setting, i+1)
		}
		v.raw[name] = key
		if v.current == "" {
			v.current = name
		}
	}
	return v, nil
}

func parseEntry(entry string) (name string, key []byte, err error) {
	name, text, found := strings.Cut(entry, ":")
	if !found {
		return "", nil, errors.New("has no name: write it as name:base64 of 32 bytes")
	}
	if !isName(name) {
		return "", nil, errors.New("needs a name of 1 to 32 letters, digits, hyphens or underscores")
	}
	if key, err = decodeKey(text); err != nil || len(key) != keyBytes {
		return "", nil, errors.New("must be 32 bytes in base64")
	}
	return name, key, nil
}

func isName(name string) bool {
	const longest = 32
	return name != "" && len(name) <= longest && !strings.ContainsFunc(name, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		return !letter && (c < '0' || c > '9') && c != '-' && c != '_'
	})
}

// decodeKey takes both alphabets of base64, with padding or without: tools
// differ in which of them they print.
func decodeKey(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	return base64.RawStdEncoding.Strict().DecodeString(text)
}

// GenerateKey makes an entry for the settings: a random key under a random name.
func GenerateKey() string {
	key, name := make([]byte, keyBytes), make([]byte, 4)
	rand.Read(key)
	rand.Read(name)
	return "key-" + hex.EncodeToString(name) + ":" + base64.StdEncoding.EncodeToString(key)
}

// Purpose is the associated data of a text: whose it is and what for.
func Purpose(tenantID uuid.UUID, purpose string) []byte {
	return append(tenantID[:len(tenantID):len(tenantID)], purpose...)
}

// encoding of the sealed part: no character needs quoting anywhere.
var encoding = base64.RawURLEncoding.Strict()

// Current is the name of the key that encrypts.
func (v *Vault) Current() string { return v.current }

// Names are those of all keys, in no order.
func (v *Vault) Names() []string { return slices.Collect(maps.Keys(v.keys)) }

// Seal encrypts with the current key. The result is printable.
func (v *Vault) Seal(plain, associatedData []byte) (string, error) {
	return v.SealWith(v.current, plain, associatedData)
}

// SealWith encrypts with one of the keys.
func (v *Vault) SealWith(name string, plain, associatedData []byte) (string, error) {
	key := v.keys[name]
	if key == nil {
		return "", fmt.Errorf("%w (%q)", ErrUnknownKey, name)
	}
	cipher, err := key.Encrypt(plain, associatedData)
	if err != nil {
		return "", fmt.Errorf("vault: %w", err)
	}
	sealed := make([]byte, 0, len(name)+1+encoding.EncodedLen(len(cipher)))
	sealed = append(append(sealed, name...), ':')
	return string(encoding.AppendEncode(sealed, cipher)), nil
}

// Open decrypts what Seal made with the same associated data.
func (v *Vault) Open(sealed string, associatedData []byte) ([]byte, error) {
	name, text, found := strings.Cut(sealed, ":")
	cipher, err := encoding.DecodeString(text)
	if !found || !isName(name) || err != nil || len(cipher) < subtle.AESGCMIVSize+subtle.AESGCMTagSize {
		return nil, ErrNotSealed
	}
	key := v.keys[name]
	if key == nil {
		return nil, fmt.Errorf("%w (%q)", ErrUnknownKey, name)
	}
	plain, err := key.Decrypt(cipher, associatedData)
	if err != nil {
		return nil, ErrCannotOpen
	}
	return plain, nil
}
