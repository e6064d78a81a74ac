package store

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// Whoever has a session's token can pay it, and whoever has a copy of the database
// must not. A session is found by the hash of its token; the token itself is sealed
// where it has to be shown again: in its session, and in the event that tells of its
// completion, whose payload has a place for it.
//
// Programs before boundSchema look for the token itself. As long as one of them may
// run, tokens are kept as they read them (FinishUpgrade).

// TokenKey is what a session is found by. A token is random enough that its hash
// tells nothing about it, and needs no key that could be lost or rotated.
func TokenKey(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// NewSession is a session about to be written, with its token as it is kept.
type NewSession struct {
	payment.Session
	keptToken, sealedToken string
}

// NewSession prepares a session for being written, before the unit that does it.
func (s *Store) NewSession(session payment.Session) (NewSession, error) {
	if !s.bindsRows() {
		return NewSession{Session: session, keptToken: session.Token}, nil
	}
	sealed, err := s.vault.Seal([]byte(session.Token), bindSessionToken(session.TenantID, session.ID))
	return NewSession{session, TokenKey(session.Token), sealed}, err
}

// bindsRows tells that no program of a schema before 16 uses the database.
func (s *Store) bindsRows() bool { return s.vault != nil && s.vault.BindsRows() }

// KeptToken is what is kept of a session's token, while it is read.
type KeptToken struct{ text, sealed string }

// KeptTokenColumns are those of Fields, of sessions that a query calls s.
const KeptTokenColumns = `s.token, s.token_sealed`

// Fields are the destinations for KeptTokenColumns.
func (k *KeptToken) Fields() []any { return []any{&k.text, &k.sealed} }

// OpenToken gives a session's token from what is kept of it.
func (s *Store) OpenToken(session payment.Session, k KeptToken) (string, error) {
	if k.sealed == "" {
		return k.text, nil
	}
	token, err := s.vault.Open(k.sealed, bindSessionToken(session.TenantID, session.ID))
	if err != nil {
		return "", fmt.Errorf("the token of session %s cannot be read: %w", session.ID, err)
	}
	return string(token), nil
}

// tokenField is where a payload has the session's token. Within a JSON text quotes
// are escaped, so that this is never a part of one.
const tokenField = `"session_token":"`

// NewEvent is an event ready to be written. The session's token is taken out of its
// payload, and sealed; what is left in its place is what logs may show.
func (s *Store) NewEvent(tenantID uuid.UUID, e EventRow) (EventRow, error) {
	before, token, after := cutToken(e.Payload)
	if token == "" || !s.bindsRows() {
		return e, nil
	}
	sealed, err := s.vault.Seal([]byte(token), bindEventToken(tenantID, e.ID))
	e.Payload, e.sealedToken = before+payment.ShortToken(token)+after, sealed
	return e, err
}

// cutToken takes a payload apart around the session's token, "" where it has none.
func cutToken(payload string) (before, token, after string) {
	at := strings.Index(payload, tokenField)
	if at < 0 {
		return payload, "", ""
	}
	at += len(tokenField)
	token, _, _ = strings.Cut(payload[at:], `"`)
	return payload[:at], token, payload[at+len(token):]
}

// wholePayload is the text that is signed and sent, and the token that is in it.
func (s *Store) wholePayload(tenantID, eventID uuid.UUID, payload, sealed string) (whole, token string, err error) {
	if sealed == "" {
		_, token, _ = cutToken(payload)
		return payload, token, nil
	}
	opened, err := s.vault.Open(sealed, bindEventToken(tenantID, eventID))
	if err != nil {
		return "", "", fmt.Errorf("the session's token cannot be read: %w", err)
	}
	before, _, after := cutToken(payload)
	return before + string(opened) + after, string(opened), nil
}
