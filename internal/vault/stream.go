package vault

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/tink-crypto/tink-go/v2/streamingaead/subtle"
)

// segment is how much of a stream is sealed, and held in memory, at a time.
const segment = 1 << 20

// derive makes a key for one purpose, so that what is sealed for one is of no use
// for another, even to somebody who can have things sealed.
func derive(key []byte, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, key, nil, "sepad "+purpose, keyBytes)
}

// SealStream encrypts what is written, with the current key; Close ends the text,
// and one that is cut off before cannot be opened.
func (v *Vault) SealStream(to io.Writer, purpose string, associatedData []byte) (io.WriteCloser, error) {
	cipher, err := v.stream(v.current, purpose)
	if err != nil {
		return nil, err
	}
	return cipher.NewEncryptingWriter(to, associatedData)
}

// OpenStream decrypts what SealStream made with the key of a name.
func (v *Vault) OpenStream(from io.Reader, key, purpose string, associatedData []byte) (io.Reader, error) {
	cipher, err := v.stream(key, purpose)
	if err != nil {
		return nil, err
	}
	return cipher.NewDecryptingReader(from, associatedData)
}

func (v *Vault) stream(name, purpose string) (*subtle.AESGCMHKDF, error) {
	ring := v.keys[name]
	if ring == nil {
		return nil, fmt.Errorf("%w (%q)", ErrUnknownKey, name)
	}
	key, err := derive(ring.raw, purpose)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return subtle.NewAESGCMHKDF(key, "SHA256", keyBytes, segment, 0)
}
