package people

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// TokenPrefix begins a personal token.
const TokenPrefix = "sat_"

// secretBytes make 256 bits.
const secretBytes = 32

// newSecret is what a link, a cookie or a token carries: nobody guesses it.
func newSecret() string {
	raw := make([]byte, secretBytes)
	rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// hashSecret is what is kept of it. It is random and long, so that nothing slower would
// make guessing harder.
func hashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
