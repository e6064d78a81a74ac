package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// mailOf is a mail about a transaction.
func mailOf(x payment.Transaction, key string) store.Mail {
	return store.Mail{
		ID: payment.NewID(), TenantID: x.TenantID, Key: key, Kind: store.MailAnnounced, TransactionID: x.ID,
		Plan: payment.Plan{DueDate: payment.DateOf(storetest.Start), CreditorName: "Shop GmbH", CreditorIdentifier: "DE98ZZZ09999999999"},
	}
}

// mailReads are those about a mail.
func mailReads(t *testing.T, env *storetest.Env, of payment.Transaction) map[string]func(context.Context, store.Tenant) int {
	t.Helper()
	mail := mailOf(of, "one")
	env.Write(t, func(tx *store.Tx) error { tx.AddMail(mail, of, false); return nil })
	return map[string]func(context.Context, store.Tenant) int{
		"Mail": func(ctx context.Context, scope store.Tenant) int {
			_, err := scope.Mail(ctx, mail.ID)
			return found(true, err)
		},
		"Letter": func(ctx context.Context, scope store.Tenant) int {
			letter, err := scope.Letter(ctx, mail)
			return found(letter.Transaction.ID == of.ID, err)
		},
	}
}

func TestMailsInLine(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		of := env.Settled(t, shop).Transaction
		claim := func(want int) (claimed []store.Mail) {
			t.Helper()
			claimed, err := env.Store.ClaimMails(t.Context(), env.Now, time.Minute, 10)
			if err != nil || len(claimed) != want {
				t.Fatalf("%d were claimed, want %d: %v", len(claimed), want, err)
			}
			return claimed
		}
		mail := mailOf(of, "one")
		env.Write(t, func(tx *store.Tx) error { tx.AddMail(mail, of, false); return nil })
		t.Run("the same is not put into line twice", func(t *testing.T) {
			again := mailOf(of, "one")
			if err := env.TryWrite(t, func(tx *store.Tx) error { tx.AddMail(again, of, false); return nil }); !store.IsDuplicate(err) {
				t.Errorf("gave %v", err)
			}
		})
		t.Run("one that is only for changes is left out where nothing has changed", func(t *testing.T) {
			later := of
			later.ID = payment.NewID()
			env.Write(t, func(tx *store.Tx) error { tx.AddTransaction(renamed(later), nil); return nil })
			env.Write(t, func(tx *store.Tx) error { tx.AddMail(mailOf(later, "two"), later, true); return nil })
			if env.Count(t, "mails") != 1 {
				t.Error("it is in line")
			}
			later.AmountMinor++
			env.Write(t, func(tx *store.Tx) error { tx.AddMail(mailOf(later, "two"), later, true); return nil })
			if env.Count(t, "mails") != 2 {
				t.Error("another amount is not told")
			}
			env.Exec(t, `DELETE FROM mails WHERE mail_key = 'two'`)
		})
		t.Run("it is claimed once, and again when its sender has died", func(t *testing.T) {
			claim(1)
			claim(0)
			env.Exec(t, `UPDATE mails SET leased_until = 1`)
			if one := claim(1)[0]; one.UnknownCount != 1 || one.AttemptCount != 2 {
				t.Errorf("it was tried %d times, %d of them unknown", one.AttemptCount, one.UnknownCount)
			}
		})
		t.Run("what is recorded ends the lease", func(t *testing.T) {
			mail.Status, mail.FailureCount, mail.Result = store.MailPending, 1, "451"
			env.Write(t, func(tx *store.Tx) error { tx.RecordMail(mail, 0); return nil })
			claim(1)
			late := mail // of a sender whose lease was over
			mail.Status, mail.Result = store.MailSent, ""
			env.Write(t, func(tx *store.Tx) error { tx.RecordMail(mail, time.Hour); return nil })
			env.Write(t, func(tx *store.Tx) error { tx.RecordMail(late, 0); return nil })
			claim(0)
			if counts, err := env.Store.CountMails(t.Context()); err != nil || counts.Pending != 0 || counts.Failed != 0 {
				t.Errorf("%+v, %v", counts, err)
			}
		})
		t.Run("one that was sent is sent again by hand, and forgotten later", func(t *testing.T) {
			env.Write(t, func(tx *store.Tx) error { tx.ResendMail(shop.ID, mail.ID); return nil })
			forgetMails(t, env)
			claim(1)
			env.Write(t, func(tx *store.Tx) error { tx.RecordMail(mail, 0); return nil })
			forgetMails(t, env)
			if env.Count(t, "mails") != 0 {
				t.Error("it is still kept")
			}
		})
	})
}

// TestAMailIsResentByItsTenant, and by no other.
func TestAMailIsResentByItsTenant(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		of := env.Settled(t, shop).Transaction
		mail := mailOf(of, "one")
		env.Write(t, func(tx *store.Tx) error { tx.AddMail(mail, of, false); return nil })
		resend := func(tenantID uuid.UUID) error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.ResendMail(tenantID, mail.ID); return nil })
		}
		if err := resend(other.ID); !errors.Is(err, store.ErrStale) {
			t.Errorf("by another one: %v", err)
		}
		if err := resend(shop.ID); err != nil {
			t.Error(err)
		}
	})
}

// renamed gives a copy of a transaction names of its own.
func renamed(x payment.Transaction) payment.Transaction {
	x.MerchantTransactionID, x.GatewayReference, x.TenantReferenceID = payment.NewMerchantTransactionID(storetest.Start), "", nil
	return x
}

func forgetMails(t *testing.T, env *storetest.Env) {
	t.Helper()
	if err := env.Store.ForgetMails(t.Context(), env.Now, env.Now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}
