package store_test

import (
	"strings"
	"testing"

	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/vault"
)

// opened is the environment's database with other keys.
func opened(t *testing.T, env *storetest.Env, keys ...string) *store.Store {
	t.Helper()
	v, err := vault.New(strings.Join(keys, ","))
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), env.URL, store.Options{Vault: v})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

func wantRefused(t *testing.T, err error, sentence string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), sentence) {
		t.Errorf("got %v, want %q", err, sentence)
	}
}

func TestADatabaseBelongsToOneEnvironment(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		key := vault.GenerateKey()
		st := opened(t, env, key)
		for range 2 {
			if err := st.Adopt(t.Context(), merchant.Production, env.Now); err != nil {
				t.Fatal(err)
			}
		}
		before := env.Dump(t)
		const sentence = "SEPAD_ENVIRONMENT: the database belongs to a deployment of the environment production"
		wantRefused(t, st.CheckEnvironment(t.Context(), merchant.Sandbox), sentence)
		wantRefused(t, st.Adopt(t.Context(), merchant.Sandbox, env.Now), sentence)
		if env.Dump(t) != before {
			t.Error("a refused program has written something")
		}
	})
}

func TestAnOlderDatabaseIsKnownByItsKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenant := env.Tenant(t)
		env.Write(t, func(tx *store.Tx) error {
			tx.AddAPIKey(merchant.APIKey{ID: tenant.ID, TenantID: tenant.ID, Name: "one", Prefix: "rk_test_abcd"}, "hash")
			return nil
		})
		wantRefused(t, env.Store.Adopt(t.Context(), merchant.Production, env.Now), "of the environment sandbox")
		env.Exec(t, `UPDATE api_keys SET prefix = 'rk_live_abcd'`)
		wantRefused(t, env.Store.Adopt(t.Context(), merchant.Sandbox, env.Now), "of the environment production")
		if err := env.Store.Adopt(t.Context(), merchant.Production, env.Now); err != nil {
			t.Error(err)
		}
	})
}

func TestKeysMustBeThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		adopt := func(keys ...string) error {
			return opened(t, env, keys...).Adopt(t.Context(), merchant.Sandbox, env.Now)
		}
		first, second := vault.GenerateKey(), vault.GenerateKey()
		name, _, _ := strings.Cut(first, ":")
		_, otherKey, _ := strings.Cut(vault.GenerateKey(), ":")
		if err := adopt(first); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, adopt(second), "SEPAD_ENCRYPTION_KEYS: the key \""+name+"\" is missing")
		wantRefused(t, adopt(name+":"+otherKey), "SEPAD_ENCRYPTION_KEYS: the key \""+name+"\" is not the one")
		for _, keys := range [][]string{{first, second}, {first}, {second, first}, {first, second}} {
			if err := adopt(keys...); err != nil {
				t.Error(err)
			}
		}
		wantRefused(t, adopt(first), "is missing")
	})
}

func TestKeysOfAnOlderDatabaseAreTried(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		env.Shop(t)
		wantRefused(t, opened(t, env, vault.GenerateKey()).Adopt(t.Context(), merchant.Sandbox, env.Now), "SEPAD_ENCRYPTION_KEYS: ")
		if err := env.Store.Adopt(t.Context(), merchant.Sandbox, env.Now); err != nil {
			t.Error(err)
		}
	})
}

// TestAProofOfWritingWrites looks from another connection, which SQLite tells whether anything was written: a row that
// stays as it is would not be, and a disk that only reads not be found out.
func TestAProofOfWritingWrites(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	db := env.DB(t)
	db.SetMaxOpenConns(1)
	version := func() (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), "PRAGMA data_version").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	environment := func() string {
		return storetest.Scalar[string](t, env, "SELECT environment FROM deployment")
	}
	before, was := version(), environment()
	if err := env.Store.ProveWrite(t.Context(), env.Now); err != nil {
		t.Fatal(err)
	}
	if version() == before || environment() != was {
		t.Errorf("version %d became %d, environment %q became %q", before, version(), was, environment())
	}
}

// TestOnlyADatabaseWithNothingInItIsMovedInto: what lies in another one would be mixed with it.
func TestOnlyADatabaseWithNothingInItIsMovedInto(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		if err := env.Store.CheckUnused(t.Context()); err != nil {
			t.Errorf("with a schema alone: %v", err)
		}
		env.Tenant(t)
		wantRefused(t, env.Store.CheckUnused(t.Context()), "move into an empty one")
	})
}

// TestWhoHasNoKeysAdoptsNone: a program that seals nothing may look at the database all the same.
func TestWhoHasNoKeysAdoptsNone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		if err := env.ReopenWith(t, store.Options{}).AdoptKeys(t.Context(), env.Now); err != nil {
			t.Error(err)
		}
		if n := env.Count(t, "encryption_keys"); n != 0 {
			t.Errorf("%d keys are remembered", n)
		}
	})
}
