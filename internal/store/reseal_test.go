package store_test

import (
	"strings"
	"testing"

	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/vault"
)

func TestReseal(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		first, second := vault.GenerateKey(), vault.GenerateKey()
		with := func(keys ...string) *store.Store {
			st := opened(t, env, keys...)
			if err := st.Adopt(t.Context(), merchant.Sandbox, env.Now); err != nil {
				t.Fatal(err)
			}
			return st
		}
		v, err := vault.New(first)
		if err != nil {
			t.Fatal(err)
		}
		env.Vault, env.Store = v, with(first)
		sub := env.Settled(t, env.Shop(t), storetest.WithTerms(storetest.Monthly)).Subscription
		name, _, _ := strings.Cut(first, ":")

		after := with(second, first)
		var told int
		done, err := after.Reseal(t.Context(), env.Now, func(done, total int) {
			if told = done; done > total {
				t.Errorf("%d of %d are done", done, total)
			}
		})
		if err != nil || done < 4 || told != done {
			t.Errorf("%d rows were sealed anew, %d told of: %v", done, told, err)
		}
		if again, err := after.Reseal(t.Context(), env.Now, func(int, int) {}); err != nil || again != 0 {
			t.Errorf("once more, %d rows were sealed anew: %v", again, err)
		}
		if text := env.Dump(t); strings.Count(text, name+":") != 1 { // by which the key is recognized
			t.Errorf("the old key is still used:\n%s", text)
		}
		without := with(second)
		due, err := without.Tenant(sub.TenantID).DueSubscription(t.Context(), sub.ID)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := vault.New(second)
		if err != nil {
			t.Fatal(err)
		}
		if iban, err := alone.Open(due.SealedIBAN, store.BindIBAN(sub.TenantID, sub.MandateReference)); err != nil || string(iban) != storetest.IBAN {
			t.Errorf("the account cannot be read: %v", err)
		}

		// A process that was forgotten goes on with the old key in front.
		env.Settled(t, env.Shop(t))
		with(second, first)
		wantRefused(t, opened(t, env, second).Adopt(t.Context(), merchant.Sandbox, env.Now), `the key "`+name+`" is missing`)
	})
}

// TestEverySealedColumnIsResealed holds the list to the schema by the names that
// such columns have.
func TestEverySealedColumnIsResealed(t *testing.T) {
	t.Parallel()
	for name := range schemaOf(t, storetest.SQLite(t)) {
		column, isColumn := strings.CutPrefix(name, "column ")
		if !isColumn || !strings.HasSuffix(column, "_sealed") && !strings.HasSuffix(column, ".secrets") {
			continue
		}
		if !store.IsResealed(column) {
			t.Errorf("%s would keep its old key", column)
		}
	}
}
