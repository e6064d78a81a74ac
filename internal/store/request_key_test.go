package store_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestARepeatOfWhatCameToNothing is told to come again: it has made nothing, and there is nothing to show it.
func TestARepeatOfWhatCameToNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		key := store.RequestKey{Scope: shop.ID, Key: "again", RequestHash: "hash", At: env.Now}
		remember := func(tx *store.Tx) error { tx.Remember(key, payment.NewID()); return nil }
		overtaken := func() (uuid.UUID, error) {
			env.Write(t, remember) // the first one, which gives up once it was in the way
			err := env.TryWrite(t, remember)
			env.Write(t, func(tx *store.Tx) error { tx.Forget(key); return nil })
			return payment.NewID(), err
		}
		show := func(id uuid.UUID) (uuid.UUID, error) { return id, nil }
		if made, err := store.Once(t.Context(), env.Store, key, show, overtaken); !errors.Is(err, store.ErrRequestRunning) || made != uuid.Nil {
			t.Errorf("it gave %s, %v", made, err)
		}
	})
}
