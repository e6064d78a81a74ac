package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/gateway/gatewaytest"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
)

// bundle is a sandbox without the client around it.
type bundle struct {
	t       *testing.T
	ledger  *witness
	account gateway.Account
	adapter *sandbox.Adapter
}

func setup(t *testing.T) bundle {
	t.Helper()
	ledger := newWitness()
	account := newAccount()
	return bundle{t, ledger, account, newAdapter(t, ledger, account)}
}

func (s bundle) submit(charge gateway.Charge) payment.Outcome {
	s.t.Helper()
	outcome, err := s.adapter.Submit(context.Background(), charge)
	if err != nil {
		s.t.Fatal(err)
	}
	return outcome
}

func (s bundle) status(charge gateway.Charge, at time.Time, abandon bool) payment.Outcome {
	s.t.Helper()
	outcome, err := s.adapter.Status(context.Background(), gateway.Lookup{
		MerchantTransactionID: charge.MerchantTransactionID, At: at, Abandon: abandon,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return outcome
}

func (s bundle) entry(charge gateway.Charge) sandbox.Entry {
	s.t.Helper()
	entry, found, err := s.ledger.Find(context.Background(), keyOf(s.account, charge.MerchantTransactionID))
	if err != nil || !found {
		s.t.Fatalf("the ledger has no entry: %v", err)
	}
	return entry
}

// decide clicks on the bank page.
func (s bundle) decide(charge gateway.Charge, approve bool) sandbox.Entry {
	s.t.Helper()
	entry, err := sandbox.PayerDecides(context.Background(), s.ledger, s.entry(charge), approve, gatewaytest.At.Add(time.Minute))
	if err != nil {
		s.t.Fatal(err)
	}
	return entry
}

func (s bundle) verify(charge gateway.Charge) payment.Outcome {
	s.t.Helper()
	o, err := s.adapter.Verify(context.Background(), gateway.Verification{MerchantTransactionID: charge.MerchantTransactionID, At: gatewaytest.At})
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

func chargeFor(t *testing.T, outcome sandbox.Outcome) gateway.Charge {
	t.Helper()
	return gatewaytest.NewCharge(t, ibanFor(outcome))
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	// Within a bubble time is fake: two seconds pass at once.
	inBubble := func(name string, test func(s bundle, took func() time.Duration)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := clock.Real{}.Now()
				test(setup(t), func() time.Duration { return clock.Real{}.Now().Sub(began) })
			})
		})
	}
	inBubble("slow is approved after two seconds", func(s bundle, took func() time.Duration) {
		if outcome := s.submit(chargeFor(s.t, sandbox.Slow)); outcome.Verdict != payment.VerdictApproved || took() != 2*time.Second {
			s.t.Errorf("%s after %v", outcome.Verdict, took())
		}
	})
	inBubble("a timeout gives up after two seconds", func(s bundle, took func() time.Duration) {
		_, err := s.adapter.Submit(context.Background(), chargeFor(s.t, sandbox.TimeoutLost))
		if err == nil || errors.Is(err, gateway.ErrNotSent) || took() != 2*time.Second {
			s.t.Errorf("error %v after %v", err, took())
		}
	})
	inBubble("waiting ends with the context, and the payment has arrived", func(s bundle, took func() time.Duration) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		charge := chargeFor(s.t, sandbox.Slow)
		if _, err := s.adapter.Submit(ctx, charge); !errors.Is(err, context.DeadlineExceeded) || took() != time.Second {
			s.t.Errorf("error %v after %v", err, took())
		}
		if !s.entry(charge).Collected() {
			s.t.Error("what was sent did not arrive")
		}
	})
	inBubble("a payment sent again after a timeout gets its answer at once", func(s bundle, took func() time.Duration) {
		charge := chargeFor(s.t, sandbox.TimeoutApproved)
		if _, err := s.adapter.Submit(context.Background(), charge); err == nil {
			s.t.Fatal("the first submission was answered")
		}
		if outcome := s.submit(charge); outcome.Verdict != payment.VerdictApproved || took() != 2*time.Second {
			s.t.Errorf("%s after %v", outcome.Verdict, took())
		}
		if debits := s.ledger.debits(charge.MerchantTransactionID); debits != 1 {
			s.t.Errorf("collected %d times", debits)
		}
	})
}

func TestRebills(t *testing.T) {
	t.Parallel()
	const approved, noMoney, closed = "approved ", "declined insufficient_funds", "declined account_closed"
	for _, test := range []struct {
		outcome   sandbox.Outcome
		kind      payment.TransactionType
		periodTry int
		want      string
	}{
		{sandbox.RebillDeclinedOnce, payment.Sale, 0, approved},
		{sandbox.RebillDeclinedOnce, payment.Rebill, 1, noMoney},
		{sandbox.RebillDeclinedOnce, payment.Rebill, 2, approved},
		{sandbox.RebillDeclined, payment.Mandate, 0, approved},
		{sandbox.RebillDeclined, payment.Rebill, 1, noMoney},
		{sandbox.RebillDeclined, payment.Rebill, 4, noMoney},
		{sandbox.RebillAccountClosed, payment.Sale, 0, approved},
		{sandbox.RebillAccountClosed, payment.Rebill, 1, closed},
		{sandbox.VerificationApproved, payment.Rebill, 1, approved},
		{sandbox.VerificationRejected, payment.Rebill, 1, approved},
		{sandbox.VerificationPage, payment.Rebill, 1, approved},
		{sandbox.Approved, payment.Rebill, 1, approved},
	} {
		t.Run(fmt.Sprintf("%s, %s, try %d is %s", test.outcome, test.kind, test.periodTry, test.want), func(t *testing.T) {
			t.Parallel()
			charge := chargeFor(t, test.outcome)
			charge.Type, charge.PeriodTry = test.kind, test.periodTry
			o := setup(t).submit(charge)
			if got := string(o.Verdict) + " " + string(o.Decline.Code); got != test.want {
				t.Errorf("answered %s", got)
			}
		})
	}
}

func TestLaterDecisions(t *testing.T) {
	t.Parallel()
	t.Run("a pending payment settles one day later to the second", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		charge, due := chargeFor(t, sandbox.PendingDeclined), gatewaytest.At.Add(24*time.Hour)
		if o := s.submit(charge); o.Verdict != payment.VerdictPending || !o.SettlesAt.Equal(due) {
			t.Fatalf("answered %s, settles at %v", o.Verdict, o.SettlesAt)
		}
		if o := s.status(charge, due.Add(-time.Microsecond), false); o.Verdict != payment.VerdictPending {
			t.Errorf("%s before its time", o.Verdict)
		}
		if o := s.status(charge, due, false); o.Verdict != payment.VerdictDeclined || o.Decline.Code != payment.InsufficientFunds {
			t.Errorf("%s %s at its time", o.Verdict, o.Decline.Code)
		}
	})
	t.Run("a settlement is entered at its own time, however late it is asked for", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		charge := chargeFor(t, sandbox.PendingApproved)
		s.submit(charge)
		s.status(charge, gatewaytest.At.AddDate(1, 0, 0), false)
		if e := s.entry(charge); !e.Collected() || !e.DecidedAt.Equal(gatewaytest.At.Add(24*time.Hour)) {
			t.Errorf("state %s since %v", e.State, e.DecidedAt)
		}
	})
	for outcome, code := range map[sandbox.Outcome]string{
		sandbox.Chargeback: "MD06", sandbox.ReturnedInsufficientFunds: "AM04",
		sandbox.ReturnedMandateRejected: "MD01", sandbox.ReturnedAccountClosed: "AC04",
	} {
		t.Run(string(outcome)+" comes back three days after money moved, with "+code, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			paid, rebilled, free := chargeFor(t, outcome), chargeFor(t, outcome), chargeFor(t, outcome)
			rebilled.Type, rebilled.PeriodTry = payment.Rebill, 1
			free.AmountMinor, free.Type = 0, payment.Mandate
			due := gatewaytest.At.Add(72 * time.Hour)
			for _, charge := range []gateway.Charge{paid, rebilled} {
				s.submit(charge)
				if e := s.entry(charge); !e.ChargebackAt.Equal(due) || !e.NotifyAt.Equal(due) {
					t.Errorf("due at %v, told at %v", e.ChargebackAt, e.NotifyAt)
				}
				told, err := s.adapter.Announce(t.Context(), charge.MerchantTransactionID, due)
				if err != nil || !strings.Contains(string(told.Body), `"reason_code":"`+code+`"`) {
					t.Errorf("tells %s, %v", told.Body, err)
				}
			}
			s.submit(free)
			if e := s.entry(free); !e.ChargebackAt.IsZero() || e.Collected() {
				t.Errorf("a mandate alone: chargeback due at %v, collected %v", e.ChargebackAt, e.Collected())
			}
		})
	}
}

func TestBankPageDecisions(t *testing.T) {
	t.Parallel()
	t.Run("the page lies under the public address", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		o := s.submit(chargeFor(t, sandbox.VerificationPage))
		if want := publicURL + "/sandbox/bank/" + o.VerificationReference + "/"; o.VerificationURL != want || len(o.VerificationReference) < 26 {
			t.Errorf("the payer is sent to %s", o.VerificationURL)
		}
	})
	t.Run("approved there is collected, without a verify call", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		charge := chargeFor(t, sandbox.VerificationPage)
		s.submit(charge)
		if !s.decide(charge, true).Collected() {
			t.Error("not collected")
		}
		for _, o := range []payment.Outcome{s.status(charge, gatewaytest.At, true), s.verify(charge)} {
			if o.Verdict != payment.VerdictApproved {
				t.Errorf("answered %s", o.Verdict)
			}
		}
	})
	t.Run("rejected there is declined", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		charge := chargeFor(t, sandbox.VerificationPage)
		s.submit(charge)
		s.decide(charge, false)
		if o := s.verify(charge); o.Verdict != payment.VerdictDeclined || o.Decline.Code != payment.MandateRejected {
			t.Errorf("answered %s %s", o.Verdict, o.Decline.Code)
		}
		if s.decide(charge, true).State != sandbox.StateDeclined {
			t.Error("approved after it was rejected")
		}
	})
	t.Run("an abandoned payment can no longer be approved there", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		charge := chargeFor(t, sandbox.VerificationPage)
		s.submit(charge)
		open := s.entry(charge)
		if o := s.status(charge, gatewaytest.At, true); o.Verdict != payment.VerdictDeclined || o.Decline.Code != payment.MandateRejected {
			t.Errorf("abandoning answered %s %s", o.Verdict, o.Decline.Code)
		}
		// The payer's page was loaded before.
		late, err := sandbox.PayerDecides(context.Background(), s.ledger, open, true, gatewaytest.At)
		if err != nil || late.State != sandbox.StateClosed {
			t.Errorf("approving late gave %s, %v", late.State, err)
		}
		if debits := s.ledger.debits(charge.MerchantTransactionID); debits != 0 {
			t.Errorf("collected %d times", debits)
		}
	})
	t.Run("an outcome that the verify call decides is not decided there", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		charge := chargeFor(t, sandbox.VerificationRejected)
		s.submit(charge)
		if e := s.decide(charge, true); e.State != sandbox.StateAwaiting {
			t.Errorf("now %s", e.State)
		}
	})
}

func TestEntry(t *testing.T) {
	t.Parallel()
	t.Run("the ledger keeps nothing personal", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		charge := chargeFor(t, sandbox.VerificationPage)
		s.submit(charge)
		kept := fmt.Sprintf("%+v", s.entry(charge))
		iban := charge.Instrument.IBAN.Electronic()
		for _, secret := range []string{iban[4:], "Wilhelmine", "Xanthopoulos", "quittenweg", "Quittenweg", "5550199", "203.0.113"} {
			if strings.Contains(kept, secret) {
				t.Errorf("it keeps %q: %s", secret, kept)
			}
		}
	})
	t.Run("the merchant is named as well as it can be", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		named, described, bare := chargeFor(t, sandbox.Approved), chargeFor(t, sandbox.Approved), chargeFor(t, sandbox.Approved)
		described.MerchantName = ""
		bare.MerchantName, bare.Descriptor = "", ""
		for _, test := range []struct {
			charge gateway.Charge
			want   string
		}{{named, "Demo Shop"}, {described, "DEMO SHOP"}, {bare, "Sandbox gateway"}} {
			s.submit(test.charge)
			if got := s.entry(test.charge).MerchantName; got != test.want {
				t.Errorf("named %q, want %q", got, test.want)
			}
		}
	})
	t.Run("two accounts may use the same reference", func(t *testing.T) {
		t.Parallel()
		ledger := newWitness()
		charge := chargeFor(t, sandbox.Approved)
		for range 2 {
			adapter := newAdapter(t, ledger, newAccount())
			if _, err := adapter.Submit(context.Background(), charge); err != nil {
				t.Error(err)
			}
		}
		if debits := ledger.debits(charge.MerchantTransactionID); debits != 2 {
			t.Errorf("%d of 2 payments collected", debits)
		}
	})
}
