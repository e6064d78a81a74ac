package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"sepad/internal/clock"
	"sepad/internal/limit"
)

// errInvalidToken is the answer to a token that opens nothing.
var errInvalidToken = &StatusError{
	Status: http.StatusUnauthorized, Detail: "Invalid admin token", Header: map[string]string{"WWW-Authenticate": "Bearer"},
}

// TokenGuard admits the operator, who is known by a token from the settings.
type TokenGuard struct {
	Guesses *limit.Guesses
	Clock   clock.Clock
}

// Admit refuses a request that brings none of the tokens, those that are ""
// left out. Hashes are compared, so that neither the time nor the length of a
// wrong token tells anything. Who has guessed too often waits, right or wrong.
func (g TokenGuard) Admit(r *http.Request, tokens ...string) error {
	return g.Judge(r, Brings(r, tokens...))
}

// Brings tells whether a request brings one of the tokens.
func Brings(r *http.Request, tokens ...string) (isRight bool) {
	brought := sha256.Sum256([]byte(ReadCredential(r).Secret))
	for _, token := range tokens {
		want := sha256.Sum256([]byte(token))
		if token != "" && subtle.ConstantTimeCompare(brought[:], want[:]) == 1 {
			isRight = true
		}
	}
	return isRight
}

// Hear refuses a caller who has guessed too often, before anything is looked up for him.
func (g TokenGuard) Hear(r *http.Request) error {
	if wait := g.Guesses.Judge(r.Context(), ClientKey(r.Context()), false, g.Clock.Now()); wait > 0 {
		return Throttled(wait)
	}
	return nil
}

// Judge refuses a request whose credential is not right, and one of a caller who has
// guessed too often.
func (g TokenGuard) Judge(r *http.Request, isRight bool) error {
	if ReadCredential(r).Kind == NoCredential {
		return ErrNoCredential
	}
	if wait := g.Guesses.Judge(r.Context(), ClientKey(r.Context()), !isRight, g.Clock.Now()); wait > 0 {
		return Throttled(wait)
	}
	if !isRight {
		return errInvalidToken
	}
	return nil
}
