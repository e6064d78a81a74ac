package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestARebillThatMayHaveLeftUnderAnotherNameIsOfTheSameDay as a debit that left after the backup.
func TestARebillThatMayHaveLeftUnderAnotherNameIsOfTheSameDay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		rebill := func(reference string) uuid.UUID {
			waiting := awaitingFile(t, env, shop, storetest.WithTerms(storetest.Monthly))
			env.Exec(t, `UPDATE transactions SET type = 'sdd_rebill', billing_period = 1, merchant_transaction_id = $2 WHERE id = $1`, waiting.ID.String(), reference)
			return waiting.ID
		}
		sameDay := rebill("TXN-20260101-SAMEDAY")
		rebill("TXN-20260201-NEXTMONTH")
		lostFile(t, env, shop) // with a debit of 1 January
		beside, err := env.Store.Tenant(shop.ID).RebillsBesideAdopted(t.Context(), shop.Gateway.ID)
		if err != nil || len(beside) != 1 || beside[0].TransactionID != sameDay {
			t.Errorf("%+v: %v", beside, err)
		}
	})
}

func TestTheDaysOfLostDebitsAreThoseOfTheirAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		lostFile(t, env, shop)
		for gatewayID, want := range map[uuid.UUID][]string{shop.Gateway.ID: {"2026-04-02"}, another(t, env, shop).Gateway.ID: nil} {
			days, err := env.Store.Tenant(shop.ID).LostDebitDays(t.Context(), gatewayID, 1, "", "9999-12-31")
			if err != nil || !slices.Equal(days, want) {
				t.Errorf("they were due on %v, want %v: %v", days, want, err)
			}
		}
	})
}

// TestWhatIsHeldBackWaitsForNoFile until it is released itself.
func TestWhatIsHeldBackWaitsForNoFile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		free, held := awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		env.Write(t, func(tx *store.Tx) error {
			tx.HoldCollection(shop.ID, free.ID)
			tx.HoldCollection(shop.ID, held.ID)
			return nil
		})
		env.Write(t, func(tx *store.Tx) error { tx.ReleaseCollection(shop.ID, free.ID); return nil })
		waiting, err := env.Store.Tenant(shop.ID).Collectibles(t.Context(), shop.Gateway.ID, store.BankDebits,
			store.CollectibleUntil{TakenAt: storetest.Start.Add(time.Hour)}, uuid.Nil, 10)
		if err != nil || len(waiting) != 1 || waiting[0].TransactionID != free.ID {
			t.Errorf("%d wait: %v", len(waiting), err)
		}
	})
}

// TestARebillWaitsForItsOwnSubscription: that another one of the merchant's has ended stops nobody else's.
func TestARebillWaitsForItsOwnSubscription(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		rebill := func() payment.Transaction {
			paid := env.Settled(t, shop, storetest.WithTerms(storetest.Monthly))
			waiting := awaitingFile(t, env, shop)
			env.Exec(t, `UPDATE transactions SET type = 'sdd_rebill', subscription_id = $2 WHERE id = $1`, waiting.ID.String(), paid.Subscription.ID.String())
			waiting.SubscriptionID = &paid.Subscription.ID
			return waiting
		}
		live, ended := rebill(), rebill()
		env.Exec(t, `UPDATE subscriptions SET status = 'CANCELLED' WHERE id = $1`, ended.SubscriptionID.String())
		waiting, err := env.Store.Tenant(shop.ID).Collectibles(t.Context(), shop.Gateway.ID, store.BankDebits,
			store.CollectibleUntil{TakenAt: storetest.Start.Add(time.Hour)}, uuid.Nil, 10)
		if err != nil || len(waiting) != 1 || waiting[0].TransactionID != live.ID {
			t.Errorf("%d wait: %v", len(waiting), err)
		}
	})
}

// TestWhatABankHasBookedOfAFileIsOfWhatWasInIt, by the name of the file or of the payment's block in it.
func TestWhatABankHasBookedOfAFileIsOfWhatWasInIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		one, other := awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		ofOne, ofOther := fileWith(t, env, store.BankFileSent, one), fileWith(t, env, store.BankFileSent, other)
		statement := store.BankStatement{ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Name: "a", ContentHash: "a"}
		env.Write(t, func(tx *store.Tx) error {
			tx.PutBankStatement(statement)
			tx.AddBankLines(statement, []store.BankLine{
				{Position: 1, Kind: "collected", Reference: ofOne.MessageID, BookingDate: "2026-04-02"},
				{Position: 2, Kind: "collected", Reference: ofOther.MessageID + "-1", BookingDate: "2026-05-02"},
				{Position: 3, Kind: "collected", Reference: "somebody's", BookingDate: "2026-06-02"},
			})
			return nil
		})
		days, err := env.Store.Tenant(shop.ID).BookedOn(t.Context(), []uuid.UUID{one.ID, other.ID})
		if err != nil || days[one.ID] != "2026-04-02" || days[other.ID] != "2026-05-02" {
			t.Errorf("they came on %v: %v", days, err)
		}
	})
}
