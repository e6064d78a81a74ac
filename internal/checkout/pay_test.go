package checkout_test

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

var (
	approved = payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "GW-1"}
	pending  = payment.Outcome{Verdict: payment.VerdictPending, GatewayReference: "GW-2"}
	declined = payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.InsufficientFunds}}
	lost     = payment.Outcome{Verdict: payment.VerdictLost}
)

func TestWhatAGatewayIsTold(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		till.Gateway.Answer(approved)
		in := till.Payment(found)
		in.TenantReferenceID = new("order 17")
		result, err := till.Pay(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		s, paid := found.Session, result.Transaction
		got := till.Gateway.Submitted()
		if len(got) != 1 {
			t.Fatalf("%d payments were sent", len(got))
		}
		want := gateway.Charge{
			MerchantTransactionID: paid.MerchantTransactionID, IdempotencyKey: paid.ID.String(),
			AmountMinor: s.Terms.PriceMinor, Currency: "EUR", Type: payment.Sale, SequenceType: payment.SequenceFirst,
			Instrument: in.Instrument, Lead: found.Lead, MandateReference: s.MandateReference, MandateAt: till.Time.Now(),
			Descriptor: till.Shop.Gateway.Descriptor, MerchantName: till.Shop.Name, CustomerIP: s.CustomerIP,
			ReturnURL: "https://pay.example/pay/" + s.Token + "/", At: till.Time.Now(),
		}
		if left := got[0].SendBefore.Left(); left <= 0 || left > 5*time.Second {
			t.Errorf("it may be sent for another %s", left)
		}
		got[0].SendBefore = clock.Deadline{}
		storetest.Equal(t, got[0], want)
	})
}

// TestWhatIsKeptOfAnAccount is what shows it to whoever may see it.
func TestWhatIsKeptOfAnAccount(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		till.Gateway.Answer(approved)
		in := till.Payment(found)
		result, err := till.Pay(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		kept := till.Debit(t, result.Transaction.ID).Transaction
		if kept.HolderName != in.Instrument.HolderName || kept.MaskedIBAN != in.Instrument.IBAN.Masked() || kept.IBANCountry != in.Instrument.IBAN.Country() {
			t.Errorf("kept are %q, %q and %q", kept.HolderName, kept.MaskedIBAN, kept.IBANCountry)
		}
	})
}

// TestAPayerReturnsToWhomTheMerchantNames: through our own page, which knows the way, where the merchant has sent the payment itself.
func TestAPayerReturnsToWhomTheMerchantNames(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	for _, c := range []struct {
		returns string
		source  payment.Source
		want    string
	}{
		{"", payment.SourceAPI, "/"},
		{"https://shop.example/back", payment.SourceAPI, "/return/"},
		{"https://shop.example/back", payment.SourceHostedPage, "/"},
	} {
		found := till.Session(t, func(d *storetest.Draft) { d.Options.ReturnURL = c.returns })
		in := till.Payment(found)
		in.Source = c.source
		till.Gateway.Answer(approved)
		if _, err := till.Pay(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		sent := till.Gateway.Submitted()
		if got := sent[len(sent)-1].ReturnURL; got != "https://pay.example/pay/"+found.Session.Token+c.want {
			t.Errorf("%s with %q: the payer returns to %s", c.source, c.returns, got)
		}
	}
}

func TestThePayersAddressIsToldWhereTheMerchantGaveNone(t *testing.T) {
	t.Parallel()
	till := checkouttest.Open(t, storetest.SQLite(t))
	for _, c := range []struct {
		name, given, want string
		client            netip.Addr
	}{
		{"the merchant's word is taken", "192.0.2.7", "192.0.2.7", netip.MustParseAddr("198.51.100.9")},
		{"else that of the connection", "", "198.51.100.9", netip.MustParseAddr("198.51.100.9")},
		{"else none", "", "", netip.Addr{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := till.Payment(till.Session(t, func(d *storetest.Draft) { d.CustomerIP = c.given }))
			in.ClientIP = c.client
			till.Gateway.Answer(approved)
			if _, err := till.Pay(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			sent := till.Gateway.Submitted()
			if got := sent[len(sent)-1].CustomerIP; got != c.want {
				t.Errorf("the gateway is told %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatAPaymentComesTo(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		for _, c := range []struct {
			name    string
			answer  payment.Outcome
			max     int
			want    payment.ResultStatus
			session payment.SessionStatus
			order   payment.OrderStatus
			retry   *bool
			events  int
		}{
			{"collected at once", approved, 3, payment.ResultCompleted, payment.SessionCompleted, payment.OrderCompleted, nil, 2},
			{"taken in to be settled later", pending, 3, payment.ResultCompleted, payment.SessionCompleted, payment.OrderPending, nil, 2},
			{"to be verified", storetest.Verification, 3, payment.ResultAwaiting, payment.SessionAwaiting, payment.OrderPending, nil, 0},
			{"refused with tries left", declined, 3, payment.ResultDeclined, payment.SessionPending, payment.OrderFailed, new(true), 0},
			{"refused at the last try", declined, 1, payment.ResultFailed, payment.SessionFailed, payment.OrderFailed, new(false), 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				before := till.Events(t)
				result := till.Paid(t, c.answer, func(d *storetest.Draft) { d.MaxAttempts = c.max })
				if result.Status != c.want || !result.Livemode || result.AdapterName != "Played" || result.Gateway.ID != till.Shop.Gateway.ID {
					t.Errorf("the result is %q of %q, live %t", result.Status, result.AdapterName, result.Livemode)
				}
				switch {
				case (result.RetryAllowed == nil) != (c.retry == nil):
					t.Errorf("another try is %v, want %v", result.RetryAllowed, c.retry)
				case c.retry != nil && *result.RetryAllowed != *c.retry:
					t.Errorf("another try is allowed: %t", *result.RetryAllowed)
				}
				stored := till.Debit(t, result.Transaction.ID)
				if stored.Session.Status != c.session || stored.Order.Status != c.order || stored.Session.InFlight() || stored.Transaction.InFlight() {
					t.Errorf("session %s, order %s", stored.Session.Status, stored.Order.Status)
				}
				told := 0
				for kind, n := range till.Events(t) {
					told += n - before[kind]
				}
				if told != c.events {
					t.Errorf("%d events were recorded, want %d", told, c.events)
				}
			})
		}
	})
}

func TestARefusedPaymentIsTriedAgainOnTheSameOrder(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		till.Gateway.Answer(declined)
		first, err := till.Pay(t.Context(), till.Payment(found))
		if err != nil {
			t.Fatal(err)
		}
		till.Gateway.Answer(approved)
		second, err := till.Pay(t.Context(), till.Payment(found))
		if err != nil || second.Status != payment.ResultCompleted {
			t.Fatalf("the second try is %q: %v", second.Status, err)
		}
		if first.Order.ID != second.Order.ID || second.Transaction.Attempt.Number != 2 {
			t.Errorf("orders %s and %s, attempt %d", first.Order.ID, second.Order.ID, second.Transaction.Attempt.Number)
		}
	})
}

// TestAPayerWhoGoesAwayStopsNothing cancels the caller's context while the gateway
// works: what was sent must be settled.
func TestAPayerWhoGoesAwayStopsNothing(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		leaves := func(t *testing.T, act func(context.Context) error) {
			t.Helper()
			ctx, leave := context.WithCancel(t.Context())
			till.Gateway.During(func(inside context.Context) {
				leave()
				if inside.Err() != nil {
					t.Error("the call to the gateway ends with the payer's")
				}
			})
			if err := act(ctx); err != nil {
				t.Errorf("the answer is not written: %v", err)
			}
		}
		t.Run("a payment is settled", func(t *testing.T) {
			found := till.Session(t)
			till.Gateway.Answer(approved)
			leaves(t, func(ctx context.Context) error {
				_, err := till.Pay(ctx, till.Payment(found))
				return err
			})
			if s := till.Env.Find(t, found.Session.Token).Session; s.Status != payment.SessionCompleted {
				t.Errorf("the session is %s", s.Status)
			}
		})
		t.Run("a verification is settled", func(t *testing.T) {
			awaiting := till.Paid(t, storetest.Verification)
			till.Gateway.Answer(approved)
			leaves(t, func(ctx context.Context) error {
				_, err := till.Verify(ctx, awaiting.Session.Token, "")
				return err
			})
			if s := till.Env.Find(t, awaiting.Session.Token).Session; s.Status != payment.SessionCompleted {
				t.Errorf("the session is %s", s.Status)
			}
		})
		t.Run("a refund is settled", func(t *testing.T) {
			paid := till.Paid(t, approved)
			till.Gateway.Answer(approved)
			leaves(t, func(ctx context.Context) error {
				_, err := till.Refund(ctx, till.Shop.ID, paid.Transaction.ID, checkout.RefundRequest{}, store.RequestKey{})
				return err
			})
			if d := till.Debit(t, paid.Transaction.ID); d.Transaction.Status != payment.TransactionRefunded {
				t.Errorf("the payment is %s", d.Transaction.Status)
			}
		})
		t.Run("a notification is taken in", func(t *testing.T) {
			open := till.Unknown(t)
			ctx, leave := context.WithCancel(t.Context())
			till.Gateway.Report(noticeOf(open, approved))
			leave()
			if _, err := till.Notify(ctx, till.Shop.Gateway.ID, gateway.Notification{}); err == nil {
				t.Error("a caller who is gone before anything was read is served")
			}
		})
	})
}

// noticeOf is what a gateway reports of a payment that we know.
func noticeOf(d payment.Debit, outcome payment.Outcome) gateway.Notice {
	return gateway.Notice{Outcome: outcome, Transaction: payment.Transaction{
		MerchantTransactionID: d.Transaction.MerchantTransactionID, GatewayReference: outcome.GatewayReference,
		AmountMinor: d.Transaction.AmountMinor, Currency: d.Transaction.Currency,
	}}
}

func TestNothingIsSentThatMayNotBe(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		till.Gateway.Answer(approved)
		for _, c := range []struct {
			name    string
			prepare func(*testing.T) checkout.Payment
			want    payment.Kind
		}{
			{"for a token that nobody has", func(t *testing.T) checkout.Payment {
				t.Helper()
				in := till.Payment(till.Session(t))
				in.Token = payment.NewToken(till.Shop.Number)
				return in
			}, payment.NotFound},
			{"for a session whose time is over", func(t *testing.T) checkout.Payment {
				t.Helper()
				return till.Payment(till.Session(t, storetest.ExpiresIn(0)))
			}, payment.Gone},
			{"for a session that is paid", func(t *testing.T) checkout.Payment {
				t.Helper()
				found := till.Session(t)
				if _, err := till.Pay(t.Context(), till.Payment(found)); err != nil {
					t.Fatal(err)
				}
				return till.Payment(found)
			}, payment.Gone},
			{"while another payment is under way", func(t *testing.T) checkout.Payment {
				t.Helper()
				open := till.Unknown(t)
				till.Gateway.Answer(approved)
				return till.Payment(till.Env.Find(t, open.Session.Token))
			}, payment.Conflict},
			{"with a merchant's reference that is taken", func(t *testing.T) checkout.Payment {
				t.Helper()
				for range 2 {
					in := till.Payment(till.Session(t))
					in.TenantReferenceID = new("taken")
					if _, err := till.Pay(t.Context(), in); err != nil {
						return in
					}
				}
				in := till.Payment(till.Session(t))
				in.TenantReferenceID = new("taken")
				return in
			}, payment.Conflict},
			{"through a gateway that is switched off", func(t *testing.T) checkout.Payment {
				t.Helper()
				in := till.Payment(till.Session(t))
				till.SetGateway(t, till.Shop, func(a *merchant.GatewayAccount) { a.Active = false })
				return in
			}, payment.Conflict},
		} {
			t.Run(c.name, func(t *testing.T) {
				in := c.prepare(t)
				sent, rows := len(till.Gateway.Submitted()), till.Env.Count(t, "transactions")
				_, err := till.Pay(t.Context(), in)
				if payment.KindOf(err) != c.want {
					t.Errorf("the answer is %v", err)
				}
				if len(till.Gateway.Submitted()) != sent || till.Env.Count(t, "transactions") != rows {
					t.Error("a payment was claimed or sent")
				}
			})
		}
	})
}

func TestOfTwoPaymentsAtOnceOneIsSent(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		till.Gateway.Answer(approved)
		errs := make([]error, 4)
		var payers sync.WaitGroup
		for i := range errs {
			payers.Go(func() { _, errs[i] = till.Pay(t.Context(), till.Payment(found)) })
		}
		payers.Wait()
		succeeded := 0
		for _, err := range errs {
			if err == nil {
				succeeded++
			} else if kind := payment.KindOf(err); kind != payment.Conflict && kind != payment.Gone {
				t.Errorf("a payer who came second is told %v", err)
			}
		}
		if succeeded != 1 || len(till.Gateway.Submitted()) != 1 {
			t.Errorf("%d of them paid, %d payments were sent", succeeded, len(till.Gateway.Submitted()))
		}
	})
}

func TestTheAcceptanceOfAMandateIsKeptWithItsClaim(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		till.Gateway.Answer(approved)
		for want, acceptance := range []*payment.Acceptance{nil, {Mode: payment.AcceptCheckbox, Language: "de", Text: "Ich ermächtige …"}} {
			in := till.Payment(till.Session(t))
			in.Acceptance = acceptance
			if _, err := till.Pay(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if got := till.Env.Count(t, "mandate_acceptances"); got != want {
				t.Errorf("%d acceptances are recorded, want %d", got, want)
			}
		}
	})
}

// TestAPaymentWithoutAnAnswerIsAskedAbout: the question may come soon where what
// was sent cannot arrive any more, and not before the gateway's time is over where
// it can.
func TestAPaymentWithoutAnAnswerIsAskedAbout(t *testing.T) {
	t.Parallel()
	const claimed = silence
	for _, c := range []struct {
		name   string
		change []func(*checkouttest.Gateway)
		wait   time.Duration
	}{
		{"soon, inside this process", []func(*checkouttest.Gateway){checkouttest.WithSandboxRules}, checkouttest.FirstLookup},
		{"when its time is over, across a network", nil, claimed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
				open := till.Unknown(t)
				attempt := open.Transaction.Attempt
				if want := till.World.Now().Add(c.wait); attempt.Phase != payment.PhaseSubmit || attempt.LookupCount != 1 || !attempt.NextLookupAt.Equal(want) {
					t.Errorf("the attempt is %+v, want a question at %s", attempt, want)
				}
				if jobs := storetest.Scalar[int](t, till.Env, `SELECT COUNT(*) FROM river_job WHERE kind = 'lookup_unknown_outcomes'`); jobs != 1 {
					t.Errorf("%d jobs wake the question", jobs)
				}
			}, c.change...)
		})
	}
}

func TestAPaymentThatWasNotSentCostsNoAttempt(t *testing.T) {
	t.Parallel()
	checkouttest.Each(t, func(t *testing.T, till *checkouttest.Till) {
		found := till.Session(t)
		till.Gateway.Fail(gateway.ErrNotSent)
		result, err := till.Pay(t.Context(), till.Payment(found))
		if err != nil || result.Status != payment.ResultDeclined || result.Session.AttemptsUsed != 0 {
			t.Errorf("the result is %q after %d attempts: %v", result.Status, result.Session.AttemptsUsed, err)
		}
		if !errors.Is(err, nil) || result.Transaction.Decline.Code != payment.GatewayUnavailable {
			t.Errorf("the reason is %+v", result.Transaction.Decline)
		}
	})
}
