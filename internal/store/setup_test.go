package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/vault"
)

// readSetup reads a tenant's present set-up as a process does for work that no
// call started.
func readSetup(t *testing.T, process *store.Store, tenantID uuid.UUID) *merchant.Setup {
	t.Helper()
	setup, err := process.Setup(t.Context(), tenantID, versionOf(t, process, tenantID))
	if err != nil {
		t.Fatal(err)
	}
	return setup
}

func versionOf(t *testing.T, process *store.Store, tenantID uuid.UUID) int64 {
	t.Helper()
	version, err := process.SetupVersion(t.Context(), tenantID)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func wantShop(t *testing.T, setup *merchant.Setup, shop storetest.Shop) {
	t.Helper()
	storetest.Equal(t, *setup, merchant.Setup{
		Tenant: shop.Tenant, Gateways: map[uuid.UUID]merchant.GatewayAccount{shop.Gateway.ID: shop.Gateway},
		WebhookProfiles: map[uuid.UUID]merchant.WebhookProfile{shop.Profile.ID: shop.Profile},
		HostedPages:     map[uuid.UUID]merchant.HostedPage{shop.HostedPage.ID: shop.HostedPage},
		Offers:          map[uuid.UUID]merchant.Offer{shop.Offer.ID: shop.Offer},
		Campaigns:       map[uuid.UUID]merchant.Campaign{shop.Campaign.ID: shop.Campaign},
		Versions:        setup.Versions, // which the writes before have made
	})
}

// writesOf counts how often the records of a set-up were written.
func writesOf(setup *merchant.Setup) (writes int64) {
	for _, version := range setup.Versions {
		writes += version
	}
	return writes
}

func TestSetup(t *testing.T) {
	t.Parallel()

	t.Run("every field of every record comes back", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			wantShop(t, readSetup(t, env.Store, shop.ID), shop)
		})
	})

	t.Run("a bare record comes back bare", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := storetest.Shop{Tenant: env.Tenant(t, func(m *merchant.Tenant) { m.Creditor = merchant.Creditor{} })}
			shop.Gateway = env.Gateway(t, shop.ID, func(g *merchant.GatewayAccount) {
				*g = merchant.GatewayAccount{ID: g.ID, Settings: merchant.Settings{}}
			})
			shop.Profile = env.WebhookProfile(t, shop.ID, func(p *merchant.WebhookProfile) { *p = merchant.WebhookProfile{ID: p.ID} })
			shop.HostedPage = env.HostedPage(t, shop.ID, func(p *merchant.HostedPage) { *p = merchant.HostedPage{ID: p.ID} })
			shop.Offer = env.Offer(t, shop.ID, func(o *merchant.Offer) { *o = merchant.Offer{ID: o.ID, Terms: storetest.PaidTrial} })
			shop.Campaign = env.Campaign(t, shop.ID, func(c *merchant.Campaign) { *c = merchant.Campaign{ID: c.ID} })
			wantShop(t, readSetup(t, env.Store, shop.ID), shop)
		})
	})

	t.Run("a record of another tenant or kind is not taken over, and nothing of its unit is written", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testForeignRecord)
	})
}

func TestSetupSecrets(t *testing.T) {
	t.Parallel()

	t.Run("secrets lie sealed in the database", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			env.Shop(t)
			if dump := env.Dump(t); strings.Contains(dump, "secret-text") || !strings.Contains(dump, "setup_records") {
				t.Error("a secret can be read in the database")
			}
		})
	})

	t.Run("a vault without the key says which record it cannot open", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			tenant := env.Tenant(t)
			gateway := env.Gateway(t, tenant.ID)
			other, err := vault.New(vault.GenerateKey())
			if err != nil {
				t.Fatal(err)
			}
			process := env.ReopenWith(t, store.Options{Vault: other})
			_, err = process.Setup(t.Context(), tenant.ID, versionOf(t, process, tenant.ID))
			if !errors.Is(err, vault.ErrUnknownKey) || !strings.Contains(err.Error(), "gateway "+gateway.ID.String()) {
				t.Errorf("got %v", err)
			}
		})
	})

	t.Run("a record that cannot be read is told, of whatever kind", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			for i, kind := range []string{"gateway", "webhook_profile", "hosted_page", "offer", "campaign"} {
				if storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM setup_records WHERE kind = $1`, kind) == 0 {
					t.Fatalf("the shop has no %s", kind)
				}
				env.Exec(t, `UPDATE setup_records SET document = 'x' || document WHERE kind = $1`, kind)
				if _, err := env.Store.Setup(t.Context(), shop.ID, int64(99+i)); err == nil || !strings.Contains(err.Error(), kind) {
					t.Errorf("%s: %v", kind, err)
				}
				env.Exec(t, `UPDATE setup_records SET document = substr(document, 2) WHERE kind = $1`, kind)
			}
		})
	})

	t.Run("a sealed text cannot be moved to another record", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			tenant := env.Tenant(t)
			one, other := env.Gateway(t, tenant.ID), env.Gateway(t, tenant.ID)
			env.Exec(t, `UPDATE setup_records SET secrets = (SELECT secrets FROM setup_records WHERE id = $1) WHERE id = $2`,
				one.ID.String(), other.ID.String())
			if _, err := env.Store.Setup(t.Context(), tenant.ID, 99); !errors.Is(err, vault.ErrCannotOpen) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestRecordOwner(t *testing.T) {
	t.Parallel()

	t.Run("the owner of a record is found by its id", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			owner, kind, found, err := env.Store.RecordOwner(t.Context(), shop.Offer.ID)
			if err != nil || !found || owner != shop.ID || kind != "offer" {
				t.Errorf("%s, %s, %v, %v", owner, kind, found, err)
			}
			if _, _, found, err := env.Store.RecordOwner(t.Context(), uuid.New()); found || err != nil {
				t.Errorf("an unknown id: %v, %v", found, err)
			}
		})
	})
}

func testForeignRecord(t *testing.T, env *storetest.Env) {
	shop, other := env.Shop(t), env.Shop(t)
	before := env.Dump(t)
	for name, put := range map[string]func(tx *store.Tx) error{
		"another tenant's": func(tx *store.Tx) error { return env.Store.PutOffer(tx, other.ID, shop.Offer) },
		"another kind's": func(tx *store.Tx) error {
			page := shop.HostedPage
			page.ID = shop.Offer.ID
			return env.Store.PutHostedPage(tx, shop.ID, page)
		},
	} {
		err := env.TryWrite(t, func(tx *store.Tx) error {
			renamed, offer := other.Tenant, other.Offer
			renamed.Name, offer.Name = "Renamed", "Renamed"
			tx.PutTenant(renamed)
			return errors.Join(env.Store.PutOffer(tx, other.ID, offer), put(tx), env.Store.PutOffer(tx, other.ID, offer))
		})
		if !errors.Is(err, store.ErrForeignRecord) {
			t.Errorf("%s id: %v", name, err)
		}
	}
	if env.Dump(t) != before {
		t.Error("the refused unit has changed something")
	}
}

func TestTenants(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		second := env.Tenant(t, func(m *merchant.Tenant) { m.Name, m.Number = "B", 4_294_967_295 })
		first := env.Tenant(t, func(m *merchant.Tenant) { m.Name = "A" })
		tenants, err := env.Store.Tenants(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		storetest.Equal(t, tenants, []merchant.Tenant{first, second})

		changed := first
		changed.Name, changed.Number, changed.Creditor.Name = "C", 77, "Another"
		env.Write(t, func(tx *store.Tx) error {
			tx.PutTenant(changed)
			return nil
		})
		changed.Number = first.Number
		storetest.Equal(t, readSetup(t, env.Store, first.ID).Tenant, changed)

		taken := merchant.Tenant{ID: payment.NewID(), Number: second.Number, Name: "D"}
		err = env.TryWrite(t, func(tx *store.Tx) error {
			tx.PutTenant(taken)
			return nil
		})
		if duplicate, ok := errors.AsType[*db.KeyError](err); !ok || duplicate.Key != "tenants_number_key" {
			t.Errorf("a number in use: %v", err)
		}
		if _, err := env.Store.SetupVersion(t.Context(), uuid.New()); !store.IsNotFound(err) {
			t.Errorf("an unknown tenant: %v", err)
		}
	})
}

func TestSetupCache(t *testing.T) {
	t.Parallel()

	t.Run("each kind of change raises the version and is seen by another process at once", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testChangeSeenElsewhere)
	})

	t.Run("an equal version is answered without the database", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			version := versionOf(t, env.Store, shop.ID)
			first, err := env.Store.Setup(t.Context(), shop.ID, version)
			if err != nil {
				t.Fatal(err)
			}
			env.Exec(t, "DELETE FROM setup_records")
			again, err := env.Store.Setup(t.Context(), shop.ID, version)
			if err != nil || again != first {
				t.Errorf("the set-up was read again (%v)", err)
			}
		})
	})

	t.Run("an unknown tenant is not found", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			if _, err := env.Store.Setup(t.Context(), uuid.New(), 1); !store.IsNotFound(err) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func testChangeSeenElsewhere(t *testing.T, env *storetest.Env) {
	shop, second := env.Shop(t), env.Reopen(t)
	_, key := env.APIKey(t, shop.ID)
	token := env.Session(t, shop).Session.Token
	changes := []func(tx *store.Tx) error{
		func(tx *store.Tx) error {
			shop.Name = "Another name"
			tx.PutTenant(shop.Tenant)
			return nil
		},
		func(tx *store.Tx) error {
			shop.Gateway.Settings = merchant.Settings{"api_key": "another"}
			return env.Store.PutGateway(tx, shop.ID, shop.Gateway)
		},
		func(tx *store.Tx) error {
			shop.Profile.SigningSecret = "another"
			return env.Store.PutWebhookProfile(tx, shop.ID, shop.Profile)
		},
		func(tx *store.Tx) error {
			shop.HostedPage.Active = false
			return env.Store.PutHostedPage(tx, shop.ID, shop.HostedPage)
		},
		func(tx *store.Tx) error {
			shop.Offer.Terms.PriceMinor++
			return env.Store.PutOffer(tx, shop.ID, shop.Offer)
		},
		func(tx *store.Tx) error {
			shop.Campaign.Active = false
			return env.Store.PutCampaign(tx, shop.ID, shop.Campaign)
		},
	}
	setup := readSetup(t, second, shop.ID)
	wantShop(t, setup, shop)
	for i, change := range changes {
		before := versionOf(t, second, shop.ID)
		env.Write(t, change)
		byKey, _ := findKey(t, second, key)
		byToken, err := second.SessionByToken(t.Context(), token)
		if err != nil || byKey.SetupVersion <= before || byToken.SetupVersion != byKey.SetupVersion {
			t.Errorf("change %d: version %d, then %d by key and %d by token (%v)", i, before, byKey.SetupVersion, byToken.SetupVersion, err)
		}
		writes := writesOf(setup)
		if setup, err = second.Setup(t.Context(), shop.ID, byKey.SetupVersion); err != nil {
			t.Fatal(err)
		}
		wantShop(t, setup, shop)
		if got := writesOf(setup); got != writes+1 {
			t.Errorf("change %d: the records were written %d times, then %d times", i, writes, got)
		}
	}
}

// TestASetupIsReadForAllWhoComeAtOnce: after a change every call of a tenant wants it anew, and it may be large.
func TestASetupIsReadForAllWhoComeAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		process := env.Reopen(t)
		version := versionOf(t, process, shop.ID)
		read := make(chan *merchant.Setup, 50)
		begin := make(chan struct{})
		for range cap(read) {
			go func() {
				<-begin
				setup, err := process.Setup(t.Context(), shop.ID, version)
				if err != nil {
					t.Error(err)
				}
				read <- setup
			}()
		}
		close(begin)
		different := map[*merchant.Setup]bool{}
		for range cap(read) {
			different[<-read] = true
		}
		if len(different) != 1 {
			t.Errorf("fifty calls at once read it %d times", len(different))
		}
	})
}

// TestWhatATenantHasSetUpTakesRoomFromItAlone: another one may set up as much.
func TestWhatATenantHasSetUpTakesRoomFromItAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		full, other := env.Shop(t), env.Shop(t)
		env.Exec(t, `UPDATE setup_records SET secrets = $1 WHERE id = $2`, strings.Repeat("x", 8<<20), full.Gateway.ID.String())
		for tenantID, want := range map[uuid.UUID]error{full.ID: store.ErrSetupFull, other.ID: nil} {
			err := env.TryWrite(t, func(tx *store.Tx) error { tx.RequireSetupRoom(tenantID); return nil })
			if !errors.Is(err, want) {
				t.Errorf("it gave %v, want %v", err, want)
			}
		}
	})
}
