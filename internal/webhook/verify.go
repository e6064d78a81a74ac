package webhook

import (
	"bytes"
	"crypto/hmac"
	"strings"

	"github.com/gowebpki/jcs"
)

// Match says of which form of a body a signature is.
type Match string

const (
	// MatchBody is the signature of the bytes as they are.
	MatchBody Match = "body"
	// MatchTrimmed is that of the bytes without the white space around them,
	// which editors and shells add.
	MatchTrimmed Match = "trimmed"
	// MatchCanonical is that of the same JSON in its canonical form.
	MatchCanonical Match = "canonical"
	// MatchNone is the signature of something else, or with another secret.
	MatchNone Match = ""
)

// Verify looks for the form of a body that a signature fits. Receivers may check
// the bytes they got or write the JSON anew (contract 6.3), so the first three
// are all good.
func Verify(secret string, body []byte, signature string) Match {
	fits := func(form []byte) bool {
		return hmac.Equal([]byte(Sign(secret, form)), []byte(strings.ToLower(strings.TrimSpace(signature))))
	}
	if fits(body) {
		return MatchBody
	}
	if fits(bytes.TrimSpace(body)) {
		return MatchTrimmed
	}
	if canonical, err := Canonical(body); err == nil && fits(canonical) {
		return MatchCanonical
	}
	return MatchNone
}

// Canonical writes JSON in the one form that is signed (RFC 8785).
func Canonical(body []byte) ([]byte, error) { return jcs.Transform(body) }
