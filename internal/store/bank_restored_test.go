package store_test

import (
	"errors"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// lostFile records a file that left after the backup, with what its bytes say of payments.
func lostFile(t *testing.T, env *storetest.Env, shop storetest.Shop, of ...payment.Transaction) store.BankFile {
	t.Helper()
	file := store.BankFile{
		ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Kind: store.BankDebits, MessageID: "SD-LOST",
		Name: "lost.xml", Format: "pain.008.001.08", State: store.BankFileSettled, Draft: "lost",
	}
	adopted := []store.Adopted{{EndToEndID: "TXN-20260101-GONE", Position: 1, BlockID: "SD-LOST-1", DueDate: "2026-04-02", SequenceType: "RCUR", AmountMinor: 1}}
	for i, x := range of {
		adopted = append(adopted, store.Adopted{
			EndToEndID: x.MerchantTransactionID, Position: i + 2, BlockID: "SD-LOST-1", DueDate: "2026-04-02", SequenceType: "RCUR", AmountMinor: x.AmountMinor,
		})
	}
	env.Write(t, func(tx *store.Tx) error {
		tx.AdoptBankFile(file)
		tx.AddAdoptedPart(file, 1, "sealed")
		tx.AddAdoptedPart(file, 1, "once more")
		tx.AddAdopted(file, adopted)
		tx.AddAdopted(file, adopted)
		return nil
	})
	return file
}

func wantAdopted(t *testing.T, env *storetest.Env, shop storetest.Shop, want int) {
	t.Helper()
	if got, err := env.Store.Tenant(shop.ID).CountAdopted(t.Context(), shop.Gateway.ID); err != nil || got != want {
		t.Errorf("%d have no transaction yet, want %d: %v", got, want, err)
	}
}

// TestWhatLeftAfterABackupIsInItsFileAgain: what waits for a file and is in one already, as the bank has it, of this account
// and no other.
func TestWhatLeftAfterABackupIsInItsFileAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, foreign := env.Shop(t), env.Shop(t)
		beside := another(t, env, shop)
		fits, held, dearer, refused, there, twin := awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop),
			awaitingFile(t, env, shop), awaitingFile(t, env, beside), awaitingFile(t, env, foreign)
		env.Exec(t, `UPDATE transactions SET merchant_transaction_id = $1 WHERE id = $2`, fits.MerchantTransactionID, twin.ID.String())
		twin.MerchantTransactionID = fits.MerchantTransactionID
		bystander := fileWith(t, env, store.BankFileSettled, awaitingFile(t, env, shop))
		file, theirs := lostFile(t, env, shop, fits, held, dearer, refused, there), lostFile(t, env, foreign, twin)
		env.Write(t, func(tx *store.Tx) error { tx.HoldCollection(shop.ID, held.ID); return nil })
		env.Exec(t, `UPDATE transactions SET amount_minor = amount_minor + 1 WHERE id = $1`, dearer.ID.String())
		setStatus(t, env, refused, payment.TransactionDeclined)

		env.Now = env.Now.Add(time.Hour)
		until := env.Now.Add(72 * time.Hour)
		assign := func() {
			env.Write(t, func(tx *store.Tx) error {
				tx.AssignAdopted(shop.ID, foreign.Gateway.ID, until)
				tx.AssignAdopted(shop.ID, shop.Gateway.ID, until)
				return nil
			})
		}
		assign()
		wantAdopted(t, env, shop, 4) // what is gone, dearer, refused or another account's
		wantAdopted(t, env, foreign, 2)
		for name, of := range map[string]payment.Transaction{"SD-LOST-2": fits, "SD-LOST-3": held} {
			now := env.Debit(t, of).Transaction
			entry, err := env.Store.Tenant(shop.ID).BankEntry(t.Context(), of.ID)
			if err != nil || now.GatewayReference != name || !now.SettleDueAt.Equal(until) || entry.EndToEndID != of.MerchantTransactionID {
				t.Errorf("%s is called %q and silent until %s: %v", name, now.GatewayReference, now.SettleDueAt, err)
			}
		}
		for name, of := range map[string]payment.Transaction{"dearer": dearer, "refused": refused, "at another account": there, "another tenant's": twin} {
			if now := env.Debit(t, of).Transaction; now.GatewayReference != "" || now.SettleDueAt.Equal(until) {
				t.Errorf("what is %s is called %q", name, now.GatewayReference)
			}
		}
		if held, err := env.Store.Tenant(shop.ID).HeldCollections(t.Context(), shop.Gateway.ID); err != nil || len(held) != 0 {
			t.Errorf("%d are held back that the bank has: %v", len(held), err)
		}
		wantFile(t, env, file, store.BankFileSent, 2, fits.AmountMinor+held.AmountMinor)
		wantFile(t, env, theirs, store.BankFileSettled, 0, 0)
		wantFile(t, env, bystander, store.BankFileSettled, 1, bystander.SumMinor)
		before := env.Dump(t)
		if assign(); env.Dump(t) != before {
			t.Error("a second time changes something")
		}
		for _, stay := range []bool{true, false} { // until what the bank has said of them was read
			if has, err := env.Store.Tenant(shop.ID).HasAssigned(t.Context(), shop.Gateway.ID); err != nil || has != stay {
				t.Errorf("some have their place: %v, want %v: %v", has, stay, err)
			}
			env.Write(t, func(tx *store.Tx) error { tx.ForgetAssigned(shop.ID, shop.Gateway.ID); return nil })
			wantAdopted(t, env, shop, 4)
		}
	})
}

func wantFile(t *testing.T, env *storetest.Env, of store.BankFile, state store.BankFileState, count int, sum payment.Minor) {
	t.Helper()
	read, err := env.Store.Tenant(of.TenantID).BankFile(t.Context(), of.ID)
	if err != nil || read.State != state || read.Count != count || read.SumMinor != sum {
		t.Errorf("the file is %s with %d of %s, want %s with %d of %s: %v", read.State, read.Count, read.SumMinor, state, count, sum, err)
	}
}

// TestALostFileIsRecordedOnce, with its bytes as they were taken in first.
func TestALostFileIsRecordedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		file := lostFile(t, env, shop)
		wantAdopted(t, env, shop, 1)
		again := file
		again.ID = payment.NewID()
		err := env.TryWrite(t, func(tx *store.Tx) error { tx.AdoptBankFile(again); return nil })
		if !store.AdoptedByAnother(err) || store.AdoptedByAnother(store.ErrStale) {
			t.Errorf("a second time: %v", err)
		}
		read, err := env.Store.Tenant(shop.ID).BankFile(t.Context(), file.ID)
		if err != nil || !read.CreatedAt.Equal(env.Now) || !read.UpdatedAt.Equal(env.Now) {
			t.Errorf("it is of %s: %v", read.CreatedAt, err)
		}
		if sealed, err := env.Store.Tenant(shop.ID).BankPart(t.Context(), file, 1); err != nil || sealed != "sealed" {
			t.Errorf("its bytes are %q: %v", sealed, err)
		}
		deed := storetest.Scalar[string](t, env, `SELECT object_id FROM audit_entries WHERE action = 'bank_file.adopt'`)
		if tenant := storetest.Scalar[string](t, env, `SELECT CAST(tenant_id AS TEXT) FROM audit_entries WHERE action = 'bank_file.adopt'`); deed != file.ID.String() || tenant != shop.ID.String() {
			t.Errorf("the audit trail names the file %s of %s", deed, tenant)
		}
	})
}

// TestAFileThatWasNotFinishedIsForgotten: what was in it waits again, and what others hold stays.
func TestAFileThatWasNotFinishedIsForgotten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		one, ended, kept := awaitingFile(t, env, shop), awaitingFile(t, env, shop), awaitingFile(t, env, shop)
		other := fileWith(t, env, store.BankFileClosed, kept)
		file := fileWith(t, env, store.BankFileClosed, one, ended)
		setStatus(t, env, ended, payment.TransactionDeclined)
		env.Write(t, func(tx *store.Tx) error {
			tx.AddBankPart(file, 1, "sealed")
			tx.AddBankPart(other, 1, "sealed")
			return nil
		})
		forget := func(f store.BankFile) error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.ForgetBankFile(f); return nil })
		}
		foreign := file
		foreign.TenantID = env.Shop(t).ID
		before := env.Dump(t)
		if err := forget(foreign); !errors.Is(err, store.ErrStale) || env.Dump(t) != before {
			t.Errorf("by another tenant: %v", err)
		}
		env.Exec(t, `UPDATE bank_files SET state = 'sent' WHERE id = $1`, file.ID.String())
		before = env.Dump(t)
		if err := forget(file); !errors.Is(err, store.ErrStale) || env.Dump(t) != before {
			t.Errorf("once it has left: %v", err)
		}
		env.Exec(t, `UPDATE bank_files SET state = 'open' WHERE id = $1`, file.ID.String())
		env.Now = env.Now.Add(time.Minute)
		if err := forget(file); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			of    payment.Transaction
			waits bool
		}{"what was in it": {one, true}, "what was refused": {ended, false}, "what another file holds": {kept, false}} {
			now := env.Debit(t, c.of).Transaction
			if waits := now.GatewayReference == "" && now.SettleDueAt.Equal(env.Now); waits != c.waits {
				t.Errorf("%s waits: %v", name, waits)
			}
		}
		wantFile(t, env, other, store.BankFileClosed, 1, kept.AmountMinor)
		if files, entries, parts := env.Count(t, "bank_files"), env.Count(t, "bank_file_entries"), env.Count(t, "bank_file_parts"); files != 1 || entries != 1 || parts != 1 {
			t.Errorf("kept are %d files with %d payments and %d parts", files, entries, parts)
		}
		deed := storetest.Scalar[string](t, env, `SELECT object_id FROM audit_entries WHERE action = 'bank_file.forget'`)
		if deed != file.ID.String() {
			t.Errorf("the audit trail names the file %s", deed)
		}
	})
}

// TestARebillIsCalledAsTheBankHasIt, while it waits and nothing else is called so.
func TestARebillIsCalledAsTheBankHasIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, foreign := env.Shop(t), env.Shop(t)
		taken := awaitingFile(t, env, shop).MerchantTransactionID
		theirs := awaitingFile(t, env, foreign).MerchantTransactionID
		for name, c := range map[string]struct {
			tenant   storetest.Shop
			to, sql  string
			asOld    bool
			isCalled bool
		}{
			"one that waits":                      {tenant: shop, to: "TXN-20260401-NEW", isCalled: true},
			"as another tenant's is":              {tenant: shop, to: theirs, isCalled: true},
			"as another one is":                   {tenant: shop, to: taken},
			"of another tenant":                   {tenant: foreign, to: "TXN-20260401-FOREIGN"},
			"that is called otherwise by now":     {tenant: shop, to: "TXN-20260401-LATE", asOld: true},
			"that was refused":                    {tenant: shop, to: "TXN-20260401-REFUSED", sql: `status = 'declined'`},
			"that is in a file":                   {tenant: shop, to: "TXN-20260401-FILE", sql: `gateway_reference = 'SD-1-1'`},
			"of which the outcome is being asked": {tenant: shop, to: "TXN-20260401-OPEN", sql: `in_flight = 'submit', next_lookup_at = 1`},
		} {
			of := awaitingFile(t, env, shop)
			if c.sql != "" {
				env.Exec(t, `UPDATE transactions SET `+c.sql+` WHERE id = $1`, of.ID.String())
			}
			rebill := store.WaitingRebill{TransactionID: of.ID, Reference: of.MerchantTransactionID}
			if c.asOld {
				rebill.Reference = "TXN-20260401-BEFORE"
			}
			env.Write(t, func(tx *store.Tx) error { tx.RenameRebill(c.tenant.ID, rebill, c.to); return nil })
			if now := env.Debit(t, of).Transaction.MerchantTransactionID; (now == c.to) != c.isCalled {
				t.Errorf("one %s is called %s", name, now)
			}
		}
	})
}
