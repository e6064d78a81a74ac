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
		if n := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM audit_entries WHERE action = 'bank_file.update' AND object_id = $1`, full.ID.String()); n != 1 {
			t.Errorf("the audit trail tells %d times that it was closed", n)
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

		wrong := env.Now.Add(time.Hour) // by a clock that was ahead, or mistyped
		restore(wrong)
		resume(wrong)
		wantOpen(time.Time{})
		restore(env.Now)
		wantOpen(env.Now)
		resume(env.Now)
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

// TestAccountsOfATenantAreApart: what is unfinished or open at one is not at the other.
func TestAccountsOfATenantAreApart(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		other := env.Gateway(t, shop.ID).ID
		one := awaitingFile(t, env, shop)
		_, taking := take(bankFile(one), one)
		env.Write(t, taking)
		statement := store.BankStatement{
			ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Name: "answer.xml", ContentHash: "hash", State: store.BankStatementReading,
		}
		env.Write(t, func(tx *store.Tx) error {
			tx.PutBankStatement(statement)
			return tx.LoadBankLines(statement, []store.BankLine{{Position: 1, Source: "camt.053", Kind: "returned", Result: store.LineUnmatched}})
		})
		stranded, takenBack := awaitingFile(t, env, shop), env.Settled(t, shop).Transaction
		env.Exec(t, `UPDATE transactions SET type = 'sdd_refund', refund_of = $1 WHERE id = $2`, takenBack.ID.String(), stranded.ID.String())
		setStatus(t, env, takenBack, payment.TransactionChargedBack)
		for account, want := range map[uuid.UUID]int{shop.Gateway.ID: 1, other: 0} {
			files, err := env.Store.Tenant(shop.ID).UnfinishedBankFiles(t.Context(), account)
			if err != nil || len(files) != want {
				t.Errorf("%d files, want %d: %v", len(files), want, err)
			}
			refunds, err := env.Store.Tenant(shop.ID).StrandedRefunds(t.Context(), account, 10)
			if err != nil || len(refunds) != want {
				t.Errorf("%d refunds, want %d: %v", len(refunds), want, err)
			}
			lines, err := env.Store.Tenant(shop.ID).OpenBankLines(t.Context(), account, uuid.Nil, 10)
			if err != nil || len(lines) != want {
				t.Errorf("%d lines, want %d: %v", len(lines), want, err)
			}
		}
	})
}

// TestARefundThatTheBankHasIsNotStranded: it left after the backup, and finds its place in that file.
func TestARefundThatTheBankHasIsNotStranded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		var ids []uuid.UUID
		for _, hasLeft := range []bool{false, true} {
			refund, takenBack := awaitingFile(t, env, shop), env.Settled(t, shop).Transaction
			env.Exec(t, `UPDATE transactions SET type = 'sdd_refund', refund_of = $1 WHERE id = $2`, takenBack.ID.String(), refund.ID.String())
			setStatus(t, env, takenBack, payment.TransactionChargedBack)
			if hasLeft {
				env.Write(t, func(tx *store.Tx) error {
					tx.AddAdopted(bankFile(refund), []store.Adopted{{EndToEndID: refund.MerchantTransactionID, Position: 1, AmountMinor: refund.AmountMinor}})
					return nil
				})
			}
			ids = append(ids, refund.ID)
		}
		if found, err := env.Store.Tenant(shop.ID).StrandedRefunds(t.Context(), shop.Gateway.ID, 10); err != nil || len(found) != 1 || found[0] != ids[0] {
			t.Errorf("%d are stranded: %v", len(found), err)
		}
	})
}

// TestALaterBatchOfAFileIsTakenAsAWhole: those that are in the file already do not stand for what is held back meanwhile.
func TestALaterBatchOfAFileIsTakenAsAWhole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		one, held := awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		file, taking := take(bankFile(one), one)
		env.Write(t, taking)
		env.Write(t, func(tx *store.Tx) error { tx.HoldCollection(shop.ID, held.ID); return nil })
		full := file
		full.Count++
		err := env.TryWrite(t, func(tx *store.Tx) error {
			return tx.TakeIntoBankFile(file, full, []store.BankFileEntry{{
				TransactionID: held.ID, Position: 2, BlockID: file.MessageID + "-1", DueDate: file.DueDate, SequenceType: "RCUR", EndToEndID: held.MerchantTransactionID,
			}}, map[string]time.Time{file.DueDate: storetest.Start.Add(72 * time.Hour)})
		})
		if !errors.Is(err, store.ErrStale) {
			t.Errorf("gave %v", err)
		}
	})
}
