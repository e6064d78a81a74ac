package store_test

import (
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestChangeSubscription(t *testing.T) {
	t.Parallel()

	t.Run("every field that billing changes comes back", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			before := subscribed(t, env, env.Shop(t), weekly)
			env.Now = env.Now.Add(time.Hour)
			after := before
			open := payment.NewID()
			after.Status, after.NextBillingDate = payment.SubscriptionPastDue, before.NextBillingDate.AddDays(3)
			after.SuccessfulCount, after.FailedCount, after.RevenueMinor = 4, 5, before.RevenueMinor+600
			after.Period, after.Tries, after.OpenTransactionID = 7, 2, &open
			after.SequenceType, after.MandateUsedAt, after.LastBilledAt = payment.SequenceFirst, env.Now, env.Now.Add(-time.Minute)
			after.UpdatedAt = env.Now
			if err := changeSubscription(t, env, before, after); err != nil {
				t.Fatal(err)
			}
			storetest.Equal(t, stored(t, env, before), after)
		})
	})

	t.Run("what billing has changed since it was read is not written over", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			read := subscribed(t, env, env.Shop(t), weekly)
			open := payment.NewID()
			for name, meanwhile := range map[string]func(*payment.Subscription){
				"status": func(s *payment.Subscription) { s.Status = payment.SubscriptionPastDue },
				"period": func(s *payment.Subscription) { s.Period++ },
				"try":    func(s *payment.Subscription) { s.Tries++ },
				"open":   func(s *payment.Subscription) { s.OpenTransactionID = &open },
			} {
				changed := read
				meanwhile(&changed)
				if err := changeSubscription(t, env, read, changed); err != nil {
					t.Fatal(err)
				}
				if err := cancelSubscription(t, env, read); !isStale(err) {
					t.Errorf("another %s: got %v", name, err)
				}
				if err := changeSubscription(t, env, changed, read); err != nil {
					t.Fatal(err)
				}
			}
		})
	})
}

func TestBookOnSubscription(t *testing.T) {
	t.Parallel()

	t.Run("money that moved is booked whatever billing does meanwhile", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			due := dueOne(t, env)
			if err := claimRebill(t, env, due, rebillOf(t, env, due)); err != nil {
				t.Fatal(err)
			}
			claimed := stored(t, env, due.Subscription)
			wins := race(t, 10, func(int) error {
				refunded := due.Subscription
				refunded.RevenueMinor--
				return changeSubscription(t, env, due.Subscription, refunded)
			}, func(error) bool { return false })
			claimed.RevenueMinor -= 10
			storetest.Equal(t, stored(t, env, due.Subscription), claimed)
			if wins != 10 {
				t.Errorf("%d of 10 were booked", wins)
			}
		})
	})

	t.Run("another tenant's is not changed", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			foreign := subscribed(t, env, env.Shop(t), weekly)
			foreign.TenantID = env.Tenant(t).ID
			if err := cancelSubscription(t, env, foreign); !isStale(err) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func changeSubscription(t *testing.T, env *storetest.Env, before, after payment.Subscription) error {
	t.Helper()
	return env.TryWrite(t, func(tx *store.Tx) error {
		tx.ChangeSubscription(before, after)
		return nil
	})
}
