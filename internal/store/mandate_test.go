package store_test

import (
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func acceptanceOf(env *storetest.Env, t payment.Transaction) payment.Acceptance {
	return payment.Acceptance{
		TransactionID: t.ID, SessionID: *t.SessionID, Mode: payment.AcceptCheckbox, Language: "de",
		TextVersion: "2026-01", Text: "Ich ermächtige …\n\u2028 & <b>", TextHash: "0123abcd", ClientIP: "2001:db8::1",
		UserAgent: "Browser/1.0 (ü)", AcceptedAt: env.Now,
	}
}

func TestAcceptance(t *testing.T) {
	t.Parallel()

	t.Run("every field of the evidence comes back", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			attempt := env.Begin(t, env.Session(t, env.Shop(t)))
			want := acceptanceOf(env, attempt.Transaction)
			env.Write(t, func(tx *store.Tx) error {
				tx.ClaimAttempt(attempt, "sealed")
				tx.RecordAcceptance(attempt.Transaction, want)
				return nil
			})
			got, err := env.Store.Tenant(attempt.Session.TenantID).Acceptance(t.Context(), attempt.Transaction.ID)
			if err != nil || got == nil {
				t.Fatalf("got %v, error %v", got, err)
			}
			storetest.Equal(t, *got, want)
		})
	})

	t.Run("a claim that is refused leaves no evidence", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			found := env.Session(t, env.Shop(t))
			late := env.Begin(t, found)
			env.Attempt(t, found)
			before := env.Dump(t)
			if err := env.TryWrite(t, func(tx *store.Tx) error {
				tx.ClaimAttempt(late, "sealed")
				tx.RecordAcceptance(late.Transaction, acceptanceOf(env, late.Transaction))
				return nil
			}); !isConflict(err) || env.Dump(t) != before {
				t.Errorf("got %v", err)
			}
		})
	})

	t.Run("an attempt without evidence has none", func(t *testing.T) {
		t.Parallel()
		storetest.Each(t, func(t *testing.T, env *storetest.Env) {
			got, err := env.Store.Tenant(env.Tenant(t).ID).Acceptance(t.Context(), uuid.New())
			if got != nil || err != nil {
				t.Errorf("got %v, error %v", got, err)
			}
		})
	})
}

func TestMandateEvidence(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		agree := func(found store.Found) payment.Transaction {
			attempt := env.Begin(t, found, func(s *payment.Submission) { s.Source = payment.SourceHostedPage })
			env.Write(t, func(tx *store.Tx) error {
				tx.ClaimAttempt(attempt, "sealed")
				tx.RecordAcceptance(attempt.Transaction, acceptanceOf(env, attempt.Transaction))
				return nil
			})
			return attempt.Transaction
		}
		const reference = "MND-SHAREDBYTWO1"
		named := func(d *storetest.Draft) { d.MandateReference = reference }
		first := agree(env.Session(t, env.Shop(t), named))
		second := agree(env.Session(t, env.Shop(t), named))
		other := agree(env.Session(t, env.Shop(t)))
		for asked, want := range map[string][]payment.Transaction{
			reference: {second, first}, other.MandateReference: {other}, "MND-NOBODYHASIT1": nil,
		} {
			got, err := env.Store.MandateEvidence(t.Context(), asked)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s has %d agreements, error %v", asked, len(got), err)
			}
			for i, e := range got {
				storetest.Equal(t, e.Acceptance, acceptanceOf(env, want[i]))
				if e.Transaction.TenantID != want[i].TenantID || e.Transaction.ID != want[i].ID || e.Transaction.MaskedIBAN != want[i].MaskedIBAN {
					t.Errorf("agreement %d of %s rests on %v, want %v", i, asked, e.Transaction, want[i])
				}
			}
		}
	})
}
