package api

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// KeyUses remembers when each API key was last used and writes it now and then,
// so that a call costs no write.
type KeyUses struct {
	mu    sync.Mutex
	since map[uuid.UUID]time.Time
}

// Note records a use.
func (u *KeyUses) Note(keyID uuid.UUID, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.since == nil {
		u.since = map[uuid.UUID]time.Time{}
	}
	u.since[keyID] = at
}

// Flush writes what was noted. What cannot be written is noted again.
func (u *KeyUses) Flush(ctx context.Context, st *store.Store, now time.Time) error {
	u.mu.Lock()
	uses := u.since
	u.since = nil
	u.mu.Unlock()
	if len(uses) == 0 {
		return nil
	}
	err := st.Write(ctx, now, func(tx *store.Tx) error {
		for id, at := range uses {
			tx.TouchAPIKey(id, at)
		}
		return nil
	})
	if err != nil {
		for id, at := range uses {
			u.Note(id, at)
		}
	}
	return err
}
