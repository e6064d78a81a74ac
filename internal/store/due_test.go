package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

type dueQuery func(ctx context.Context, now time.Time, limit int) ([]store.Due, error)

// wantDue expects exactly these things to be due, in this order.
func wantDue(t *testing.T, query dueQuery, now time.Time, limit int, want ...store.Due) {
	t.Helper()
	due, err := query(t.Context(), now, limit)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(due, want) {
		t.Errorf("due are %v, want %v", due, want)
	}
}

func wantNextDue(t *testing.T, env *storetest.Env, want time.Time) {
	t.Helper()
	at, found, err := env.Store.NextDue(t.Context(), time.Time{})
	if err != nil || found == want.IsZero() || !at.Equal(want) {
		t.Errorf("next due at %s (found %v, error %v), want %s", at, found, err, want)
	}
}

func dueSession(s payment.Session) store.Due {
	return store.Due{TenantID: s.TenantID, ID: s.ID, At: s.ExpiresAt}
}

func TestSessionsDue(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		wantNextDue(t, env, time.Time{})
		one, other := env.Shop(t), env.Shop(t)
		second := env.Session(t, one, storetest.ExpiresIn(2*time.Hour)).Session
		first := env.Session(t, other, storetest.ExpiresIn(time.Hour)).Session
		awaiting := env.Awaiting(t, one, storetest.ExpiresIn(3*time.Hour)).Session
		env.Attempt(t, env.Session(t, one, storetest.ExpiresIn(time.Minute)))
		env.Settled(t, one, storetest.ExpiresIn(time.Minute))
		cancelled := env.Session(t, one, storetest.ExpiresIn(time.Minute)).Session
		if err := endSession(t, env, cancelled); err != nil {
			t.Fatal(err)
		}

		query := env.Store.SessionsDue
		wantDue(t, query, first.ExpiresAt.Add(-time.Microsecond), 10)
		wantDue(t, query, first.ExpiresAt, 10, dueSession(first))
		wantDue(t, query, awaiting.ExpiresAt, 10, dueSession(first), dueSession(second), dueSession(*awaiting))
		wantDue(t, query, awaiting.ExpiresAt, 2, dueSession(first), dueSession(second))
		wantNextDue(t, env, first.ExpiresAt)
		if at, found, err := env.Store.NextDue(t.Context(), first.ExpiresAt); err != nil || !found || !at.Equal(second.ExpiresAt) {
			t.Errorf("after it comes %s (found %v, error %v)", at, found, err)
		}
	})
}

func TestSettlementsDue(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		at := env.Now.Add(10 * time.Minute)
		outcome := pending
		outcome.SettlesAt = at
		settled := env.Settle(t, env.Attempt(t, env.Session(t, shop)), outcome)
		env.Settled(t, shop)
		env.Attempt(t, env.Session(t, shop, storetest.ExpiresIn(time.Minute)))
		due := store.Due{TenantID: shop.ID, ID: settled.Transaction.ID, At: at, Type: payment.Sale}
		wantDue(t, env.Store.SettlementsDue, at.Add(-time.Microsecond), 10)
		wantDue(t, env.Store.SettlementsDue, at, 10, due)
		wantDue(t, env.Store.SettlementsDue, at, 0)
		wantNextDue(t, env, at)

		env.Now = at
		env.Settle(t, env.Debit(t, settled.Transaction), approved)
		wantDue(t, env.Store.SettlementsDue, at.Add(1000*time.Hour), 10)
		wantNextDue(t, env, time.Time{})
	})
}

func TestLookups(t *testing.T) {
	t.Parallel()

	t.Run("an open attempt is looked up from its date on", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			open := env.Attempt(t, env.Session(t, shop)).Transaction
			env.Settled(t, shop)
			lookups := func(ctx context.Context, now time.Time, limit int) ([]store.Due, error) {
				env.Now = now
				return env.Store.LookupsDue(ctx, now, limit)
			}
			due := store.Due{TenantID: shop.ID, ID: open.ID, At: open.Attempt.NextLookupAt, Type: payment.Sale}
			wantDue(t, lookups, due.At.Add(-time.Microsecond), 10)
			wantDue(t, lookups, due.At, 10, due)
			wantUnknown(t, env, 0)

			open.Attempt.LookupCount, open.Attempt.Silence = 1, time.Minute
			if err := postpone(t, env, open); err != nil {
				t.Fatal(err)
			}
			wantDue(t, lookups, due.At, 10)
			due.At = due.At.Add(time.Minute)
			wantDue(t, lookups, due.At, 10, due)
			wantUnknown(t, env, 1)
		})
	})

	t.Run("of several processes one takes a lookup on", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			open := env.Attempt(t, env.Session(t, env.Shop(t))).Transaction
			for count := 1; count <= 2; count++ {
				open.Attempt.LookupCount = count
				wins := race(t, 8, func(int) error { return postpone(t, env, open) },
					func(err error) bool { return errors.Is(err, store.ErrStale) })
				if wins != 1 {
					t.Errorf("lookup %d was taken on by %d", count, wins)
				}
			}
		})
	})

	t.Run("an attempt that was settled meanwhile is not postponed", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			claimed := env.Attempt(t, env.Session(t, env.Shop(t)))
			env.Settle(t, claimed, approved)
			claimed.Transaction.Attempt.LookupCount = 1
			before := env.Dump(t)
			if err := postpone(t, env, claimed.Transaction); !errors.Is(err, store.ErrStale) {
				t.Errorf("got %v", err)
			}
			if env.Dump(t) != before {
				t.Error("something has changed")
			}
		})
	})
}

func postpone(t *testing.T, env *storetest.Env, open payment.Transaction) error {
	t.Helper()
	return env.TryWrite(t, func(tx *store.Tx) error {
		tx.PostponeLookup(open)
		return nil
	})
}

func wantUnknown(t *testing.T, env *storetest.Env, want int) {
	t.Helper()
	if got, err := env.Store.UnknownOutcomes(t.Context()); err != nil || got != want {
		t.Errorf("%d outcomes are unknown (error %v), want %d", got, err, want)
	}
}

func endSession(t *testing.T, env *storetest.Env, s payment.Session) error {
	t.Helper()
	ended, err := payment.Cancel(s, env.Now)
	if err != nil {
		t.Fatal(err)
	}
	return env.TryWrite(t, func(tx *store.Tx) error {
		tx.EndSession(ended)
		return nil
	})
}

func TestEndSession(t *testing.T) {
	t.Parallel()

	t.Run("a cancelled session is written as such and frees its lead", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			session := env.Session(t, env.Shop(t)).Session
			env.Now = env.Now.Add(time.Second)
			if err := endSession(t, env, session); err != nil {
				t.Fatal(err)
			}
			session.Status, session.HoldsLead, session.UpdatedAt = payment.SessionExpired, false, env.Now
			storetest.Equal(t, env.Find(t, session.Token).Session, session)
			if err := env.TryWrite(t, func(tx *store.Tx) error {
				tx.EndSession(session)
				return nil
			}); !isConflict(err) {
				t.Errorf("ending it twice: %v", err)
			}
		})
	})

	t.Run("of an end and a claim at once one wins", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			for range 10 {
				found := env.Session(t, shop)
				attempt := env.Begin(t, found)
				wins := race(t, 2, func(i int) error {
					if i == 0 {
						return endSession(t, env, found.Session)
					}
					return env.Claim(t, attempt)
				}, isConflict)
				session := env.Find(t, found.Session.Token).Session
				if wins != 1 || session.InFlight() == (session.Status == payment.SessionExpired) {
					t.Errorf("%d won; the session is %s, in flight: %v", wins, session.Status, session.InFlight())
				}
			}
		})
	})

	t.Run("a session of another tenant is not ended", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			session := env.Session(t, env.Shop(t)).Session
			session.TenantID = uuid.New()
			before := env.Dump(t)
			if err := endSession(t, env, session); !isConflict(err) || env.Dump(t) != before {
				t.Errorf("got %v", err)
			}
		})
	})
}

// TestASenderWhoIsSilentForTooLongIsTakenForDead: nobody waits for it any more, but for one who may still send.
func TestASenderWhoIsSilentForTooLongIsTakenForDead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		waits := func(what string, want bool) {
			t.Helper()
			if got, err := env.Store.SweepsUnderWay(t.Context()); got != want || err != nil {
				t.Errorf("%s is waited for: %t, %v", what, got, err)
			}
		}
		waits("nobody", false)
		open := env.Attempt(t, env.Session(t, shop))
		waits("a payer", false)
		env.Exec(t, `UPDATE transactions SET type = 'sdd_rebill' WHERE id = $1`, open.Transaction.ID.String())
		waits("who sends a rebill", true)
		env.Exec(t, `UPDATE transactions SET next_lookup_at = 1 WHERE id = $1`, open.Transaction.ID.String())
		waits("who was silent for too long", false)
	})
}
