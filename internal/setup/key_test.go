package setup_test

import (
	"errors"
	"strings"
	"testing"

	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func works(t *testing.T, st *store.Store, key merchant.Secret) bool {
	t.Helper()
	_, found, err := st.CredentialByKeyHash(t.Context(), merchant.HashAPIKey(key.Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestKeyOfItsLife(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenant := env.Tenant(t)
		key, text, err := setup.CreateKey(t.Context(), env.Store, tenant.ID, " backend ", merchant.DefaultScopes, merchant.Production, env.Now, store.RequestKey{})
		if err != nil || key.Name != "backend" || !merchant.KeyFitsEnvironment(text.Reveal(), merchant.Production) {
			t.Fatalf("made %+v, %v", key, err)
		}
		if !works(t, env.Store, text) {
			t.Error("the new key does not work")
		}
		if dump := env.Dump(t); strings.Contains(dump, text.Reveal()) {
			t.Error("the key lies in the database")
		}
		if _, err := setup.RevokeKey(t.Context(), env.Store, tenant.ID, key.ID.String(), env.Now); err != nil {
			t.Fatal(err)
		}
		if works(t, env.Store, text) {
			t.Error("the revoked key works")
		}
		if _, err := setup.RevokeKey(t.Context(), env.Store, tenant.ID, "backend", env.Now); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("revoked twice: %v", err)
		}
	})
}

// TestWhoRevokesAgainWaitsAsWell: the first one may have died in its wait, or be in it still, while processes trust the key.
func TestWhoRevokesAgainWaitsAsWell(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenant := env.Tenant(t)
		key, text := env.APIKey(t, tenant.ID)
		err := env.Store.Write(t.Context(), env.Now, func(tx *store.Tx) error {
			tx.RevokeAPIKey(tenant.ID, key.ID)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		began := clock.Steady()
		if _, err := setup.RevokeKey(t.Context(), env.Store, tenant.ID, key.ID.String(), env.Now); !errors.Is(err, setup.ErrRevoked) {
			t.Errorf("revoked again: %v", err)
		}
		if waited := clock.Steady().Sub(began); waited < store.KeyTrust {
			t.Errorf("it was said after %s that no process takes the key", waited)
		}
		if works(t, env.Store, merchant.Secret(text)) {
			t.Error("the revoked key works")
		}
	})
}

func TestRevokeKeyRefuses(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	tenant, other := env.Tenant(t), env.Tenant(t)
	key, text := env.APIKey(t, tenant.ID)
	env.APIKey(t, tenant.ID)
	for _, example := range []struct {
		name, which, want string
		owner             merchant.Tenant
	}{
		{"a name that two keys have", "backend", "2 keys", tenant},
		{"a name that no key has", "frontend", "no key", tenant},
		{"a key of another tenant", key.ID.String(), "no key", other},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			_, err := setup.RevokeKey(t.Context(), env.Store, example.owner.ID, example.which, env.Now)
			if err == nil || !strings.Contains(err.Error(), example.want) {
				t.Errorf("got %v", err)
			}
			if !works(t, env.Store, merchant.Secret(text)) {
				t.Error("the key no longer works")
			}
		})
	}
}

func TestCreateKeyRefusesBadNames(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	tenant := env.Tenant(t)
	for _, name := range []string{"", "  ", "a\nb", strings.Repeat("ä", 256)} {
		if _, _, err := setup.CreateKey(t.Context(), env.Store, tenant.ID, name, merchant.DefaultScopes, merchant.Sandbox, env.Now, store.RequestKey{}); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

func TestFindTenant(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	find := func(which string) (merchant.Tenant, error) { return setup.FindTenant(t.Context(), env.Store, which) }
	if _, err := find(""); err == nil || !strings.Contains(err.Error(), "no tenant yet") {
		t.Errorf("in an empty database: %v", err)
	}
	first := env.Tenant(t)
	for _, which := range []string{"", first.Name, first.ID.String()} {
		if found, err := find(which); err != nil || found.ID != first.ID {
			t.Errorf("%q: %v", which, err)
		}
	}
	second := env.Tenant(t, func(n *merchant.Tenant) { n.Name = first.Name })
	for which, want := range map[string]string{"": "2 tenants", first.Name: "give the id", "Nobody": "no tenant has"} {
		if _, err := find(which); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", which, err)
		}
	}
	env.Tenant(t, func(n *merchant.Tenant) { n.Name = second.ID.String() }) // which is nobody's id but the second's
	if found, err := find(second.ID.String()); err != nil || found.ID != second.ID {
		t.Errorf("by id: %v", err)
	}
}

func TestApplyKeys(t *testing.T) {
	t.Parallel()
	const chosen, other = "rk_test_chosen_by_the_operator", "rk_test_another_of_the_operator"
	withKey := func(b *bench, key string) string {
		return b.text("- name: backend", "- {name: backend, key: "+key+"}")
	}

	t.Run("a chosen key works and is not shown", func(t *testing.T) {
		t.Parallel()
		b := newBench(storetest.SQLite(t))
		if c := of(t, b.apply(t, withKey(b, chosen)), setup.KindAPIKey); !c.Secret.IsZero() || c.Action != setup.Created {
			t.Errorf("told %+v", c)
		}
		if !works(t, b.env.Store, chosen) {
			t.Error("it does not work")
		}
		if again := b.apply(t, withKey(b, chosen)); setup.AnyChange(again) {
			t.Errorf("again: %v", again)
		}
	})

	t.Run("another chosen key of the same name is added beside the first", func(t *testing.T) {
		t.Parallel()
		b := newBench(storetest.SQLite(t))
		b.apply(t, withKey(b, chosen))
		if c := only(t, b.apply(t, withKey(b, other)), setup.Created); c.Note == "" {
			t.Error("nothing was said of the first key")
		}
		if !works(t, b.env.Store, chosen) || !works(t, b.env.Store, other) {
			t.Error("both must work")
		}
	})

	t.Run("a revoked key is not revived", func(t *testing.T) {
		t.Parallel()
		for name, text := range map[string]func(*bench) string{
			"that was made":   func(b *bench) string { return b.text() },
			"that was chosen": func(b *bench) string { return withKey(b, chosen) },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := newBench(storetest.SQLite(t))
				b.apply(t, text(b))
				if _, err := setup.RevokeKey(t.Context(), b.env.Store, b.id("0001"), "backend", b.env.Now); err != nil {
					t.Fatal(err)
				}
				c := of(t, b.apply(t, text(b)), setup.KindAPIKey)
				if c.Action != setup.Unchanged || !strings.Contains(c.Note, "revoked") || !c.Secret.IsZero() {
					t.Errorf("told %+v", c)
				}
				if b.env.Count(t, "api_keys") != 1 || works(t, b.env.Store, chosen) {
					t.Error("a key works again")
				}
			})
		}
	})

	t.Run("a key that another tenant had once is refused", func(t *testing.T) {
		t.Parallel()
		b := newBench(storetest.SQLite(t))
		tenant := b.env.Tenant(t)
		key, text := b.env.APIKey(t, tenant.ID)
		if _, err := setup.RevokeKey(t.Context(), b.env.Store, tenant.ID, key.ID.String(), b.env.Now); err != nil {
			t.Fatal(err)
		}
		if _, err := b.try(t, withKey(b, text)); err == nil || !strings.Contains(err.Error(), "api_keys[0].key: This key has been in use before") {
			t.Errorf("got %v", err)
		}
	})
}
