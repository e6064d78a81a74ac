package store_test

import (
	"testing"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestErasedPersonsAreRememberedUnderAKeyThatIsThere erases one person after the other: a list of hashes knows nobody
// again without the keys that it names.
func TestErasedPersonsAreRememberedUnderAKeyThatIsThere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		for range 2 {
			person, err := env.Store.Tenant(shop.ID).Person(t.Context(), env.Session(t, shop).Lead.ID)
			if err != nil {
				t.Fatal(err)
			}
			memory, err := env.Store.PrepareErasure(t.Context(), shop.ID, env.Now)
			if err != nil {
				t.Fatal(err)
			}
			env.Write(t, func(tx *store.Tx) error { return tx.RememberErased(person, memory) })
		}
		keys, names, err := env.Store.ErasedOf(t.Context(), shop.ID)
		if err != nil || len(keys) != 1 || len(names) != 2 {
			t.Fatalf("%d names are remembered under %d keys: %v", len(names), len(keys), err)
		}
		for _, name := range names {
			if name.KeyID != keys[0].ID {
				t.Errorf("a name is remembered under %s, and the key is %s", name.KeyID, keys[0].ID)
			}
		}
	})
}
