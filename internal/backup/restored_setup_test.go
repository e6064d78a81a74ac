package backup_test

import (
	"testing"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestARestoredSetUpIsNotTakenForALostOne changes a set-up after the backup: a server that is left running knows it by its
// version, which no set-up of the restored database may have.
func TestARestoredSetUpIsNotTakenForALostOne(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		shop := business(t, env)
		path, _ := write(t, env)
		const changes = 3
		for range changes {
			env.Write(t, func(tx *store.Tx) error { tx.PutTenant(shop.Tenant); return nil })
		}
		lost, err := env.Store.SetupVersion(t.Context(), shop.ID)
		if err != nil {
			t.Fatal(err)
		}
		target := elsewhere(t, env)
		if _, err := target.Restore(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		restored := &storetest.Env{Engine: env.Engine, URL: target.Address, Vault: env.Vault, Now: env.Now}
		restored.Store = restored.Reopen(t)
		if version, err := restored.Store.SetupVersion(t.Context(), shop.ID); err != nil || version <= lost {
			t.Errorf("it has version %d, and the lost one had %d: %v", version, lost, err)
		}
		setup, err := restored.Store.Setup(t.Context(), shop.ID, lost)
		if err != nil {
			t.Fatal(err)
		}
		for name, version := range map[string]int64{"the tenant": setup.Versions[shop.ID], "a gateway": setup.Versions[shop.Gateway.ID]} {
			if version <= lost {
				t.Errorf("%s has version %d, which somebody may have read before the loss", name, version)
			}
		}
	})
}
