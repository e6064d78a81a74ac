package store_test

import (
	"strings"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// beforeBilling is the schema in which subscriptions were recorded and not billed.
const beforeBilling = 5

// What the migration makes of subscriptions from before must be what this version
// writes for them: they are sold here, taken back to the old schema and migrated.
func TestBillingMigration(t *testing.T) {
	t.Parallel()
	for name, sell := range map[string]func(t *testing.T, env *storetest.Env, shop storetest.Shop){
		"a subscription": func(t *testing.T, env *storetest.Env, shop storetest.Shop) {
			subscribed(t, env, shop, storetest.Monthly)
		},
		"a paid trial": func(t *testing.T, env *storetest.Env, shop storetest.Shop) {
			subscribed(t, env, shop, storetest.PaidTrial)
		},
		"a free trial": func(t *testing.T, env *storetest.Env, shop storetest.Shop) {
			free := storetest.PaidTrial
			free.TrialMinor = nil
			subscribed(t, env, shop, free)
		},
		"one without a frequency": func(t *testing.T, env *storetest.Env, shop storetest.Shop) {
			without := storetest.Monthly
			without.Frequency = ""
			subscribed(t, env, shop, without)
		},
		"one whose first payment is pending": func(t *testing.T, env *storetest.Env, shop storetest.Shop) {
			env.Settle(t, env.Attempt(t, env.Session(t, shop, storetest.WithTerms(storetest.Monthly))), pending)
		},
		"one that has ended": func(t *testing.T, env *storetest.Env, shop storetest.Shop) {
			if err := cancelSubscription(t, env, subscribed(t, env, shop, storetest.Monthly)); err != nil {
				t.Fatal(err)
			}
			env.Exec(t, "UPDATE subscriptions SET cancel_reason = ''") // nobody wrote down why
		},
		"one of which money is being given back": func(t *testing.T, env *storetest.Env, shop storetest.Shop) {
			paid := collected(t, env, shop, storetest.WithTerms(storetest.Monthly))
			begun, err := paid.BeginRefund(nil, env.Now)
			if err != nil {
				t.Fatal(err)
			}
			env.Write(t, func(tx *store.Tx) error {
				tx.ClaimRefund(begun)
				return nil
			})
		},
	} {
		t.Run(name+" is carried over as if it were sold today", func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, env *storetest.Env) {
				shop := env.Shop(t)
				for _, day := range []string{"2026-08-31", "2028-02-29", "2026-12-31"} {
					date, err := payment.ParseDate(day)
					if err != nil {
						t.Fatal(err)
					}
					env.Now = date.Start().Add(23*time.Hour + 59*time.Minute)
					sell(t, env, shop)
				}
				wantCarriedOver(t, env)
			})
		})
	}
}

func wantCarriedOver(t *testing.T, env *storetest.Env) {
	t.Helper()
	before := rowsOf(env.Dump(t), "subscriptions")
	if _, err := migrationsOf(t, env).DownTo(t.Context(), beforeBilling); err != nil {
		t.Fatal(err)
	}
	if err := env.Store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := rowsOf(env.Dump(t), "subscriptions")
	if len(before) == 0 || len(before) != len(after) {
		t.Fatalf("%d subscriptions before and %d after", len(before), len(after))
	}
	for i := range before {
		if before[i] != after[i] {
			t.Errorf("was sold as\n%s\nand is carried over as\n%s", before[i], after[i])
		}
	}
}

// rowsOf picks a table's lines from a dump.
func rowsOf(dump, table string) (rows []string) {
	for line := range strings.Lines(dump) {
		if strings.HasPrefix(line, table+" ") {
			rows = append(rows, line)
		}
	}
	return rows
}
