package backup_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"sepad/internal/db"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestTwoRestoresAtOnce: the second would take what the first has made so far for the rest of a killed one, and one of the
// two would give its place to the other's, which is not marked yet.
func TestTwoRestoresAtOnce(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		business(t, env)
		path, made := write(t, env)
		target := elsewhere(t, env)
		second := target
		target.Finish = func(*store.Store) error {
			if _, err := second.Restore(t.Context(), path); err == nil {
				t.Error("the second one goes through")
			}
			return nil
		}
		if _, err := target.Restore(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		restored, err := store.Open(t.Context(), target.Address, store.Options{Vault: env.Vault})
		if err != nil {
			t.Fatal(err)
		}
		defer restored.Close()
		if to, err := restored.RestoredTo(t.Context()); err != nil || !to.Equal(made.CreatedAt) {
			t.Errorf("it is marked as of %s, %v", to, err)
		}
	})
}

// TestARestoreOfWhatStillWaited: nobody had said yet what banks were sent before the first restore when the second backup was
// made. Its own time is too late to begin with.
func TestARestoreOfWhatStillWaited(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		shop := business(t, env)
		_, made := write(t, env)
		want := made.CreatedAt
		for _, isResumed := range []bool{false, true, false} {
			path, made := write(t, env)
			target := elsewhere(t, env)
			if _, err := target.Restore(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			env = &storetest.Env{Engine: env.Engine, URL: target.Address, Vault: env.Vault, Now: made.CreatedAt.Add(time.Hour)}
			env.Store = env.Reopen(t)
			since, err := env.Store.BankRestoredTo(t.Context(), shop.Tenant.ID, shop.Gateway.ID)
			if err != nil || !since.Equal(want) {
				t.Errorf("nobody knows what was sent since %s, want %s (%v)", since, want, err)
			}
			if isResumed {
				want = env.Now
				err := env.Store.Write(t.Context(), env.Now, func(tx *store.Tx) error {
					tx.ResumeBank(shop.Tenant.ID, shop.Gateway.ID, since)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestARestoreBesideAMove: both make a file, and the one that ends last would lie in the place of the other.
func TestARestoreBesideAMove(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	business(t, env)
	path, _ := write(t, env)
	letGo(t, env)
	target := elsewhere(t, env)
	move := moving(env, &storetest.Env{URL: target.Address, Vault: env.Vault})
	move.Told = func(string, int64, int64) {
		if _, err := target.Restore(t.Context(), path); err == nil {
			t.Error("the restore goes through")
		}
	}
	if _, err := move.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestAServerThatStartsBesideARestore: it would make an empty database in the place, whose log would lie beside the file that
// comes, and nobody could use that any more.
func TestAServerThatStartsBesideARestore(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	business(t, env)
	path, _ := write(t, env)
	target := elsewhere(t, env)
	place := strings.TrimPrefix(target.Address, "sqlite:")
	target.Finish = func(*store.Store) error {
		if st, err := store.Open(t.Context(), target.Address, store.Options{Vault: env.Vault}); err == nil {
			t.Error("a database is made in the place", st.Close())
		} else if !strings.Contains(err.Error(), "is being restored or moved there") {
			t.Error(err)
		}
		if err := db.CheckVacant(place); err != nil {
			t.Error(err)
		}
		return os.WriteFile(place, nil, 0o600) // by one that had looked before the draft was there
	}
	if _, err := target.Restore(t.Context(), path); err == nil || !strings.Contains(err.Error(), "somebody began to use the place meanwhile") {
		t.Errorf("the file of another is replaced: %v", err)
	}
	if rest, err := os.Stat(db.DraftOf(place)); err == nil {
		t.Errorf("%s is left", rest.Name())
	}
}
