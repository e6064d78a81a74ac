package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"sepad/internal/api"
	"sepad/internal/app/apptest"
	"sepad/internal/merchant"
	"sepad/internal/store/storetest"
)

const lastUse = `SELECT COALESCE(MAX(last_used_at), 0) FROM api_keys WHERE id = $1`

func TestTheLastUseOfAKeyCostsNoWritePerCall(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		id := storetest.Scalar[string](t, s.Env, `SELECT id FROM api_keys WHERE tenant_id = $1`, apptest.Shop)
		before, began := s.Env.Dump(t), time.Now()
		for range 20 {
			s.Do(t, apptest.Request{Path: ibanPath, Key: s.Key, Body: body{"iban": apptest.Approved}}).Want(t, http.StatusOK, nil)
		}
		if s.Env.Dump(t) != before {
			t.Error("calls that only read have written something")
		}
		s.Stop(t)
		used := time.UnixMicro(storetest.Scalar[int64](t, s.Env, lastUse, id))
		if used.Before(began.Add(-time.Millisecond)) || used.After(time.Now()) {
			t.Errorf("the last use is said to be %s, the calls began at %s", used, began)
		}
	})
}

func TestKeyUses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenant := env.Tenant(t)
		key, _ := env.APIKey(t, tenant.ID)
		other, _ := env.APIKey(t, tenant.ID, func(k *merchant.APIKey) { k.Name = "other" })
		want := func(t *testing.T, id string, at time.Time) {
			t.Helper()
			if got := storetest.Scalar[int64](t, env, lastUse, id); got != at.UnixMicro() {
				t.Errorf("the last use is %d, want %d", got, at.UnixMicro())
			}
		}
		never, uses := time.UnixMicro(0), &api.KeyUses{}
		uses.Note(key.ID, env.Now)
		uses.Note(key.ID, env.Now.Add(time.Second))
		want(t, key.ID.String(), never)
		t.Run("what cannot be written is kept for the next time", func(t *testing.T) {
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if uses.Flush(gone, env.Store, env.Now) == nil {
				t.Fatal("a write that was called off has succeeded")
			}
			want(t, key.ID.String(), never)
		})
		t.Run("only the last use of each key is written", func(t *testing.T) {
			if err := uses.Flush(t.Context(), env.Store, env.Now); err != nil {
				t.Fatal(err)
			}
			want(t, key.ID.String(), env.Now.Add(time.Second))
			want(t, other.ID.String(), never)
		})
		t.Run("without a use nothing is written", func(t *testing.T) {
			env.Exec(t, `UPDATE api_keys SET last_used_at = NULL`)
			if err := uses.Flush(t.Context(), env.Store, env.Now); err != nil {
				t.Fatal(err)
			}
			want(t, key.ID.String(), never)
		})
	})
}
