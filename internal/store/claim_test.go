package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func isConflict(err error) bool { return payment.KindOf(err) == payment.Conflict }

func TestClaim(t *testing.T) {
	t.Parallel()

	t.Run("every field of an attempt, its order and its session comes back", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, testClaimRoundTrip)
	})

	t.Run("of many claims at once exactly one wins", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			found := env.Session(t, env.Shop(t))
			second := env.Reopen(t)
			attempts := make([]payment.Change, 12)
			for i := range attempts {
				attempts[i] = env.Begin(t, found)
			}
			wins := race(t, len(attempts), func(i int) error {
				err := []*store.Store{env.Store, second}[i%2].Write(t.Context(), env.Now, func(tx *store.Tx) error {
					tx.ClaimAttempt(attempts[i], "sealed")
					return nil
				})
				// Who is refused can see at once what for.
				if err != nil && !env.Find(t, found.Session.Token).Session.InFlight() {
					t.Error("a claim was refused before the one that it lost to could be read")
				}
				return err
			}, isConflict)
			if wins != 1 || env.Count(t, "transactions") != 1 || env.Count(t, "orders") != 1 {
				t.Errorf("%d claims won, %d transactions and %d orders are there", wins, env.Count(t, "transactions"), env.Count(t, "orders"))
			}
			if session := env.Find(t, found.Session.Token).Session; session.AttemptsUsed != 1 || !session.InFlight() {
				t.Errorf("the session has used %d attempts, in flight: %v", session.AttemptsUsed, session.InFlight())
			}
		})
	})

	t.Run("a second attempt keeps the order", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			found := env.Session(t, env.Shop(t))
			first := env.Settle(t, env.Attempt(t, found), declined)
			env.Now = env.Now.Add(time.Minute)
			second := env.Attempt(t, env.Find(t, found.Session.Token))
			stored := env.Debit(t, second.Transaction)
			storetest.Equal(t, stored, second)
			if stored.Order.ID != first.Order.ID || stored.Order.Status != payment.OrderSubmitting || stored.Transaction.Attempt.Number != 2 {
				t.Errorf("the order is %s, the attempt's number %d", stored.Order.Status, stored.Transaction.Attempt.Number)
			}
		})
	})
}

func TestClaimIsRefused(t *testing.T) {
	t.Parallel()

	t.Run("a session that was paid by another attempt meanwhile cannot be claimed", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			found := env.Session(t, env.Shop(t))
			late := env.Begin(t, found)
			env.Settle(t, env.Attempt(t, found), declined)
			wantRefusedClaim(t, env, late, isConflict)
			env.Settle(t, env.Attempt(t, env.Find(t, found.Session.Token)), approved)
			wantRefusedClaim(t, env, late, isConflict)
		})
	})

	t.Run("a session whose time has run out cannot be claimed", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			late := env.Begin(t, env.Session(t, env.Shop(t), storetest.ExpiresIn(time.Hour)))
			env.Now = env.Now.Add(time.Hour)
			wantRefusedClaim(t, env, late, isConflict)
		})
	})

	t.Run("a session of another tenant cannot be claimed", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			foreign := env.Begin(t, env.Session(t, env.Shop(t)))
			foreign.Session.TenantID = env.Tenant(t).ID
			foreign.Transaction.TenantID = foreign.Session.TenantID
			wantRefusedClaim(t, env, foreign, isConflict)
		})
	})
}

func testClaimRoundTrip(t *testing.T, env *storetest.Env) {
	found := env.Session(t, env.Shop(t), storetest.WithTerms(storetest.PaidTrial))
	claimed := env.Attempt(t, found, storetest.WithReference("order 4711 / ü"), func(s *payment.Submission) {
		s.Source = payment.SourceHostedPage
	})
	storetest.Equal(t, env.Debit(t, claimed.Transaction), claimed)
	storetest.Equal(t, env.Find(t, found.Session.Token).Session, *claimed.Session)

	order, err := env.Store.Tenant(found.Session.TenantID).OrderOf(t.Context(), found.Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Equal(t, order, claimed.Order)

	sealed := storetest.Scalar[string](t, env, "SELECT iban_sealed FROM transactions")
	iban, err := env.Vault.Open(sealed, store.BindIBAN(found.Session.TenantID, found.Session.MandateReference))
	if err != nil || string(iban) != storetest.IBAN {
		t.Errorf("the sealed account cannot be opened: %v", err)
	}
}

func wantRefusedClaim(t *testing.T, env *storetest.Env, p payment.Change, expected func(error) bool) {
	t.Helper()
	before := env.Dump(t)
	if err := env.Claim(t, p); err == nil || !expected(err) {
		t.Errorf("got %v", err)
	}
	if env.Dump(t) != before {
		t.Error("the refused claim has changed something")
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()

	t.Run("a merchant's reference that is taken refuses the claim and leaves the session untouched", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			env.Settle(t, env.Attempt(t, env.Session(t, shop), storetest.WithReference("order 1")), declined)
			found := env.Session(t, shop)
			again := env.Begin(t, found, storetest.WithReference("order 1"))
			wantRefusedClaim(t, env, again, func(err error) bool { return errors.Is(store.Refused(err), payment.ErrReferenceInUse) })
			env.Attempt(t, found, storetest.WithReference("order 2"))
		})
	})

	t.Run("of many sessions at once one gets the reference", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			attempts := make([]payment.Change, 8)
			for i := range attempts {
				attempts[i] = env.Begin(t, env.Session(t, shop), storetest.WithReference("order 1"))
			}
			wins := race(t, len(attempts), func(i int) error { return store.Refused(env.Claim(t, attempts[i])) },
				func(err error) bool { return errors.Is(err, payment.ErrReferenceInUse) })
			if wins != 1 || env.Count(t, "transactions") != 1 {
				t.Errorf("%d claims won", wins)
			}
		})
	})

	t.Run("the same reference in another tenant is fine", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			env.Attempt(t, env.Session(t, env.Shop(t)), storetest.WithReference("order 1"))
			env.Attempt(t, env.Session(t, env.Shop(t)), storetest.WithReference("order 1"))
		})
	})

	t.Run("a reference of ours that is taken is told apart and leaves nothing behind", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			shop := env.Shop(t)
			taken := env.Attempt(t, env.Session(t, shop))
			found := env.Session(t, shop)
			sameOrder, sameTransaction := env.Begin(t, found), env.Begin(t, found)
			sameOrder.Order.Number = taken.Order.Number
			sameTransaction.Transaction.MerchantTransactionID = taken.Transaction.MerchantTransactionID
			wantRefusedClaim(t, env, sameOrder, store.IsReferenceCollision)
			wantRefusedClaim(t, env, sameTransaction, store.IsReferenceCollision)
		})
	})
}

func TestReopen(t *testing.T) {
	t.Parallel()

	t.Run("of many verifications at once exactly one is asked", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			awaiting := env.Awaiting(t, env.Shop(t))
			env.Now = env.Now.Add(time.Minute)
			opened, err := awaiting.BeginVerify(env.Now)
			if err != nil {
				t.Fatal(err)
			}
			opened.Transaction.Attempt.Silence = 35 * time.Second
			wins := race(t, 8, func(int) error { return reopen(t, env, opened) }, isConflict)
			if wins != 1 {
				t.Errorf("%d verifications won", wins)
			}
			env.Written(&opened.Transaction.Attempt)
			storetest.Equal(t, env.Debit(t, opened.Transaction), opened)
		})
	})

	t.Run("a session that does not await verification is not reopened", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			settled := env.Settled(t, env.Shop(t)).Debit
			settled.Transaction.Attempt.Phase = payment.PhaseVerify
			before := env.Dump(t)
			if err := reopen(t, env, settled); !isConflict(err) {
				t.Errorf("got %v", err)
			}
			if env.Dump(t) != before {
				t.Error("the refused claim has changed something")
			}
		})
	})

	t.Run("only the latest attempt is reopened", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			awaiting := env.Awaiting(t, env.Shop(t))
			opened, err := awaiting.BeginVerify(env.Now)
			if err != nil {
				t.Fatal(err)
			}
			opened.Transaction.ID = uuid.New()
			if err := reopen(t, env, opened); !isConflict(err) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func reopen(t *testing.T, env *storetest.Env, p payment.Debit) error {
	t.Helper()
	return env.TryWrite(t, func(tx *store.Tx) error {
		tx.Reopen(p)
		return nil
	})
}
