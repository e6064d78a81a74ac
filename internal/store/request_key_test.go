package store_test

import (
	"errors"
	"testing"
	"time"

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

// TestWhatWasMadeUnderAKeyIsShownAgain: the work is done once, another request under the key is refused, and a request
// without a key is done each time.
func TestWhatWasMadeUnderAKeyIsShownAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		done := 0
		once := func(key store.RequestKey) (uuid.UUID, error) {
			return store.Once(t.Context(), env.Store, key, func(id uuid.UUID) (uuid.UUID, error) { return id, nil }, func() (uuid.UUID, error) {
				done++
				made := payment.NewID()
				return made, env.TryWrite(t, func(tx *store.Tx) error { tx.Remember(key, made); return nil })
			})
		}
		key := store.RequestKey{Scope: shop.ID, Key: "key", RequestHash: "hash", At: env.Now}
		first, err := once(key)
		again, againErr := once(key)
		if errors.Join(err, againErr) != nil || first == uuid.Nil || again != first || done != 1 {
			t.Errorf("made are %s and %s, in %d times: %v", first, again, done, errors.Join(err, againErr))
		}
		other := key
		other.RequestHash = "another"
		if made, err := once(other); !errors.Is(err, store.ErrOtherRequest) || made != uuid.Nil || done != 1 {
			t.Errorf("another request under the key gave %s, %v", made, err)
		}
		for range 2 {
			if _, err := once(store.RequestKey{Scope: shop.ID, At: env.Now}); err != nil {
				t.Error(err)
			}
		}
		theirs := key
		theirs.Scope = env.Shop(t).ID
		if made, err := once(theirs); err != nil || made == first || done != 4 {
			t.Errorf("another tenant's key gave %s, in %d times: %v", made, done, err)
		}
		key.At = key.At.Add(24 * time.Hour)
		if made, err := once(key); err != nil || made == first || done != 5 {
			t.Errorf("a day later it gave %s, in %d times: %v", made, done, err)
		}
	})
}

// TestNothingIsDoneUnderAKeyThatCannotBeLookedUp: it may have been done before.
func TestNothingIsDoneUnderAKeyThatCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		gone := env.Reopen(t)
		if err := gone.Close(); err != nil {
			t.Fatal(err)
		}
		key := store.RequestKey{Scope: env.Shop(t).ID, Key: "key", RequestHash: "hash", At: env.Now}
		forbidden := func(uuid.UUID) (int, error) { t.Error("it is shown"); return 1, nil }
		made, err := store.Once(t.Context(), gone, key, forbidden, func() (int, error) { return forbidden(uuid.Nil) })
		if err == nil || errors.Is(err, store.ErrOtherRequest) || made != 0 {
			t.Errorf("it gave %d, %v", made, err)
		}
	})
}
