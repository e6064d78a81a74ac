package banking_test

import (
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// TestLostRefundsAmongMany: the payments of a night were given back after the backup, and most of them are lost themselves. Each
// refund whose payment is known finds it.
func TestLostRefundsAmongMany(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const known, many = 20, 400
		b := setup(t, s)
		id := b.pay(t, apptest.Approved)
		b.cutOff(t)
		b.Advance(t, 20*24*time.Hour)
		file := store.BankFile{
			ID: payment.NewID(), TenantID: b.account.Setup.Tenant.ID, GatewayID: b.account.ID, Kind: store.BankTransfers,
			MessageID: "SD-LOST", State: store.BankFileSent, Name: "lost.xml", Draft: "adopted", DueDate: "2026-01-02",
		}
		paid, lost := make([]payment.Transaction, many), make([]store.Adopted, many)
		one := b.statusOf(t, id)
		for i := range many {
			paid[i] = one
			paid[i].ID, paid[i].MerchantTransactionID, paid[i].SessionID = payment.NewID(), payment.NewMerchantTransactionID(b.Now(t)), nil
			name := payment.RefundReference(paid[i], 10_00, 0)
			lost[i] = store.Adopted{EndToEndID: name, Position: i + 1, BlockID: "SD-LOST-1", DueDate: file.DueDate, AmountMinor: 10_00}
		}
		b.Env.InsertTransactions(t, paid[:known])
		b.Env.Exec(t, `UPDATE deployment SET banks_restored_to = $1`, b.Now(t).UnixMicro())
		b.Env.Write(t, func(tx *store.Tx) error {
			tx.AddAdopted(file, lost)
			tx.AdoptBankFile(file)
			return nil
		})
		_, err := b.App.Banking.Resume(t.Context(), b.account)
		must(t, err)
		if left := b.Env.Count(t, "bank_adopted"); left != many-known {
			t.Errorf("%d refunds have no place, want %d", left, many-known)
		}
		if entries := b.Env.Count(t, "bank_file_entries"); entries != known+1 {
			t.Errorf("%d payments are in files, want %d", entries, known+1)
		}
	})
}

// TestManyResumeAnAccountAtOnce: the service takes in what lies in the bank's folder while people let the account go on.
func TestManyResumeAnAccountAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const payments, people, rounds = 30, 6, 4
		b := setup(t, s)
		for range payments {
			b.pay(t, apptest.Approved)
		}
		b.cutOff(t)
		for range rounds {
			b.restore(t)
			failed := make(chan error, people)
			for range people {
				go func() {
					_, err := b.App.Banking.Resume(t.Context(), b.account)
					failed <- err
				}()
			}
			for range people {
				must(t, <-failed)
			}
			if entries := b.Env.Count(t, "bank_file_entries"); entries != payments {
				t.Errorf("%d payments are in files, want %d", entries, payments)
			}
			b.Env.Exec(t, `DELETE FROM bank_resumptions`)
		}
	})
}
