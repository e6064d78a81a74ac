package store_test

import (
	"strings"
	"testing"

	"sepad/internal/merchant"
	"sepad/internal/payment"
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

// TestASaleUnderWayWhileAnUpgradeIsFinished takes over the account of a payment whose turn to be sealed anew has not come,
// when that of subscriptions is over.
func TestASaleUnderWayWhileAnUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		other := process(t, env, beginUpgrade(t, env))
		underWay := env.Attempt(t, env.Session(t, env.Shop(t), storetest.WithTerms(storetest.Monthly)))
		env.Settled(t, env.Shop(t), storetest.WithTerms(storetest.Monthly)) // of a younger tenant, who comes later
		var sold payment.Change
		_, err := other.FinishUpgrade(t.Context(), env.Now, func(int, int) {
			if sold.Subscription == nil && storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM subscriptions WHERE iban_sealed LIKE '%:~%'`) > 0 {
				sold = env.Settle(t, underWay, payment.Outcome{Verdict: payment.VerdictApproved})
			}
		})
		if err != nil || sold.Subscription == nil {
			t.Fatalf("the upgrade is not finished, or nobody bought: %v", err)
		}
		if sealed := storetest.Scalar[string](t, env, `SELECT iban_sealed FROM subscriptions WHERE id = $1`, sold.Subscription.ID.String()); !strings.Contains(sealed, ":~") {
			t.Error("the account of the subscription is sealed for older programs")
		}
	})
}

// TestWhoGoesOnSealingWithTheOldKeyIsNotWaitedForForever, and the old key is needed as long.
func TestWhoGoesOnSealingWithTheOldKeyIsNotWaitedForForever(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		first, second := vault.GenerateKey(), vault.GenerateKey()
		env.Store = process(t, env, first, second)
		env.Settled(t, env.Shop(t), storetest.WithTerms(storetest.Monthly))
		was := storetest.Scalar[string](t, env, `SELECT iban_sealed FROM subscriptions`)
		_, err := process(t, env, second, first).Reseal(t.Context(), env.Now, func(int, int) { env.Exec(t, `UPDATE subscriptions SET iban_sealed = $1`, was) })
		if err == nil || !strings.Contains(err.Error(), "a process still does so") {
			t.Errorf("nobody seals with the old key: %v", err)
		}
		needed := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM encryption_keys WHERE was_first`)
		if needed != 2 {
			t.Errorf("%d keys are needed", needed)
		}
	})
}
