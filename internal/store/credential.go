package store

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
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

// KeyTrust is how long a process may trust a key that it has found. Whoever revokes one waits this long before saying so,
// and then no process takes it: a revoked key stops at once, and a busy merchant's server is looked up twice a second.
const KeyTrust = 500 * time.Millisecond

// foundCredential is a key as a look-up found it, with how long it may be trusted.
type foundCredential struct {
	Credential
	trust clock.Deadline
}

// TrustedCredential gives a key that this process has found within KeyTrust, and looks it up otherwise. The version
// of the set-up may be an earlier one: this is for calls in which the key says who is calling, and nothing else.
func (s *Store) TrustedCredential(ctx context.Context, keyHash string) (c Credential, found bool, err error) {
	if known, ok := s.credentials.Get(keyHash); ok {
		left := known.trust.Left()
		if left > 0 && left < renewWithin {
			s.renewals.add(keyHash, s.renewCredentials)
		}
		if left > 0 {
			return known.Credential, true, nil
		}
	}
	return s.CredentialByKeyHash(ctx, keyHash)
}

// Keys that are in use while their trust is about to end are looked up together, before a caller has to wait for it: with
// hundreds of keys, one by one, that took a twentieth of what it takes to read sessions.
const (
	renewWithin = KeyTrust / 2
	renewAfter  = KeyTrust / 5
)

// renewals are the keys that the next renewal looks up.
type renewals struct {
	mu   sync.Mutex
	keys map[string]bool
}

// add has a key looked up with those of the next moments.
func (r *renewals) add(keyHash string, renew func(keys map[string]bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		r.keys = map[string]bool{}
		time.AfterFunc(renewAfter, func() { renew(r.take()) })
	}
	r.keys[keyHash] = true
}

func (r *renewals) take() (keys map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys, r.keys = r.keys, nil
	return keys
}

// renewCredentials looks keys up at the same time, which share an exchange then. Of one that could not be looked up whoever calls
// next is told.
func (s *Store) renewCredentials(keys map[string]bool) {
	ctx, cancel := context.WithTimeout(context.Background(), renewWithin)
	defer cancel()
	var all sync.WaitGroup
	for keyHash := range keys {
		all.Go(func() { _, _, _ = s.CredentialByKeyHash(ctx, keyHash) })
	}
	all.Wait()
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
	return known.Credential, ok && setup.version == known.SetupVersion
}

// KnowsCredential tells that the last look-up of this process has found a key.
func (s *Store) KnowsCredential(keyHash string) bool {
	_, known := s.credentials.Get(keyHash)
	return known
}

// noteCredential remembers what a look-up found, or that it found nothing.
func (s *Store) noteCredential(keyHash string, c foundCredential, found bool) {
	if found {
		s.credentials.Keep(keyHash, c)
	} else {
		s.credentials.Forget(keyHash)
	}
}
