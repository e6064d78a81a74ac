package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestARestoreEndsWhatMayHaveEndedSince: nobody pays a second time, comes in by what somebody has taken away, or signs
// with a passkey whose copy could not be told from it; until the gateways were asked nothing is billed or sent.
func TestARestoreEndsWhatMayHaveEndedSince(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		open, waiting := env.Session(t, shop).Session, env.Session(t, shop)
		env.Attempt(t, waiting)
		paid := env.Settled(t, shop).Session
		alone, coded := operatorOf(t, env, "alone@shop.example"), operatorOf(t, env, "coded@shop.example", func(o *store.Operator) { o.SealedTOTP = "sealed" })
		admit(t, env, alone, "alone")
		admit(t, env, coded, "coded")
		version := versionOf(t, env.Store, shop.ID)
		to := env.Now.Add(-time.Hour)
		env.Now = env.Now.Add(time.Minute)
		env.Write(t, func(tx *store.Tx) error { tx.MarkRestored(to); return nil })

		if s := env.Find(t, open.Token).Session; s.Status != payment.SessionExpired || s.HoldsLead || !s.UpdatedAt.Equal(env.Now) {
			t.Errorf("what was open is %s, and holds its lead: %v", s.Status, s.HoldsLead)
		}
		if s := env.Find(t, waiting.Session.Token).Session; s.Status != payment.SessionPending || !s.ExpiresAt.Equal(env.Now) || !s.InFlight() {
			t.Errorf("what waits for an answer is %s until %s", s.Status, s.ExpiresAt)
		}
		if s := env.Find(t, paid.Token).Session; s.Status != payment.SessionCompleted || s.ExpiresAt.Equal(env.Now) {
			t.Errorf("what was paid is %s until %s", s.Status, s.ExpiresAt)
		}
		if got := letsIn(t, env, alone, "alone"); !slices.Equal(got, []string{"passkey"}) {
			t.Errorf("who has nothing but a passkey comes in by %v", got)
		}
		if got := letsIn(t, env, coded, "coded"); len(got) != 0 {
			t.Errorf("who has codes comes in by %v", got)
		}
		if now := versionOf(t, env.Store, shop.ID); now <= version+1000 {
			t.Errorf("the set-up has the version %d after %d, which a lost one may have had", now, version)
		}
		lease := func() bool {
			_, ok, err := env.Store.LeaseEndpoint(t.Context(), endpointOf(shop), payment.NewID(), env.Now, 0)
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		if at, err := env.Store.RestoredTo(t.Context()); err != nil || !at.Equal(to) || lease() {
			t.Errorf("it is of %s, or something is sent: %v", at, err)
		}
		env.Write(t, func(tx *store.Tx) error { tx.ForgetRestore(); return nil })
		if at, err := env.Store.RestoredTo(t.Context()); err != nil || !at.IsZero() || !lease() {
			t.Errorf("it is still of %s, or nothing is sent: %v", at, err)
		}
		for _, deed := range []string{"database.restore", "database.release"} {
			if n := storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM audit_entries WHERE action = $1`, deed); n != 1 {
				t.Errorf("the audit trail tells of %s %d times", deed, n)
			}
		}
	})
}

// TestAReportedRefundIsRecognizedOnce, and asked for once.
func TestAReportedRefundIsRecognizedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		paid := collected(t, env, shop).Transaction
		made := func(minor payment.Minor) payment.Transaction {
			refund := payment.Transaction{
				ID: payment.NewID(), TenantID: shop.ID, GatewayID: paid.GatewayID, MerchantTransactionID: payment.RefundReference(paid, minor, 0),
				Status: payment.TransactionApproved, Type: payment.Refund, AmountMinor: minor, Currency: paid.Currency, Source: payment.SourceImport,
			}
			env.Write(t, func(tx *store.Tx) error { tx.AddTransaction(refund, nil); return nil })
			return refund
		}
		refund, beside := made(1), made(2)
		recognized := refund
		recognized.RefundOf, recognized.OrderID, recognized.MandateAt = &paid.ID, paid.OrderID, paid.MandateAt
		recognize := func(r payment.Transaction) error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.RecognizeRefund(r); return nil })
		}
		ask := func() error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.AskForReported(recognized); return nil })
		}
		changed := recognized
		changed.Status = payment.TransactionPending
		if err := recognize(changed); !errors.Is(err, store.ErrStale) {
			t.Errorf("one that was otherwise when it was read: %v", err)
		}
		if err := errors.Join(recognize(recognized), ask()); err != nil {
			t.Error(err)
		}
		for what, err := range map[string]error{"recognized": recognize(recognized), "asked for": ask()} {
			if !errors.Is(err, store.ErrStale) {
				t.Errorf("a second time it is %s: %v", what, err)
			}
		}
		if now := env.Debit(t, refund).Transaction; now.RefundOf == nil || *now.RefundOf != paid.ID || now.Source != payment.SourceRefund {
			t.Errorf("it is a refund of %v, from %s", now.RefundOf, now.Source)
		}
		if now := env.Debit(t, beside).Transaction; now.RefundOf != nil || now.Source != payment.SourceImport {
			t.Errorf("the one beside it is a refund of %v, from %s", now.RefundOf, now.Source)
		}
	})
}

// TestAPersonWhoWasErasedHoldsUpWhatWasReadBefore of them, and nobody else does.
func TestAPersonWhoWasErasedHoldsUpWhatWasReadBefore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		erased, other := env.Session(t, shop).Lead, env.Session(t, shop).Lead
		hold := func(l payment.Lead) error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.HoldLead(shop.ID, l.ID); return nil })
		}
		if err := hold(erased); err != nil {
			t.Error(err)
		}
		env.Exec(t, `UPDATE leads SET erased_at = 5 WHERE id = $1`, erased.ID.String())
		if err := hold(erased); !errors.Is(err, store.ErrStale) {
			t.Errorf("once erased: %v", err)
		}
		if err := hold(other); err != nil {
			t.Errorf("another: %v", err)
		}
	})
}

// TestAMailThatWasNotBegunIsGivenBack as if nobody had claimed it, unless somebody else has meanwhile.
func TestAMailThatWasNotBegunIsGivenBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		of := env.Settled(t, env.Shop(t)).Transaction
		env.Write(t, func(tx *store.Tx) error {
			tx.AddMail(mailOf(of, "one"), of, false)
			tx.AddMail(mailOf(of, "two"), of, false)
			return nil
		})
		claim := func(want int) []store.Mail {
			t.Helper()
			claimed, err := env.Store.ClaimMails(t.Context(), env.Now, time.Minute, 10)
			if err != nil || len(claimed) != want {
				t.Fatalf("%d were claimed, want %d: %v", len(claimed), want, err)
			}
			return claimed
		}
		mail := claim(2)[0]
		giveBack := func() { env.Write(t, func(tx *store.Tx) error { tx.ReturnMail(mail); return nil }) }
		giveBack()
		if again := claim(1)[0]; again.ID != mail.ID || again.AttemptCount != 1 || again.UnknownCount != 0 {
			t.Errorf("it was tried %d times, %d of them unknown", again.AttemptCount, again.UnknownCount)
		}
		mail.AttemptCount = 7
		giveBack()
		claim(0)
	})
}
