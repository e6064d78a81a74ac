package web

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"sepad/internal/payment"
)

// CredentialKind is whom a credential speaks for, as its prefix tells.
type CredentialKind int

const (
	// NoCredential: no Authorization header, or one that is not Bearer.
	NoCredential CredentialKind = iota
	// APIKeyCredential: a merchant's backend.
	APIKeyCredential
	// SessionCredential: a payer's browser.
	SessionCredential
	// OtherCredential: anything else, such as the operator's token.
	OtherCredential
)

// APIKeyPrefix marks an API key in an Authorization header (contract 5).
const APIKeyPrefix = "rk_"

// Credential is what an Authorization header carries.
type Credential struct {
	Kind   CredentialKind
	Secret string
}

// However it is printed, a credential does not show its secret.

func (c Credential) String() string { return "credential" }

func (c Credential) Format(w fmt.State, _ rune)   { io.WriteString(w, c.String()) }
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
func (c Credential) LogValue() slog.Value         { return slog.StringValue(c.String()) }

// The three answers to a caller who is not known (contract 5).
var (
	ErrNoCredential   = unauthorized("Authentication credentials were not provided")
	ErrInvalidAPIKey  = unauthorized("Invalid or revoked API key")
	ErrInvalidSession = unauthorized("Invalid or expired session token")
)

func unauthorized(detail string) *StatusError {
	return &StatusError{
		Status: http.StatusUnauthorized, Detail: detail, Header: map[string]string{"WWW-Authenticate": "Bearer"},
	}
}

// ReadCredential takes the credential from a request. Whether it is a valid one
// only the store can tell.
func ReadCredential(r *http.Request) Credential {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	secret = strings.TrimSpace(secret)
	switch {
	case !strings.EqualFold(scheme, "Bearer") || secret == "":
		return Credential{}
	case strings.HasPrefix(secret, APIKeyPrefix):
		return Credential{APIKeyCredential, secret}
	case strings.HasPrefix(secret, payment.TokenPrefix):
		return Credential{SessionCredential, secret}
	default:
		return Credential{OtherCredential, secret}
	}
}
