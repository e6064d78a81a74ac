package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestSilenceTellsOfWhatHasLeft: of what an account's bank has, was not heard of for long enough, and is open.
func TestSilenceTellsOfWhatHasLeft(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		beside, foreign := another(t, env, shop), env.Shop(t)
		silent, second, ended, here, there, theirs := awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop),
			awaitingFile(t, env, shop), awaitingFile(t, env, beside), awaitingFile(t, env, foreign)
		fileWith(t, env, store.BankFileSent, silent, second, ended)
		fileWith(t, env, store.BankFileWritten, here)
		fileWith(t, env, store.BankFileAccepted, there)
		fileWith(t, env, store.BankFileSent, theirs)
		setStatus(t, env, ended, payment.TransactionDeclined)
		at := storetest.Start.Add(72 * time.Hour)
		env.Exec(t, `UPDATE transactions SET settle_due_at = $1 WHERE id = $2`, at.Add(-time.Hour).UnixMicro(), second.ID.String())
		due := func(of storetest.Shop) store.BankDue { return store.BankDue{TenantID: of.ID, GatewayID: of.Gateway.ID} }
		want := func(of storetest.Shop, now time.Time, limit int, ids ...uuid.UUID) {
			t.Helper()
			if got, err := env.Store.SilentDue(t.Context(), due(of), now, limit); err != nil || !slices.Equal(got, ids) {
				t.Errorf("silent are %v, want %v: %v", got, ids, err)
			}
		}
		want(shop, at.Add(-time.Microsecond), 10, second.ID)
		want(shop, at, 10, second.ID, silent.ID)
		want(shop, at, 1, second.ID)
		want(beside, at, 10, there.ID)
		want(foreign, at, 10, theirs.ID)
		mixed := shop
		mixed.Gateway = foreign.Gateway
		want(mixed, at, 10)
		mixed = foreign
		mixed.Gateway = shop.Gateway
		want(mixed, at, 10)
		accounts, err := env.Store.SilentAccounts(t.Context(), at)
		if err != nil || len(accounts) != 3 || !slices.Contains(accounts, due(shop)) || !slices.Contains(accounts, due(beside)) || !slices.Contains(accounts, due(foreign)) {
			t.Errorf("silent is it at %v: %v", accounts, err)
		}
		if accounts, err := env.Store.SilentAccounts(t.Context(), at.Add(-2*time.Hour)); err != nil || len(accounts) != 0 {
			t.Errorf("too early it is at %v: %v", accounts, err)
		}
	})
}

// TestWhatNoLongerWaitsIsNotTaken into a file, though it was read as waiting a moment before.
func TestWhatNoLongerWaitsIsNotTaken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		const asRebill = `UPDATE transactions SET type = 'sdd_rebill' WHERE id = $1`
		const ofIt = ` WHERE id = (SELECT subscription_id FROM transactions WHERE id = $1)`
		for name, meanwhile := range map[string][]string{
			"what was refused":                   {`UPDATE transactions SET status = 'declined' WHERE id = $1`},
			"what is being asked about":          {`UPDATE transactions SET in_flight = 'submit', next_lookup_at = 1 WHERE id = $1`},
			"what has a name from elsewhere":     {`UPDATE transactions SET gateway_reference = 'other' WHERE id = $1`},
			"a rebill that was cancelled":        {asRebill, `UPDATE subscriptions SET status = 'CANCELLED'` + ofIt},
			"a rebill that was paused":           {asRebill, `UPDATE subscriptions SET paused_at = 5` + ofIt},
			"a refund of what was charged back":  {`UPDATE transactions SET type = 'sdd_refund', refund_of = (SELECT id FROM transactions WHERE status = 'charged_back') WHERE id = $1`},
			"nothing: a sale of what was paused": nil,
		} {
			back := env.Settled(t, shop).Transaction
			env.Exec(t, `DELETE FROM chargebacks`)
			env.Exec(t, `UPDATE transactions SET status = 'approved' WHERE status = 'charged_back'`)
			setStatus(t, env, back, payment.TransactionChargedBack)
			of := awaitingFile(t, env, shop, storetest.WithTerms(storetest.Monthly))
			for _, change := range meanwhile {
				env.Exec(t, change, of.ID.String())
			}
			before := env.Dump(t)
			file, taking := take(bankFile(of), of)
			err := env.TryWrite(t, taking)
			if len(meanwhile) == 0 {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				closed := file
				closed.State = store.BankFileClosed
				env.Write(t, func(tx *store.Tx) error { tx.ChangeBankFile(file, closed); return nil })
				continue
			}
			if !errors.Is(err, store.ErrStale) || env.Dump(t) != before {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestWhoWasBlamedCollectsNoRebills: after a bank has blamed the creditor they would all come back.
func TestWhoWasBlamedCollectsNoRebills(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, foreign := env.Shop(t), env.Shop(t)
		beside := another(t, env, shop)
		rebill := func(at storetest.Shop) payment.Transaction {
			of := awaitingFile(t, env, at, storetest.WithTerms(storetest.Monthly))
			env.Exec(t, `UPDATE transactions SET type = 'sdd_rebill' WHERE id = $1`, of.ID.String())
			return of
		}
		stopped, others := rebill(shop), map[string]payment.Transaction{"another account": rebill(beside), "another tenant": rebill(foreign)}
		env.Write(t, func(tx *store.Tx) error {
			tx.PauseRebills(payment.RebillPause{TenantID: shop.ID, GatewayID: shop.Gateway.ID, Reason: payment.PausedByCreditorCode, Since: env.Now})
			return nil
		})
		_, taking := take(bankFile(stopped), stopped)
		if err := env.TryWrite(t, taking); !errors.Is(err, store.ErrStale) {
			t.Errorf("gave %v", err)
		}
		for name, of := range others {
			_, taking := take(bankFile(of), of)
			if err := env.TryWrite(t, taking); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestWhatHasLeftTheHouse and what has its bytes, by the state of a file.
func TestWhatHasLeftTheHouse(t *testing.T) {
	t.Parallel()
	for i, state := range store.BankFileStates {
		if isWritten, left := i >= 2, i >= 4; state.IsWritten() != isWritten || state.Left() != left {
			t.Errorf("%s is written: %v, has left: %v", state, state.IsWritten(), state.Left())
		}
	}
}
