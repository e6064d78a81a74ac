package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func keysOf(t *testing.T, env *storetest.Env, tenantID uuid.UUID) []merchant.APIKey {
	t.Helper()
	keys, err := env.Store.Tenant(tenantID).APIKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func findKey(t *testing.T, process *store.Store, text string) (store.Credential, bool) {
	t.Helper()
	credential, found, err := process.CredentialByKeyHash(t.Context(), merchant.HashAPIKey(text))
	if err != nil {
		t.Fatal(err)
	}
	return credential, found
}

func TestAPIKeys(t *testing.T) {
	t.Parallel()

	t.Run("a key finds its tenant and the version of the set-up", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			key, text := env.APIKey(t, shop.ID)
			version, err := env.Store.SetupVersion(t.Context(), shop.ID)
			if err != nil {
				t.Fatal(err)
			}
			credential, found := findKey(t, env.Store, text)
			if want := (store.Credential{KeyID: key.ID, TenantID: shop.ID, TenantNumber: shop.Number, SetupVersion: version, Scopes: key.Scopes}); !found || credential != want {
				t.Errorf("found %v: %+v, want %+v", found, credential, want)
			}
			for _, other := range []string{"", text + "x", text[:len(text)-1], merchant.NewAPIKey(merchant.Sandbox)} {
				if _, found := findKey(t, env.Store, other); found {
					t.Error("another text passes for the key")
				}
			}
		})
	})

	t.Run("keys are listed newest first with every field", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			tenant := env.Tenant(t)
			first, _ := env.APIKey(t, tenant.ID)
			env.Now = env.Now.Add(time.Second)
			second, _ := env.APIKey(t, tenant.ID, func(k *merchant.APIKey) { k.Name = "" })
			if keys := keysOf(t, env, tenant.ID); !slices.Equal(keys, []merchant.APIKey{second, first}) {
				t.Errorf("got %+v", keys)
			}
		})
	})
}

// TestAKeyIsTrustedUntilItIsLookedUpAgain: whoever revokes one waits for that (setup.RevokeKey).
func TestAKeyIsTrustedUntilItIsLookedUpAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenant, second := env.Tenant(t), env.Reopen(t)
		key, text := env.APIKey(t, tenant.ID)
		trusted := func() bool {
			t.Helper()
			c, found, err := second.TrustedCredential(t.Context(), merchant.HashAPIKey(text))
			if err != nil || found && c.KeyID != key.ID {
				t.Fatalf("found %+v: %v", c, err)
			}
			return found
		}
		began := clock.Steady()
		if !trusted() {
			t.Fatal("the key is not found")
		}
		if err := revoke(t, env, tenant.ID, key.ID); err != nil {
			t.Fatal(err)
		}
		if !trusted() && clock.Steady().Sub(began) < store.KeyTrust/2 {
			t.Error("a key that was found just now is looked up again")
		}
		if _, found := findKey(t, second, text); found || trusted() {
			t.Error("a key that a look did not find is trusted")
		}
	})
}

// TestAKeyInUseIsLookedUpBeforeItsTrustEnds has a caller who cannot ask the database: he is told of it when he has to.
func TestAKeyInUseIsLookedUpBeforeItsTrustEnds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenant := env.Tenant(t)
		_, text := env.APIKey(t, tenant.ID)
		gone, leave := context.WithCancel(t.Context())
		leave()
		for range 20 { // a machine that stands still for a while lets the trust end
			findKey(t, env.Store, text)
			if isTrustedFor(t, env.Store, gone, text, 2*store.KeyTrust) {
				return
			}
		}
		t.Error("a key that is in use is not looked up in time")
	})
}

func isTrustedFor(t *testing.T, s *store.Store, ctx context.Context, text string, during time.Duration) bool {
	t.Helper()
	for began := clock.Steady(); clock.Steady().Sub(began) < during; {
		if _, found, err := s.TrustedCredential(ctx, merchant.HashAPIKey(text)); err != nil || !found {
			return false
		}
		if err := clock.Outlast(t.Context(), during/100); err != nil {
			t.Fatal(err)
		}
	}
	return true
}

func TestAPIKeyLife(t *testing.T) {
	t.Parallel()

	t.Run("a revoked key is not found in any process, and cannot be revoked again", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			tenant, second := env.Tenant(t), env.Reopen(t)
			key, text := env.APIKey(t, tenant.ID)
			if _, found := findKey(t, second, text); !found {
				t.Fatal("the key is not found")
			}
			if err := revoke(t, env, uuid.New(), key.ID); payment.KindOf(err) != payment.NotFound {
				t.Errorf("another tenant revoking it: %v", err)
			}
			if err := revoke(t, env, tenant.ID, key.ID); err != nil {
				t.Fatal(err)
			}
			if _, found := findKey(t, second, text); found {
				t.Error("the revoked key still works elsewhere")
			}
			if err := revoke(t, env, tenant.ID, key.ID); payment.KindOf(err) != payment.NotFound {
				t.Errorf("revoking it again: %v", err)
			}
			key.RevokedAt = env.Now
			if keys := keysOf(t, env, tenant.ID); !slices.Equal(keys, []merchant.APIKey{key}) {
				t.Errorf("got %+v", keys)
			}
			if known, err := env.Store.Tenant(tenant.ID).KnowsKeyHash(t.Context(), merchant.HashAPIKey(text)); err != nil || !known {
				t.Errorf("the revoked key is forgotten: %v", err)
			}
		})
	})

	t.Run("a key's last use only moves forward", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			key, _ := env.APIKey(t, env.Tenant(t).ID)
			for _, used := range []time.Duration{time.Hour, 2 * time.Hour, time.Minute} {
				env.Write(t, func(tx *store.Tx) error {
					tx.TouchAPIKey(key.ID, env.Now.Add(used))
					return nil
				})
			}
			if got := keysOf(t, env, key.TenantID)[0].LastUsedAt; !got.Equal(env.Now.Add(2 * time.Hour)) {
				t.Errorf("last used at %s", got)
			}
		})
	})

	t.Run("a key that exists is refused, for whichever tenant", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			key, text := env.APIKey(t, env.Tenant(t).ID)
			key.ID, key.TenantID = payment.NewID(), env.Tenant(t).ID
			err := env.TryWrite(t, func(tx *store.Tx) error {
				tx.AddAPIKey(key, merchant.HashAPIKey(text))
				return nil
			})
			if !store.IsKeyTaken(err) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func revoke(t *testing.T, env *storetest.Env, tenantID, id uuid.UUID) error {
	t.Helper()
	return env.TryWrite(t, func(tx *store.Tx) error {
		tx.RevokeAPIKey(tenantID, id)
		return nil
	})
}
