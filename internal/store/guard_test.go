package store_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestAChangeIsWrittenOnlyWhereEverythingIsAsItWasRead has somebody else change one
// row of a payment between the decision and its writing.
func TestAChangeIsWrittenOnlyWhereEverythingIsAsItWasRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		pending := payment.Outcome{Verdict: payment.VerdictPending}
		approved := payment.Outcome{Verdict: payment.VerdictApproved}
		open := func(t *testing.T) payment.Debit {
			t.Helper()
			return env.Debit(t, env.Attempt(t, env.Session(t, shop, storetest.WithTerms(storetest.Monthly))).Transaction)
		}
		takenIn := func(t *testing.T) payment.Debit {
			t.Helper()
			return env.Debit(t, env.Settle(t, open(t), pending).Transaction)
		}
		for _, c := range []struct {
			name  string
			known func(*testing.T) payment.Debit
			sql   string
			id    func(payment.Debit) uuid.UUID
		}{
			{"the session's attempt", open, `UPDATE sessions SET open_transaction_id = NULL WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Session.ID }},
			{"the question that is open", open, `UPDATE transactions SET in_flight = 'verify' WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Transaction.ID }},
			{"the payment's status", takenIn, `UPDATE transactions SET status = 'declined' WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Transaction.ID }},
			{"what was given back", takenIn, `UPDATE transactions SET refunded_minor = 1 WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Transaction.ID }},
			{"what is being given back", takenIn, `UPDATE transactions SET refunding_minor = 1 WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Transaction.ID }},
			{"the order", takenIn, `UPDATE orders SET status = 'charged_back' WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Order.ID }},
			{"the subscription's period", takenIn, `UPDATE subscriptions SET period = period + 1 WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Subscription.ID }},
			{"its tries", takenIn, `UPDATE subscriptions SET period_tries = period_tries + 1 WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Subscription.ID }},
			{"what it waits for", takenIn, `UPDATE subscriptions SET open_transaction_id = NULL WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Subscription.ID }},
			{"its status", takenIn, `UPDATE subscriptions SET status = 'CANCELLED' WHERE id = $1`, func(d payment.Debit) uuid.UUID { return d.Subscription.ID }},
		} {
			t.Run(c.name, func(t *testing.T) {
				known := c.known(t)
				change := env.Decide(t, known, approved)
				env.Exec(t, c.sql, c.id(known).String())
				before := env.Dump(t)
				if err := env.Apply(t, change); !errors.Is(err, store.ErrStale) {
					t.Errorf("it is written over: %v", err)
				}
				if env.Dump(t) != before {
					t.Error("a part of it was written")
				}
			})
		}
	})
}
