package store_test

import (
	"errors"
	"testing"

	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// known is a shop whose key a process has looked up, with the set-up of its version.
type known struct {
	*storetest.Env
	storetest.Shop
	key        merchant.APIKey
	keyHash    string
	credential store.Credential
}

// eachKnown runs a test on every engine.
func eachKnown(t *testing.T, test func(t *testing.T, k known)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		k := known{Env: env, Shop: env.Shop(t)}
		var text string
		k.key, text = env.APIKey(t, k.ID)
		k.keyHash = merchant.HashAPIKey(text)
		k.credential, _ = findKey(t, env.Store, text)
		k.readSetup(t)
		test(t, k)
	})
}

func (k known) readSetup(t *testing.T) {
	t.Helper()
	if _, err := k.Store.Setup(t.Context(), k.ID, k.credential.SetupVersion); err != nil {
		t.Fatal(err)
	}
}

// create makes a session that rests on the key as it was looked up.
func (k known) create(t *testing.T, draft storetest.Draft) error {
	t.Helper()
	return k.TryWrite(t, func(tx *store.Tx) error {
		tx.CreateSessionFor(k.credential, k.New(t, draft), draft.Lead)
		return nil
	})
}

func (k known) wantStale(t *testing.T, draft storetest.Draft) {
	t.Helper()
	leads, sessions := k.Count(t, "leads"), k.Count(t, "sessions")
	if err := k.create(t, draft); !errors.Is(err, store.ErrStale) {
		t.Errorf("got %v", err)
	}
	if k.Count(t, "leads") != leads || k.Count(t, "sessions") != sessions {
		t.Error("something was written")
	}
}

func (k known) wantRecalled(t *testing.T, want bool) {
	t.Helper()
	credential, recalled := k.Store.RecallCredential(k.keyHash)
	if recalled != want || recalled && credential != k.credential {
		t.Errorf("recalled %v: %+v", recalled, credential)
	}
}

func TestASessionThatRestsOnAKey(t *testing.T) {
	t.Parallel()

	t.Run("is made while the key is valid and the set-up unchanged", func(t *testing.T) {
		eachKnown(t, func(t *testing.T, k known) {
			draft := k.Draft(k.Shop)
			if err := k.create(t, draft); err != nil {
				t.Fatal(err)
			}
			if found := k.Find(t, draft.Token); found.Lead != draft.Lead || found.Session.LeadID != draft.Lead.ID {
				t.Errorf("found %+v", found)
			}
		})
	})
	t.Run("is not made once another process has revoked the key", func(t *testing.T) {
		eachKnown(t, func(t *testing.T, k known) {
			err := k.Reopen(t).Write(t.Context(), k.Now, func(tx *store.Tx) error {
				tx.RevokeAPIKey(k.ID, k.key.ID)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			k.wantStale(t, k.Draft(k.Shop))
		})
	})
	t.Run("is not made once the set-up has changed", func(t *testing.T) {
		eachKnown(t, func(t *testing.T, k known) {
			k.Env.Gateway(t, k.ID)
			k.wantStale(t, k.Draft(k.Shop))
		})
	})
	t.Run("is not made for another tenant", func(t *testing.T) {
		eachKnown(t, func(t *testing.T, k known) { k.wantStale(t, k.Draft(k.Env.Shop(t))) })
	})
	t.Run("is refused for a lead that holds a session, and belongs to the lead once it does not", func(t *testing.T) {
		eachKnown(t, func(t *testing.T, k known) {
			earlier := k.Session(t, k.Shop)
			again := k.Draft(k.Shop, func(d *storetest.Draft) { d.Lead.Email = earlier.Lead.Email })
			if err := k.create(t, again); !store.IsLeadBusy(err) {
				t.Errorf("got %v", err)
			}
			k.Exec(t, "UPDATE sessions SET holds_lead = FALSE")
			if err := k.create(t, again); err != nil {
				t.Fatal(err)
			}
			if found := k.Find(t, again.Token); found.Lead.ID != earlier.Lead.ID {
				t.Error("the lead was written twice")
			}
		})
	})
	t.Run("learns of a revoked key before it learns of a busy lead", func(t *testing.T) {
		eachKnown(t, func(t *testing.T, k known) {
			earlier := k.Session(t, k.Shop)
			if err := revoke(t, k.Env, k.ID, k.key.ID); err != nil {
				t.Fatal(err)
			}
			k.wantStale(t, k.Draft(k.Shop, func(d *storetest.Draft) { d.Lead.Email = earlier.Lead.Email }))
		})
	})
}

func TestAKeyIsRecalled(t *testing.T) {
	t.Parallel()

	t.Run("only after a look-up in this process", func(t *testing.T) {
		eachKnown(t, func(t *testing.T, k known) {
			k.wantRecalled(t, true)
			if _, recalled := k.Reopen(t).RecallCredential(k.keyHash); recalled {
				t.Error("another process recalls it too")
			}
		})
	})
	t.Run("only beside the set-up of its version", func(t *testing.T) {
		eachKnown(t, func(t *testing.T, k known) {
			k.Env.Gateway(t, k.ID)
			stale := k.credential
			var found bool
			if k.credential, found, _ = k.Store.CredentialByKeyHash(t.Context(), k.keyHash); !found || k.credential == stale {
				t.Fatal("the look-up does not see the change")
			}
			k.wantRecalled(t, false)
			k.readSetup(t)
			k.wantRecalled(t, true)
		})
	})
	t.Run("no longer once a look-up has not found it", func(t *testing.T) {
		eachKnown(t, func(t *testing.T, k known) {
			if err := revoke(t, k.Env, k.ID, k.key.ID); err != nil {
				t.Fatal(err)
			}
			if _, found, err := k.Store.CredentialByKeyHash(t.Context(), k.keyHash); found || err != nil {
				t.Fatalf("found %v: %v", found, err)
			}
			k.wantRecalled(t, false)
		})
	})
}
