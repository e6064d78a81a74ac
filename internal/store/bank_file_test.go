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

// fileWith takes payments into a file that is in a state then.
func fileWith(t *testing.T, env *storetest.Env, state store.BankFileState, of ...payment.Transaction) store.BankFile {
	t.Helper()
	file, taking := take(bankFile(of[0]), of...)
	env.Write(t, taking)
	in := file
	in.State = state
	env.Write(t, func(tx *store.Tx) error { tx.ChangeBankFile(file, in); return nil })
	return in
}

// another makes a second account of a shop the one that it sells by.
func another(t *testing.T, env *storetest.Env, shop storetest.Shop) storetest.Shop {
	t.Helper()
	shop.Gateway = env.Gateway(t, shop.ID)
	return shop
}

// setStatus changes a payment behind the store's back.
func setStatus(t *testing.T, env *storetest.Env, of payment.Transaction, status payment.TransactionStatus) {
	t.Helper()
	env.Exec(t, `UPDATE transactions SET status = $1 WHERE id = $2`, string(status), of.ID.String())
}

// wantSilence checks when silence about payments means money.
func wantSilence(t *testing.T, env *storetest.Env, what string, of payment.Transaction, want time.Time) {
	t.Helper()
	if got := env.Debit(t, of).Transaction.SettleDueAt; !got.Equal(want) {
		t.Errorf("%s: silence means money from %s on, want %s", what, got, want)
	}
}

// TestSilenceLastsLongerForAFileThatLeftLate: for what is open in it, in no other file, and never shorter than was planned.
func TestSilenceLastsLongerForAFileThatLeftLate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		open, refused, elsewhere := awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		late := fileWith(t, env, store.BankFileSent, open, refused)
		fileWith(t, env, store.BankFileSent, elsewhere)
		setStatus(t, env, refused, payment.TransactionDeclined)
		planned, longer := storetest.Start.Add(72*time.Hour), storetest.Start.Add(96*time.Hour)
		wait := func(f store.BankFile, until time.Time) {
			if err := env.Store.WaitLonger(t.Context(), env.Now, f, until); err != nil {
				t.Fatal(err)
			}
		}
		foreign := late
		foreign.TenantID = env.Shop(t).ID
		wait(foreign, longer)
		wait(late, planned.Add(-time.Hour))
		wantSilence(t, env, "by another tenant, or an earlier end", open, planned)
		wait(late, longer)
		wantSilence(t, env, "what is open in it", open, longer)
		wantSilence(t, env, "what was refused", refused, planned)
		wantSilence(t, env, "what is in another file", elsewhere, planned)
	})
}

// TestAFileIsSettledOnceNothingInItIsOpen, if it has left the house and was not refused.
func TestAFileIsSettledOnceNothingInItIsOpen(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		beside, foreign := another(t, env, shop), env.Shop(t)
		file := func(at storetest.Shop, state store.BankFileState, status ...payment.TransactionStatus) store.BankFile {
			var of []payment.Transaction
			for range status {
				of = append(of, awaitingFile(t, env, at))
			}
			made := fileWith(t, env, state, of...)
			for i, s := range status {
				setStatus(t, env, of[i], s)
			}
			return made
		}
		const done, open = payment.TransactionApproved, payment.TransactionPending
		wants := map[uuid.UUID]store.BankFileState{
			file(shop, store.BankFileSent, done, payment.TransactionDeclined).ID: store.BankFileSettled,
			file(shop, store.BankFileAccepted, done).ID:                          store.BankFileSettled,
			file(shop, store.BankFilePartlyRejected, done).ID:                    store.BankFileSettled,
			file(shop, store.BankFileSent, done, open).ID:                        store.BankFileSent,
			file(shop, store.BankFileRejected, done).ID:                          store.BankFileRejected,
			file(shop, store.BankFileWritten, done).ID:                           store.BankFileWritten,
			file(beside, store.BankFileSent, done).ID:                            store.BankFileSent,
			file(foreign, store.BankFileSent, done).ID:                           store.BankFileSent,
		}
		settle := func(tenantID, gatewayID uuid.UUID) {
			if err := env.Store.SettleBankFiles(t.Context(), env.Now, tenantID, gatewayID); err != nil {
				t.Fatal(err)
			}
		}
		settle(foreign.ID, shop.Gateway.ID)
		settle(shop.ID, foreign.Gateway.ID)
		if n := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM bank_files WHERE state = 'settled'`); n != 0 {
			t.Errorf("%d files are settled for whom they are not", n)
		}
		settle(shop.ID, shop.Gateway.ID)
		for id, want := range wants {
			if got := storetest.Scalar[string](t, env, `SELECT state FROM bank_files WHERE id = $1`, id.String()); got != string(want) {
				t.Errorf("a file is %s, want %s", got, want)
			}
		}
	})
}

// TestWhatIsDueTooEarlyIsPostponedWithItsFile, and what is due later keeps its day, as does what another file holds.
func TestWhatIsDueTooEarlyIsPostponedWithItsFile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		early, later, elsewhere := awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		file := fileWith(t, env, store.BankFileClosed, early, later)
		fileWith(t, env, store.BankFileClosed, elsewhere)
		env.Exec(t, `UPDATE bank_file_entries SET due_date = '2026-11-25' WHERE transaction_id = $1`, later.ID.String())
		postponed := file
		postponed.DueDate = "2026-11-20"
		until := storetest.Start.Add(96 * time.Hour)
		stale := file
		stale.Count--
		if err := env.Store.PostponeBankFile(t.Context(), env.Now, stale, postponed, until); !errors.Is(err, store.ErrStale) {
			t.Errorf("by who has not seen what is in it: %v", err)
		}
		if entry, err := env.Store.Tenant(shop.ID).BankEntry(t.Context(), early.ID); err != nil || entry.DueDate == postponed.DueDate {
			t.Errorf("it is due on %s: %v", entry.DueDate, err)
		}
		if err := env.Store.PostponeBankFile(t.Context(), env.Now, file, postponed, until); err != nil {
			t.Fatal(err)
		}
		for day, of := range map[string]payment.Transaction{"2026-11-20": early, "2026-11-25": later, file.DueDate: elsewhere} {
			if entry, err := env.Store.Tenant(shop.ID).BankEntry(t.Context(), of.ID); err != nil || entry.DueDate != day {
				t.Errorf("it is due on %s, want %s: %v", entry.DueDate, day, err)
			}
		}
		wantSilence(t, env, "what is in it", early, until)
		if read, err := env.Store.Tenant(shop.ID).BankFile(t.Context(), file.ID); err != nil || read.DueDate != "2026-11-20" {
			t.Errorf("the file is due on %s: %v", read.DueDate, err)
		}
	})
}

// TestWhatCannotBeWrittenWaitsAgain, and the file holds one less.
func TestWhatCannotBeWrittenWaitsAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		one, kept, ended := awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		file := fileWith(t, env, store.BankFileClosed, one, kept, ended)
		setStatus(t, env, ended, payment.TransactionDeclined)
		env.Now = env.Now.Add(time.Hour)
		release := func(of payment.Transaction) error {
			before := file
			file.Count, file.SumMinor = file.Count-1, file.SumMinor-of.AmountMinor
			return env.TryWrite(t, func(tx *store.Tx) error { tx.ReleaseFromBankFile(before, file, of.ID); return nil })
		}
		if err := errors.Join(release(one), release(ended)); err != nil {
			t.Fatal(err)
		}
		entries, err := env.Store.Tenant(shop.ID).BankFileEntries(t.Context(), file.ID, 0, 10)
		if err != nil || len(entries) != 1 || entries[0].TransactionID != kept.ID {
			t.Errorf("%d are in it: %v", len(entries), err)
		}
		for what, c := range map[string]struct {
			of    payment.Transaction
			waits bool
		}{"what was taken out": {one, true}, "what is still in it": {kept, false}, "what was refused meanwhile": {ended, false}} {
			now := env.Debit(t, c.of).Transaction
			if waits := now.GatewayReference == "" && now.SettleDueAt.Equal(env.Now); waits != c.waits {
				t.Errorf("%s waits: %v", what, waits)
			}
		}
		waiting, err := env.Store.Tenant(shop.ID).Collectibles(t.Context(), shop.Gateway.ID, store.BankDebits, store.CollectibleUntil{TakenAt: env.Now}, uuid.Nil, 10)
		if err != nil || len(waiting) != 1 || waiting[0].TransactionID != one.ID {
			t.Errorf("%d wait: %v", len(waiting), err)
		}
	})
}

// TestOneTryAtAFilesBytesHolds: what others have left goes, of this file alone.
func TestOneTryAtAFilesBytesHolds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		file, other := fileWith(t, env, store.BankFileClosed, awaitingFile(t, env, shop)), fileWith(t, env, store.BankFileClosed, awaitingFile(t, env, shop))
		drafts := []string{"first", "second", "third"}
		of := func(f store.BankFile, draft string) store.BankFile { f.Draft = draft; return f }
		env.Write(t, func(tx *store.Tx) error {
			for _, draft := range drafts {
				tx.AddBankPart(of(file, draft), 1, "one of "+draft)
				tx.AddBankPart(of(file, draft), 2, "two of "+draft)
				tx.AddBankPart(of(other, draft), 1, "other of "+draft)
			}
			return nil
		})
		want := func(parts ...string) {
			t.Helper()
			var got []string
			for _, draft := range drafts {
				for _, f := range []store.BankFile{file, other} {
					for number := range 2 {
						sealed, err := env.Store.Tenant(shop.ID).BankPart(t.Context(), of(f, draft), number+1)
						if err != nil {
							t.Fatal(err)
						}
						if sealed != "" {
							got = append(got, sealed)
						}
					}
				}
			}
			if !slices.Equal(got, parts) {
				t.Errorf("kept is %v, want %v", got, parts)
			}
		}
		foreign := of(file, "third")
		foreign.TenantID = env.Shop(t).ID
		env.Write(t, func(tx *store.Tx) error {
			tx.DropBankDraft(foreign, "first")
			tx.KeepBankDraft(foreign)
			tx.DropBankDraft(file, "first")
			return nil
		})
		want("other of first", "one of second", "two of second", "other of second", "one of third", "two of third", "other of third")
		env.Write(t, func(tx *store.Tx) error { tx.KeepBankDraft(of(file, "third")); return nil })
		want("other of first", "other of second", "one of third", "two of third", "other of third")
	})
}

// TestHowEachWasPresented: a bank is told by its own account of which collection it is asked.
func TestHowEachWasPresented(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		one, two := awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		env.Exec(t, `UPDATE transactions SET iban_sealed = id`)
		fileWith(t, env, store.BankFileSent, one, two)
		for _, of := range []payment.Transaction{one, two} {
			rows, err := env.Store.Tenant(shop.ID).Presented(t.Context(), []uuid.UUID{of.ID})
			if err != nil || len(rows) != 1 || rows[0].TransactionID != of.ID || rows[0].SealedIBAN != of.ID.String() {
				t.Errorf("of one of two: %+v, %v", rows, err)
			}
		}
	})
}
