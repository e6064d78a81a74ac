package store_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// weekly is what comes due soonest.
var weekly = payment.Terms{PriceMinor: 29_99, Currency: "EUR", BillingType: payment.Recurring, Frequency: payment.Weekly}

// subscribed sells a subscription and gives it as it is stored.
func subscribed(t *testing.T, env *storetest.Env, shop storetest.Shop, terms payment.Terms) payment.Subscription {
	t.Helper()
	return stored(t, env, *env.Settled(t, shop, storetest.WithTerms(terms)).Subscription)
}

func stored(t *testing.T, env *storetest.Env, of payment.Subscription) payment.Subscription {
	t.Helper()
	sub, err := env.Store.Tenant(of.TenantID).Subscription(t.Context(), of.ID)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// dueNow gives what is due at the test's time, without claiming it.
func dueNow(t *testing.T, env *storetest.Env, limit int) (due []store.DueSubscription) {
	t.Helper()
	env.Write(t, func(tx *store.Tx) (err error) {
		due, err = tx.SubscriptionsDue(env.Now, limit)
		return err
	})
	return due
}

func idsOf(due []store.DueSubscription) []uuid.UUID {
	ids := make([]uuid.UUID, len(due))
	for i, one := range due {
		ids[i] = one.Subscription.ID
	}
	return ids
}

// rebillOf begins a rebill that is not written yet.
func rebillOf(t *testing.T, env *storetest.Env, due store.DueSubscription) payment.Change {
	t.Helper()
	begun, err := payment.BeginRebill(due.Subscription, due.First, payment.DateOf(env.Now), env.Now)
	if err != nil {
		t.Fatal(err)
	}
	begun.Transaction.Attempt.Silence = 90 * time.Second
	return begun
}

// claimRebill writes a rebill and gives the error of that.
func claimRebill(t *testing.T, env *storetest.Env, due store.DueSubscription, begun payment.Change) error {
	t.Helper()
	return env.TryWrite(t, func(tx *store.Tx) error {
		tx.ClaimRebill(begun, due.SealedIBAN)
		return nil
	})
}

func cancelSubscription(t *testing.T, env *storetest.Env, known payment.Subscription) error {
	t.Helper()
	cancelled, err := payment.CancelSubscription(known, payment.CancelledByOperator, env.Now)
	if err != nil {
		t.Fatal(err)
	}
	return env.TryWrite(t, func(tx *store.Tx) error {
		tx.ChangeSubscription(known, cancelled)
		return nil
	})
}

func isStale(err error) bool { return errors.Is(err, store.ErrStale) }

func TestSubscriptionsDue(t *testing.T) {
	t.Parallel()

	t.Run("are given longest due first, from the first instant of their day", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			one, other := env.Shop(t), env.Shop(t)
			later, sooner := subscribed(t, env, one, storetest.Monthly), subscribed(t, env, other, weekly)
			env.Settled(t, one)
			env.Now = sooner.NextBillingDate.Start().Add(-time.Microsecond)
			if due := dueNow(t, env, 10); len(due) != 0 {
				t.Errorf("due before its day are %v", idsOf(due))
			}
			env.Now = sooner.NextBillingDate.Start()
			wantNextDue(t, env, env.Now)
			if due := idsOf(dueNow(t, env, 10)); !slices.Equal(due, []uuid.UUID{sooner.ID}) {
				t.Errorf("due are %v", due)
			}
			env.Now = later.NextBillingDate.Start()
			if due := idsOf(dueNow(t, env, 10)); !slices.Equal(due, []uuid.UUID{sooner.ID, later.ID}) {
				t.Errorf("due are %v", due)
			}
			if due := idsOf(dueNow(t, env, 1)); !slices.Equal(due, []uuid.UUID{sooner.ID}) {
				t.Errorf("the first is %v", due)
			}
		})
	})

	t.Run("come with all that a rebill needs", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			sold := env.Settled(t, shop, storetest.WithTerms(weekly))
			env.Now = sold.Subscription.NextBillingDate.Start()
			due := dueNow(t, env, 10)[0]
			storetest.Equal(t, due.Subscription, stored(t, env, *sold.Subscription))
			storetest.Equal(t, due.Lead, env.Find(t, sold.Session.Token).Lead)
			first := sold.Transaction
			storetest.Equal(t, due.First, payment.Transaction{
				MaskedIBAN: first.MaskedIBAN, IBANCountry: first.IBANCountry, BIC: first.BIC, BankName: first.BankName,
				HolderName: first.HolderName, Email: first.Email, MandateAt: first.MandateAt, AmountMinor: first.AmountMinor,
			})
			iban, err := env.Vault.Open(due.SealedIBAN, store.BindIBAN(shop.ID, due.Subscription.MandateReference))
			version, versionErr := env.Store.SetupVersion(t.Context(), shop.ID)
			if err != nil || versionErr != nil || string(iban) != storetest.IBAN || due.SetupVersion != version {
				t.Errorf("the account cannot be opened (%v) or the set-up is another", errors.Join(err, versionErr))
			}
		})
	})
}

func TestSubscriptionsNotDue(t *testing.T) {
	t.Parallel()

	t.Run("those that have ended, wait for an outcome or have no frequency are not due", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			if err := cancelSubscription(t, env, subscribed(t, env, shop, weekly)); err != nil {
				t.Fatal(err)
			}
			env.Settle(t, env.Attempt(t, env.Session(t, shop, storetest.WithTerms(weekly))), pending)
			without := weekly
			without.Frequency = ""
			subscribed(t, env, shop, without)
			env.Now = env.Now.AddDate(2, 0, 0)
			if due := dueNow(t, env, 10); len(due) != 0 {
				t.Errorf("due are %v", idsOf(due))
			}
			// But a mandate that nobody uses lapses.
			env.Now = env.Now.AddDate(1, 0, 2)
			if due := dueNow(t, env, 10); len(due) != 1 {
				t.Errorf("%d mandates lapse", len(due))
			}
		})
	})

	t.Run("what one unit has taken another passes over", func(t *testing.T) {
		t.Parallel()
		env := storetest.Postgres(t) // SQLite lets one unit write at a time
		shop := env.Shop(t)
		for range 3 {
			subscribed(t, env, shop, weekly)
		}
		env.Now = env.Now.AddDate(0, 0, 7)
		other := env.Reopen(t)
		env.Write(t, func(tx *store.Tx) error {
			mine, err := tx.SubscriptionsDue(env.Now, 2)
			if err != nil {
				return err
			}
			return other.Write(t.Context(), env.Now, func(tx *store.Tx) error {
				theirs, err := tx.SubscriptionsDue(env.Now, 10)
				if len(mine) != 2 || len(theirs) != 1 || slices.Contains(idsOf(mine), theirs[0].Subscription.ID) {
					t.Errorf("one unit has %v and the other %v", idsOf(mine), idsOf(theirs))
				}
				return err
			})
		})
	})
}

func TestClaimRebill(t *testing.T) {
	t.Parallel()

	t.Run("every field of the rebill and its subscription comes back, and nothing is due any more", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			due := dueOne(t, env)
			begun := rebillOf(t, env, due)
			if err := claimRebill(t, env, due, begun); err != nil {
				t.Fatal(err)
			}
			env.Written(&begun.Transaction.Attempt)
			read := env.Debit(t, begun.Transaction)
			storetest.Equal(t, read.Transaction, begun.Transaction)
			storetest.Equal(t, *read.Subscription, *begun.Subscription)
			if left := dueNow(t, env, 10); len(left) != 0 {
				t.Errorf("due are %v", idsOf(left))
			}
		})
	})

	t.Run("many claimers at once claim each subscription once", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testManyClaimers)
	})

	t.Run("a period that stands is not claimed again, whatever the subscription says", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testSecondRebill)
	})
}

func TestClaimAgainstCancellation(t *testing.T) {
	t.Parallel()

	t.Run("a claim loses to a cancellation", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			due := dueOne(t, env)
			begun := rebillOf(t, env, due)
			if err := cancelSubscription(t, env, due.Subscription); err != nil {
				t.Fatal(err)
			}
			before := env.Dump(t)
			if err := claimRebill(t, env, due, begun); !isStale(err) {
				t.Errorf("got %v", err)
			}
			if env.Dump(t) != before {
				t.Error("the lost claim has changed something")
			}
		})
	})

	t.Run("a claim wins over a cancellation that did not see it, and then bills no more", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			due := dueOne(t, env)
			begun := rebillOf(t, env, due)
			if err := claimRebill(t, env, due, begun); err != nil {
				t.Fatal(err)
			}
			if err := cancelSubscription(t, env, due.Subscription); !isStale(err) {
				t.Errorf("got %v", err)
			}
			if err := cancelSubscription(t, env, stored(t, env, due.Subscription)); err != nil {
				t.Fatal(err)
			}
			ended := stored(t, env, due.Subscription)
			if ended.OpenTransactionID == nil || *ended.OpenTransactionID != begun.Transaction.ID || !ended.NextBillingDate.IsZero() {
				t.Errorf("waits for %v, billed next on %s", ended.OpenTransactionID, ended.NextBillingDate)
			}
		})
	})

	t.Run("of a claim and a cancellation at once one wins", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			due := dueOne(t, env)
			begun := rebillOf(t, env, due)
			wins := race(t, 2, func(i int) error {
				if i == 0 {
					return claimRebill(t, env, due, begun)
				}
				return cancelSubscription(t, env, due.Subscription)
			}, isStale)
			isCancelled := stored(t, env, due.Subscription).Status == payment.SubscriptionCancelled
			if rebills := env.Count(t, "transactions WHERE type = 'sdd_rebill'"); wins != 1 || isCancelled == (rebills == 1) {
				t.Errorf("%d won, cancelled: %v, %d rebills", wins, isCancelled, rebills)
			}
		})
	})
}

// dueOne is the only subscription that is due at the test's time.
func dueOne(t *testing.T, env *storetest.Env) store.DueSubscription {
	t.Helper()
	sub := subscribed(t, env, env.Shop(t), weekly)
	env.Now = sub.NextBillingDate.Start().Add(time.Hour)
	return dueNow(t, env, 10)[0]
}

// testManyClaimers has two processes of several lanes each work off what is due.
func testManyClaimers(t *testing.T, env *storetest.Env) {
	shop := env.Shop(t)
	const subscriptions, lanes = 30, 3
	for range subscriptions {
		subscribed(t, env, shop, weekly)
	}
	env.Now = env.Now.AddDate(0, 0, 7)
	claimed := map[uuid.UUID]int{}
	var guard sync.Mutex
	processes := []*store.Store{env.Store, env.Reopen(t)}
	race(t, lanes*len(processes), func(i int) error {
		for {
			var taken []uuid.UUID
			err := processes[i%len(processes)].Write(t.Context(), env.Now, func(tx *store.Tx) error {
				due, err := tx.SubscriptionsDue(env.Now, 4)
				for _, one := range due {
					begun, err := payment.BeginRebill(one.Subscription, one.First, payment.DateOf(env.Now), env.Now)
					if err != nil {
						return err
					}
					tx.ClaimRebill(begun, one.SealedIBAN)
				}
				taken = idsOf(due)
				return err
			})
			if err != nil || len(taken) == 0 {
				return err
			}
			guard.Lock()
			for _, id := range taken {
				claimed[id]++
			}
			guard.Unlock()
		}
	}, func(error) bool { return false })
	for id, times := range claimed {
		if times != 1 {
			t.Errorf("subscription %s was claimed %d times", id, times)
		}
	}
	if rebills := env.Count(t, "transactions WHERE type = 'sdd_rebill'"); len(claimed) != subscriptions || rebills != subscriptions {
		t.Errorf("%d subscriptions were claimed and %d rebills made, want %d", len(claimed), rebills, subscriptions)
	}
}

// testSecondRebill forgets behind the store's back that a period was billed.
func testSecondRebill(t *testing.T, env *storetest.Env) {
	due := dueOne(t, env)
	first := rebillOf(t, env, due)
	if err := claimRebill(t, env, due, first); err != nil {
		t.Fatal(err)
	}
	env.Exec(t, "UPDATE subscriptions SET open_transaction_id = NULL, period_tries = 0")
	for _, standing := range []payment.TransactionStatus{
		payment.TransactionPending, payment.TransactionApproved, payment.TransactionRefunded,
	} {
		env.Exec(t, "UPDATE transactions SET status = $1, in_flight = NULL WHERE type = 'sdd_rebill'", string(standing))
		before := env.Dump(t)
		second := rebillOf(t, env, due)
		second.Transaction.MerchantTransactionID = payment.RebillReference(due.Subscription, 2)
		err := claimRebill(t, env, due, second)
		taken := &db.KeyError{}
		if !errors.As(err, &taken) || taken.Key != "transactions_subscription_id_billing_period_key" || store.IsReferenceCollision(err) {
			t.Errorf("a second rebill beside one that is %s: %v", standing, err)
		}
		if env.Dump(t) != before {
			t.Errorf("a second rebill beside one that is %s has changed something", standing)
		}
	}
	env.Exec(t, "UPDATE transactions SET status = 'declined' WHERE type = 'sdd_rebill'")
	next := rebillOf(t, env, due)
	next.Transaction.MerchantTransactionID = payment.RebillReference(due.Subscription, 2)
	if err := claimRebill(t, env, due, next); err != nil {
		t.Errorf("the next try after a refusal: %v", err)
	}
}
