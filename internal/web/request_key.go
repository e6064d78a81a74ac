package web

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// IdempotencyHeader names a request, so that it can be repeated.
const IdempotencyHeader = "Idempotency-Key"

// maxIdempotencyKey bounds the header's length in characters.
const maxIdempotencyKey = 255

// ReadRequestKey binds the caller's key, if there is one, to what is asked for.
func ReadRequestKey(r *http.Request, scope uuid.UUID, asked string, at time.Time, bad payment.Fields) store.RequestKey {
	const header = IdempotencyHeader
	switch key := r.Header.Get(header); {
	case key == "":
	case !utf8.ValidString(key):
		bad.Add(header, header+" must be UTF-8.")
	case utf8.RuneCountInString(key) > maxIdempotencyKey:
		bad.Add(header, header+" may have at most 255 characters.")
	default:
		return NewRequestKey(key, scope, asked, at)
	}
	return store.RequestKey{}
}

// NewRequestKey binds a key to what is asked for.
func NewRequestKey(key string, scope uuid.UUID, asked string, at time.Time) store.RequestKey {
	sum := sha256.Sum256([]byte(asked))
	return store.RequestKey{Scope: scope, Key: key, RequestHash: hex.EncodeToString(sum[:]), At: at}
}
