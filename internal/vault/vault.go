// Package vault encrypts what must not lie open in the database: IBANs, gateway
// settings, signing secrets.
//
// The operator gives named keys. Seal encrypts with the first (AES-256-GCM by
// Tink) and writes its name in front of the text; Open picks the key by that
// name. A key is rotated by putting a new one first and dropping the old one
// when no row bears its name any more.
//
// Every text is bound to its tenant, its purpose and its row (Binding): moved into
// another row or column, it cannot be opened. What is kept, what is handed out and
// what lies in backups have keys of their own, derived from the operator's.
//
// Programs before that bound texts to tenant and purpose alone, with the operator's
// key itself. Such texts can be opened, and are written until BindRows says that no
// such program reads them any more.
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
	"sync/atomic"

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
	// another tenant, purpose or row.
	ErrCannotOpen = errors.New("vault: the text was changed or belongs elsewhere")
)

// Vault seals and opens texts. It is safe for concurrent use.
type Vault struct {
	current   string
	keys      map[string]*keyring
	bindsRows atomic.Bool
	unopened  atomic.Int64
}

// keyring is one of the operator's keys with those that are derived from it.
type keyring struct {
	raw []byte
	// whole is the operator's key itself, as older programs use it.
	whole         tink.AEAD
	kept, handout tink.AEAD
}

func newKeyring(raw []byte) (*keyring, error) {
	ring := &keyring{raw: raw}
	var err error
	if ring.whole, err = subtle.NewAESGCM(raw); err != nil {
		return nil, err
	}
	for purpose, to := range map[string]*tink.AEAD{"kept": &ring.kept, "handed out": &ring.handout} {
		key, err := derive(raw, purpose)
		if err != nil {
			return nil, err
		}
		if *to, err = subtle.NewAESGCM(key); err != nil {
			return nil, err
		}
	}
	return ring, nil
}

// New reads keys of the form "name:base64 of 32 bytes", separated by commas.
// An error tells which entry is wrong and never what stands there.
func New(keys string) (*Vault, error) {
	if strings.TrimSpace(keys) == "" {
		return nil, errors.New(setting + " is empty: it needs at least one key, as name:base64 of 32 bytes")
	}
	v := &Vault{keys: map[string]*keyring{}}
	for i, entry := range strings.Split(keys, ",") {
		name, key, err := parseEntry(strings.TrimSpace(entry))
		if err == nil && v.keys[name] != nil {
			err = errors.New("has the name of an earlier one")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: key %d %w", setting, i+1, err)
		}
		if v.keys[name], err = newKeyring(key); err != nil {
			return nil, fmt.Errorf("%s: key %d cannot be used", setting, i+1)
		}
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

// Binding is what a text is bound to: it opens nowhere else.
type Binding struct {
	tenantID uuid.UUID
	purpose  string
	row      string
	isHanded bool
}

// Purpose binds a text that is kept: whose it is and what for.
func Purpose(tenantID uuid.UUID, purpose string) Binding {
	return Binding{tenantID: tenantID, purpose: purpose}
}

// In binds a text to its row as well.
func (b Binding) In(row string) Binding {
	b.row = row
	return b
}

// Handed binds a text that leaves the house and comes back: a cursor, a cookie.
func Handed(tenantID uuid.UUID, purpose string) Binding {
	return Binding{tenantID: tenantID, purpose: purpose, isHanded: true}
}

// data is the associated data. Without the row it is what older programs wrote.
func (b Binding) data(withRow bool) []byte {
	data := make([]byte, 0, len(b.tenantID)+len(b.purpose)+1+len(b.row))
	data = append(append(data, b.tenantID[:]...), b.purpose...)
	if withRow {
		data = append(append(data, 0), b.row...)
	}
	return data
}

// encoding of the sealed part: no character needs quoting anywhere.
var encoding = base64.RawURLEncoding.Strict()

// boundMark begins the sealed part of a text that is bound to its row. It is not
// of the encoding, so that no older text begins like that, and needs no quoting
// either.
const boundMark = "~"

// BindRows has texts bound to their rows and sealed with derived keys from now on:
// no program reads them that could not open such.
func (v *Vault) BindRows() { v.bindsRows.Store(true) }

// BindsRows tells whether BindRows was called.
func (v *Vault) BindsRows() bool { return v.bindsRows.Load() }

// Current is the name of the key that encrypts.
func (v *Vault) Current() string { return v.current }

// Prefix is how texts begin that are sealed now.
func (v *Vault) Prefix() string {
	if v.BindsRows() {
		return v.current + ":" + boundMark
	}
	return v.current + ":"
}

// Names are those of all keys, in no order.
func (v *Vault) Names() []string { return slices.Collect(maps.Keys(v.keys)) }

// Seal encrypts with the current key. The result is printable.
func (v *Vault) Seal(plain []byte, to Binding) (string, error) {
	return v.SealWith(v.current, plain, to)
}

// SealWith encrypts with one of the keys.
func (v *Vault) SealWith(name string, plain []byte, to Binding) (string, error) {
	ring := v.keys[name]
	if ring == nil {
		return "", fmt.Errorf("%w (%q)", ErrUnknownKey, name)
	}
	bound, mark := v.BindsRows(), ""
	if bound {
		mark = boundMark
	}
	cipher, err := ring.key(bound, to).Encrypt(plain, to.data(bound))
	if err != nil {
		return "", fmt.Errorf("vault: %w", err)
	}
	sealed := make([]byte, 0, len(name)+1+len(mark)+encoding.EncodedLen(len(cipher)))
	sealed = append(append(append(sealed, name...), ':'), mark...)
	return string(encoding.AppendEncode(sealed, cipher)), nil
}

// key is the one that a text is sealed with.
func (r *keyring) key(bound bool, to Binding) tink.AEAD {
	switch {
	case !bound:
		return r.whole
	case to.isHanded:
		return r.handout
	default:
		return r.kept
	}
}

// Unopened counts the kept texts that did not open: somebody has changed them, or a
// key is gone. What was handed out may come back in any form.
func (v *Vault) Unopened() int64 { return v.unopened.Load() }

// Open decrypts what Seal made with the same binding.
func (v *Vault) Open(sealed string, from Binding) ([]byte, error) {
	plain, err := v.open(sealed, from)
	if err != nil && !from.isHanded && sealed != "" {
		v.unopened.Add(1)
	}
	return plain, err
}

func (v *Vault) open(sealed string, from Binding) ([]byte, error) {
	name, text, found := strings.Cut(sealed, ":")
	text, bound := strings.CutPrefix(text, boundMark)
	cipher, err := encoding.DecodeString(text)
	if !found || !isName(name) || err != nil || len(cipher) < subtle.AESGCMIVSize+subtle.AESGCMTagSize {
		return nil, ErrNotSealed
	}
	ring := v.keys[name]
	if ring == nil {
		return nil, fmt.Errorf("%w (%q)", ErrUnknownKey, name)
	}
	plain, err := ring.key(bound, from).Decrypt(cipher, from.data(bound))
	if err != nil {
		return nil, ErrCannotOpen
	}
	return plain, nil
}
