package merchant

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"time"

	"github.com/google/uuid"
)

// APIKey is what is kept of a key: enough to recognize it, too little to use it.
type APIKey struct {
	ID       uuid.UUID
	TenantID uuid.UUID
	Name     string
	// Prefix is the key's beginning, by which an operator tells keys apart.
	Prefix     string
	Scopes     Scopes
	CreatedAt  time.Time
	LastUsedAt time.Time
	RevokedAt  time.Time
}

// Revoked tells that the key no longer opens anything.
func (k APIKey) Revoked() bool { return !k.RevokedAt.IsZero() }

const (
	// KeyPrefix begins every API key; it is how a bearer token is routed.
	KeyPrefix = "rk_"

	testKeyPrefix = KeyPrefix + "test_"
	liveKeyPrefix = KeyPrefix + "live_"

	// keyRandomBytes makes 200 bits, which base32 writes without a remainder.
	keyRandomBytes  = 25
	shownKeyLetters = 4

	// A key that an operator chooses himself, in a sandbox.
	minChosenLetters = 16
	maxChosenLetters = 200
)

// keyEncoding has neither capitals nor signs, so that a key survives being
// read aloud and is selected by a double click.
var keyEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewAPIKey makes a key for an environment. It is shown once and kept as its
// hash only.
func NewAPIKey(environment Environment) string {
	raw := make([]byte, keyRandomBytes)
	rand.Read(raw)
	return keyPrefixOf(environment) + keyEncoding.EncodeToString(raw)
}

// HashAPIKey is what is stored and looked up. Keys are random and long, so that
// nothing slower than SHA-256 would make guessing harder.
func HashAPIKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// KeyFitsEnvironment tells whether a key was made for an environment: neither
// opens the other.
func KeyFitsEnvironment(key string, environment Environment) bool {
	prefix := keyPrefixOf(environment)
	return len(key) > len(prefix) && strings.HasPrefix(key, prefix)
}

// KeyDisplayPrefix is the beginning of a key that may be shown and stored.
func KeyDisplayPrefix(key string) string {
	return key[:min(len(key), len(testKeyPrefix)+shownKeyLetters)]
}

func keyPrefixOf(environment Environment) string {
	if environment == Production {
		return liveKeyPrefix
	}
	return testKeyPrefix
}

// chosenKeyFits tells whether a key written into a resource file has the form
// of a sandbox key and is long enough not to be met by accident.
func chosenKeyFits(key string) bool {
	letters, fits := strings.CutPrefix(key, testKeyPrefix)
	if !fits || len(letters) < minChosenLetters || len(letters) > maxChosenLetters {
		return false
	}
	for _, c := range letters {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
