package store_test

import (
	"errors"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestWhatIsReleasedWasHeldBack: who releases a payment that waits for nobody hears that there was nothing to release.
func TestWhatIsReleasedWasHeldBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		held := awaitingFile(t, env, shop)
		release := func() error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.ReleaseCollection(shop.ID, held.ID); return nil })
		}
		if err := release(); !errors.Is(err, store.ErrStale) {
			t.Errorf("before it is held: %v", err)
		}
		env.Write(t, func(tx *store.Tx) error { tx.HoldCollection(shop.ID, held.ID); return nil })
		if err := release(); err != nil {
			t.Error(err)
		}
		if err := release(); !errors.Is(err, store.ErrStale) {
			t.Errorf("a second time: %v", err)
		}
	})
}

// TestABankFileIsChangedAsItWasRead: somebody who has not seen what another process has taken into a file, or that it was
// closed, does not write over it.
func TestABankFileIsChangedAsItWasRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		one := awaitingFile(t, env, env.Shop(t))
		empty := bankFile(one)
		full, taking := take(empty, one)
		env.Write(t, taking)
		closeAs := func(read store.BankFile) error {
			closed := read
			closed.State = store.BankFileClosed
			return env.TryWrite(t, func(tx *store.Tx) error { tx.ChangeBankFile(read, closed); return nil })
		}
		if err := closeAs(empty); !errors.Is(err, store.ErrStale) {
			t.Errorf("by who took it for empty: %v", err)
		}
		if err := closeAs(full); err != nil {
			t.Error(err)
		}
		if err := closeAs(full); !errors.Is(err, store.ErrStale) {
			t.Errorf("by who took it for open: %v", err)
		}
	})
}

// TestABankIsResumedAfterEachRestore: that somebody has made sure of what a bank was sent counts for the restore before
// it, and not for a later one.
func TestABankIsResumedAfterEachRestore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		restore := func(to time.Time) { env.Write(t, func(tx *store.Tx) error { tx.MarkRestored(to); return nil }) }
		resume := func(to time.Time) {
			env.Write(t, func(tx *store.Tx) error { tx.ResumeBank(shop.ID, shop.Gateway.ID, to); return nil })
		}
		wantOpen := func(want time.Time) {
			t.Helper()
			if at, err := env.Store.BankRestoredTo(t.Context(), shop.ID, shop.Gateway.ID); err != nil || !at.Equal(want) {
				t.Errorf("somebody has to make sure since %s, want %s: %v", at, want, err)
			}
		}
		first, second := env.Now.Add(-2*time.Hour), env.Now.Add(-time.Hour)
		wantOpen(time.Time{})
		restore(first)
		wantOpen(first)
		resume(first)
		wantOpen(time.Time{})
		restore(second)
		wantOpen(second)
		resume(second)
		wantOpen(time.Time{})
	})
}

// TestLinesThatCouldNotBeKeptAreToldOf: a file counts as read once its lines are kept, so that whoever reads it must hear
// of those that were not, and of those that another has kept before.
func TestLinesThatCouldNotBeKeptAreToldOf(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		statement := store.BankStatement{
			ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Name: "answer.xml", ContentHash: "hash", State: store.BankStatementReading,
		}
		env.Write(t, func(tx *store.Tx) error { tx.PutBankStatement(statement); return nil })
		load := func() error {
			return env.TryWrite(t, func(tx *store.Tx) error {
				return tx.LoadBankLines(statement, []store.BankLine{{Position: 1, Source: "camt.053", Kind: "returned", Result: store.LineUnmatched}})
			})
		}
		env.Exec(t, `ALTER TABLE bank_lines RENAME TO hidden`)
		if err := load(); err == nil || errors.Is(err, store.ErrStale) {
			t.Errorf("where there is no place for them: %v", err)
		}
		env.Exec(t, `ALTER TABLE hidden RENAME TO bank_lines`)
		if err := load(); err != nil {
			t.Error(err)
		}
		if err := load(); !errors.Is(err, store.ErrStale) {
			t.Errorf("a second time: %v", err)
		}
	})
}
