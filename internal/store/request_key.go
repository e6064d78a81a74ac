package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// requestKeyLife is how long a request can be repeated under its key.
const requestKeyLife = 24 * time.Hour

var (
	// ErrOtherRequest is the answer to a key that named something else.
	ErrOtherRequest = payment.Conflicting("This Idempotency-Key was used with another request.")
	// ErrRequestRunning is the answer to a repeat that overtakes its first.
	ErrRequestRunning = payment.Conflicting("A request with this Idempotency-Key is being processed.")
)

// RequestKey is the name under which a caller may repeat a request (contract 4.1,
// Idempotency-Key). The zero one names nothing and remembers nothing.
type RequestKey struct {
	// Scope is the tenant whose merchant calls, or the operator who does; uuid.Nil for the
	// admin token.
	Scope uuid.UUID
	Key   string
	// RequestHash names the bytes of the request.
	RequestHash string
	// At is the service's time of the request, by which keys live.
	At time.Time
}

// IsZero tells that the caller gave no key.
func (k RequestKey) IsZero() bool { return k.Key == "" }

// Remember binds the key to what this unit makes: a session, for which the column
// is named, or any other record. A unit that a twin has overtaken
// fails with IsRepeat, so that it comes before anything that the twin's effect
// would refuse for another reason.
func (tx *Tx) Remember(k RequestKey, made uuid.UUID) {
	if k.IsZero() {
		return
	}
	tx.Then(`DELETE FROM idempotency_keys WHERE tenant_id = $1 AND key = $2 AND expires_at <= $3`, k.Scope, k.Key, db.Micros(k.At))
	tx.Then(`
		INSERT INTO idempotency_keys (tenant_id, key, request_hash, session_id, expires_at)
		VALUES ($1, $2, $3, $4, $5)`, k.Scope, k.Key, k.RequestHash, made, db.Micros(k.At.Add(requestKeyLife)))
}

// Forget frees a key whose request came to nothing: only success is remembered.
func (tx *Tx) Forget(k RequestKey) {
	if k.IsZero() {
		return
	}
	tx.Then(`DELETE FROM idempotency_keys WHERE tenant_id = $1 AND key = $2`, k.Scope, k.Key)
}

// IsRepeat tells that a unit failed because its idempotency key was used.
func IsRepeat(err error) bool { return db.IsKey(err, "idempotency_keys_key_key") }

// Remembered is what an earlier request under a key has made.
type Remembered struct {
	ID          uuid.UUID
	RequestHash string
}

// Remembered finds what was made under a key, nil where nothing was.
func (s *Store) Remembered(ctx context.Context, k RequestKey) (*Remembered, error) {
	if k.IsZero() {
		return nil, nil
	}
	result, err := s.Query(ctx, `
		SELECT session_id, request_hash FROM idempotency_keys WHERE tenant_id = $1 AND key = $2 AND expires_at > $3`,
		k.Scope, k.Key, db.Micros(k.At))
	earlier, err := db.One(result, err, func(r db.Rows) (v Remembered, err error) { return v, r.Scan(&v.ID, &v.RequestHash) })
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &earlier, err
}

// Once does work under a key once. Work remembers the key in the unit of its
// effect; whoever comes again, or at the same time, gets what the first one made,
// read by its id. Another request under the same key is refused.
func Once[T any](ctx context.Context, s *Store, k RequestKey, read func(id uuid.UUID) (T, error), work func() (T, error)) (T, error) {
	made, found, err := again(ctx, s, k, read)
	if found || err != nil {
		return made, err
	}
	done, err := work()
	if !IsRepeat(err) {
		return done, err
	}
	made, found, err = again(ctx, s, k, read)
	if err == nil && !found {
		err = ErrRequestRunning
	}
	return made, err
}

func again[T any](ctx context.Context, s *Store, k RequestKey, read func(id uuid.UUID) (T, error)) (made T, found bool, err error) {
	earlier, err := s.Remembered(ctx, k)
	if err != nil || earlier == nil {
		return made, false, err
	}
	if earlier.RequestHash != k.RequestHash {
		return made, true, ErrOtherRequest
	}
	made, err = read(earlier.ID)
	return made, true, err
}
