package checkout_test

import (
	"context"
	"testing"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestASessionForAnotherMandate(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		sub := till.Subscribed(t)
		renew := func(ctx context.Context) (made payment.Session, err error) {
			created, err := till.NewMandate(ctx, sub.TenantID, sub.ID, checkout.CreateRequest{TenantReferenceID: new("change 1")})
			if err == nil {
				made = till.Env.Find(t, created.Token).Session
			}
			return made, err
		}
		var made payment.Session
		checkouttest.Interrupt(t, func(ctx context.Context) (err error) {
			made, err = renew(ctx)
			return err
		}, func(error) bool { return false })
		if made.RenewsID == nil || *made.RenewsID != sub.ID || made.Status != payment.SessionPending || *made.TenantReferenceID != "change 1" {
			t.Fatalf("the session is %+v", made)
		}
		first, err := till.Store.Tenant(sub.TenantID).Session(t.Context(), sub.SessionID)
		if err != nil {
			t.Fatal(err)
		}
		if life := first.ExpiresAt.Sub(first.CreatedAt); !made.ExpiresAt.Equal(till.Time.Now().Add(life)) || made.Options != first.Options {
			t.Errorf("it lives until %s with %+v", made.ExpiresAt, made.Options)
		}
		till.Env.Exec(t, `UPDATE subscriptions SET status = 'CANCELLED' WHERE id = $1`, sub.ID.String())
		if _, err := renew(t.Context()); payment.KindOf(err) != payment.Conflict {
			t.Errorf("a subscription that has ended gets another mandate: %v", err)
		}
	})
}

// TestAnotherMandateIsTakenOver with the payment that gives it, as long as there is a subscription that could use it.
func TestAnotherMandateIsTakenOver(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		sub := till.Subscribed(t)
		renewing := func() store.Found {
			created, err := till.NewMandate(t.Context(), sub.TenantID, sub.ID, checkout.CreateRequest{})
			if err != nil {
				t.Fatal(err)
			}
			return till.Env.Find(t, created.Token)
		}
		found := renewing()
		till.Gateway.Answer(approved)
		if _, err := till.Pay(t.Context(), till.Payment(found)); err != nil {
			t.Fatal(err)
		}
		if now := till.Subscription(t, sub.ID); now.MandateSessionID == nil || *now.MandateSessionID != found.Session.ID ||
			now.MandateReference != found.Session.MandateReference {
			t.Errorf("the mandate is %s", now.MandateReference)
		}
		late, sent := renewing(), len(till.Gateway.Submitted())
		till.Env.Exec(t, `UPDATE subscriptions SET status = 'CANCELLED', due_at = NULL WHERE id = $1`, sub.ID.String())
		if _, err := till.Pay(t.Context(), till.Payment(late)); payment.KindOf(err) != payment.Conflict || len(till.Gateway.Submitted()) != sent {
			t.Errorf("a subscription that has ended takes another mandate: %v", err)
		}
	})
}

// TestTheOldAccountComesBack after the payer has given another one: the subscription goes on with that.
func TestTheOldAccountComesBack(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		paid := till.Paid(t, approved, storetest.WithTerms(storetest.Monthly))
		created, err := till.NewMandate(t.Context(), till.Shop.ID, paid.Subscription.ID, checkout.CreateRequest{})
		if err != nil {
			t.Fatal(err)
		}
		till.Gateway.Answer(approved)
		if _, err := till.Pay(t.Context(), till.Payment(till.Env.Find(t, created.Token))); err != nil {
			t.Fatal(err)
		}
		closed := payment.Chargeback{Source: payment.ChargebackManual, ReasonCode: "AC04"}
		if _, err := till.ChargeBack(t.Context(), till.Shop.ID, paid.Transaction.ID, closed, store.RequestKey{}); err != nil {
			t.Fatal(err)
		}
		if now := till.Subscription(t, paid.Subscription.ID); now.Status != payment.SubscriptionPastDue || now.NextBillingDate.IsZero() {
			t.Errorf("it is %s, billed next %s", now.Status, now.NextBillingDate)
		}
	})
}

// TestNobodyLooksAtEvidenceUnseen: what could not be noted is not shown.
func TestNobodyLooksAtEvidenceUnseen(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		in := till.Payment(till.Session(t))
		in.Source = payment.SourceHostedPage
		in.Acceptance = &payment.Acceptance{Mode: payment.AcceptImplicit, Language: "de", TextVersion: "1", Text: "Ich ermächtige …", AcceptedAt: till.Time.Now()}
		till.Gateway.Answer(approved)
		paid, err := till.Pay(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		reference := paid.Transaction.MandateReference
		without(t, till, "audit_entries", func() {
			if shown, err := till.Evidence(t.Context(), reference, checkout.AdminAPI); err == nil || len(shown) > 0 {
				t.Errorf("%d are shown: %v", len(shown), err)
			}
		})
		for range 2 {
			if shown, err := till.EvidenceOf(t.Context(), till.Shop.ID, reference); err != nil || len(shown) != 1 {
				t.Errorf("%d are shown: %v", len(shown), err)
			}
		}
		if n := till.Env.Count(t, "audit_entries WHERE action = 'mandate.view' AND object_id = '"+reference+"' AND tenant_id = '"+till.Shop.ID.String()+"'"); n != 2 {
			t.Errorf("%d looks are on record", n)
		}
		for _, unknown := range []string{"", "MND-UNKNOWN"} {
			if _, err := till.Evidence(t.Context(), unknown, checkout.AdminAPI); payment.KindOf(err) != payment.NotFound {
				t.Errorf("%q: %v", unknown, err)
			}
		}
	})
}

// TestAQuestionThatCouldNotBeClosedIsNotToldAsClosed: the payer has not confirmed, and nobody may be told to ask again
// while the question is still open.
func TestAQuestionThatCouldNotBeClosedIsNotToldAsClosed(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		awaiting := till.Paid(t, storetest.Verification)
		till.Gateway.Answer(storetest.Verification)
		till.Gateway.During(func(context.Context) { till.Env.Exec(t, `ALTER TABLE sessions RENAME TO hidden`) })
		_, err := till.Verify(t.Context(), awaiting.Session.Token, "")
		till.Gateway.During(nil)
		till.Env.Exec(t, `ALTER TABLE hidden RENAME TO sessions`)
		if err == nil || payment.KindOf(err) != 0 {
			t.Errorf("the answer is %v", err)
		}
		if s := till.Env.Find(t, awaiting.Session.Token).Session; !s.InFlight() {
			t.Errorf("the session is %s", s.Status)
		}
	})
}
