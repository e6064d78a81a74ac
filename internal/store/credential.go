package store

import (
	"github.com/google/uuid"

	"sepad/internal/merchant"
)

// Credential is what an API key stands for.
type Credential struct {
	KeyID        uuid.UUID
	TenantID     uuid.UUID
	TenantNumber uint32
	SetupVersion int64
	Scopes       merchant.Scopes
}

// RecallCredential gives a key as a look-up of this process last found it, while
// the set-up of that version is at hand too. Since then the key may have been
// revoked: nothing may be done or answered in its name but what rests on it in
// the database (CreateSessionFor).
func (s *Store) RecallCredential(keyHash string) (Credential, bool) {
	known, ok := s.credentials.Get(keyHash)
	if !ok {
		return Credential{}, false
	}
	setup, ok := s.setups.Get(known.TenantID)
	return known, ok && setup.version == known.SetupVersion
}

// KnowsCredential tells that the last look-up of this process has found a key.
func (s *Store) KnowsCredential(keyHash string) bool {
	_, known := s.credentials.Get(keyHash)
	return known
}

// noteCredential remembers what a look-up found, or that it found nothing.
func (s *Store) noteCredential(keyHash string, c Credential, found bool) {
	if found {
		s.credentials.Keep(keyHash, c)
	} else {
		s.credentials.Forget(keyHash)
	}
}
