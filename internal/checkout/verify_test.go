package checkout_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name    string
			answer  func()
			want    payment.ResultStatus
			kind    payment.Kind
			session payment.SessionStatus
			open    bool
		}{
			{"confirmed", func() { till.Gateway.Answer(approved) }, payment.ResultCompleted, 0, payment.SessionCompleted, false},
			{"confirmed, to be settled later", func() { till.Gateway.Answer(pending) }, payment.ResultCompleted, 0, payment.SessionCompleted, false},
			{"rejected", func() { till.Gateway.Answer(declined) }, payment.ResultFailed, 0, payment.SessionPending, false},
			{"not decided yet", func() { till.Gateway.Answer(storetest.Verification) }, "", payment.Conflict, payment.SessionAwaiting, false},
			{"not reached", func() { till.Gateway.Fail(gateway.ErrNotSent) }, "", payment.OutcomeUnknown, payment.SessionAwaiting, false},
			{"another payment's", func() { till.Gateway.Fail(fmt.Errorf("of theirs: %w", gateway.ErrUnknownVerification)) }, "", payment.Invalid, payment.SessionAwaiting, false},
			{"without an answer", func() { till.Gateway.Silence() }, "", payment.OutcomeUnknown, payment.SessionAwaiting, true},
		} {
			t.Run(c.name, func(t *testing.T) {
				awaiting := till.Paid(t, storetest.Verification)
				c.answer()
				result, err := till.Verify(t.Context(), awaiting.Session.Token, "")
				if result.Status != c.want || payment.KindOf(err) != c.kind || c.kind == 0 && err != nil {
					t.Errorf("the answer is %q, %v", result.Status, err)
				}
				s := till.Env.Find(t, awaiting.Session.Token).Session
				if s.Status != c.session || s.InFlight() != c.open {
					t.Errorf("the session is %s, in flight: %t", s.Status, s.InFlight())
				}
			})
		}
	})
}

// TestAnAnswerThatOthersHaveOvertakenIsNotTheLastWord: while the gateway works on a payment, another process asks, hears
// that the payer must verify, and the payer has already gone to do so. What the first answer says counts no more, and
// what the verification comes to is not known yet.
func TestAnAnswerThatOthersHaveOvertakenIsNotTheLastWord(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		till.Gateway.Answer(declined)
		till.Gateway.During(func(context.Context) {
			till.Gateway.Answer(storetest.Verification)
			till.World.Pass(silence)
			if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
				t.Errorf("asked about %d: %v", n, err)
			}
			till.Gateway.Silence()
			if _, err := till.Verify(t.Context(), found.Session.Token, ""); payment.KindOf(err) != payment.OutcomeUnknown {
				t.Errorf("the verification is told as %v", err)
			}
		})
		if result, err := till.Pay(t.Context(), till.Payment(found)); payment.KindOf(err) != payment.OutcomeUnknown {
			t.Errorf("it is told as %q: %v", result.Status, err)
		}
	})
}

func TestWhatAGatewayIsAskedOfAVerification(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	for _, c := range []struct{ name, given, want string }{
		{"the reference that it gave", "", "VRF-1"},
		{"the merchant's, where one is given", "VRF-2", "VRF-2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			awaiting := till.Paid(t, storetest.Verification)
			till.Gateway.Answer(approved)
			till.Time.Pass(time.Minute)
			if _, err := till.Verify(t.Context(), awaiting.Session.Token, c.given); err != nil {
				t.Fatal(err)
			}
			asked := till.Gateway.Verified()
			storetest.Equal(t, asked[len(asked)-1], gateway.Verification{
				MerchantTransactionID: awaiting.Transaction.MerchantTransactionID, VerificationReference: c.want, At: till.Time.Now(),
			})
		})
	}
}

func TestWhatCannotBeVerified(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		till.Gateway.Answer(approved)
		for _, c := range []struct {
			name  string
			token func(*testing.T) string
			want  payment.Kind
		}{
			{"a token that nobody has", func(*testing.T) string { return payment.NewToken(till.Shop.Number) }, payment.NotFound},
			{"a session that awaits nothing", func(t *testing.T) string {
				t.Helper()
				return till.Session(t).Session.Token
			}, payment.Conflict},
			{"one that is being asked about", func(t *testing.T) string {
				t.Helper()
				awaiting := till.Paid(t, storetest.Verification)
				till.Gateway.Silence()
				if _, err := till.Verify(t.Context(), awaiting.Session.Token, ""); err == nil {
					t.Fatal("a silent gateway verifies")
				}
				till.Gateway.Answer(approved)
				return awaiting.Session.Token
			}, payment.Conflict},
		} {
			t.Run(c.name, func(t *testing.T) {
				token := c.token(t)
				asked := len(till.Gateway.Verified())
				if _, err := till.Verify(t.Context(), token, ""); payment.KindOf(err) != c.want {
					t.Errorf("the answer is %v", err)
				}
				if len(till.Gateway.Verified()) != asked {
					t.Error("the gateway was asked")
				}
			})
		}
	})
}

// TestAQuestionAboutAVerificationKeepsItsDistance: nobody else may ask before the
// one who does must have his answer.
func TestAQuestionAboutAVerificationKeepsItsDistance(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		awaiting := till.Paid(t, storetest.Verification)
		till.Gateway.Silence()
		if _, err := till.Verify(t.Context(), awaiting.Session.Token, ""); payment.KindOf(err) != payment.OutcomeUnknown {
			t.Fatal(err)
		}
		attempt := till.Debit(t, awaiting.Transaction.ID).Transaction.Attempt
		if attempt.Phase != payment.PhaseVerify || !attempt.NextLookupAt.Equal(till.World.Now().Add(silence)) {
			t.Errorf("the question is %+v", attempt)
		}
	})
}

// TestAPaymentThatAwaitsItsPayerIsNotLost because its gateway, asked what became of the payer's word, denies the payment: it had
// the payer confirm it, and may collect it.
func TestAPaymentThatAwaitsItsPayerIsNotLost(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		awaiting := till.Paid(t, storetest.Verification)
		till.Gateway.Silence()
		if _, err := till.Verify(t.Context(), awaiting.Session.Token, ""); payment.KindOf(err) != payment.OutcomeUnknown {
			t.Fatal(err)
		}
		till.World.Pass(silence)
		till.Gateway.Answer(lost)
		if n, err := till.RunLookups(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d were asked about: %v", n, err)
		}
		d := till.Debit(t, awaiting.Transaction.ID)
		if d.Session.Status != payment.SessionAwaiting || d.Transaction.Status != payment.TransactionPending || d.Transaction.InFlight() {
			t.Errorf("session %s, payment %s, in flight: %t", d.Session.Status, d.Transaction.Status, d.Transaction.InFlight())
		}
		if !strings.Contains(till.Log(), "contradicts our records") {
			t.Error("nobody is told")
		}
		till.Gateway.Answer(approved)
		if result, err := till.Verify(t.Context(), awaiting.Session.Token, ""); err != nil || result.Status != payment.ResultCompleted {
			t.Errorf("once it is confirmed it is %q: %v", result.Status, err)
		}
	})
}
