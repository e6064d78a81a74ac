package gateway_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/gateway/gatewaytest"
	"sepad/internal/payment"
)

// brokenGateway answers only while up is true.
func brokenGateway(t *testing.T, up *bool) *bundle {
	t.Helper()
	return setupWith(t, func(context.Context, gateway.Charge) (payment.Outcome, error) {
		if *up {
			return payment.Outcome{Verdict: payment.VerdictApproved}, nil
		}
		return payment.Outcome{}, errors.New("no route to host")
	})
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	t.Run("after five calls without an answer nothing is sent, until a try succeeds", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			up := false
			b := brokenGateway(t, &up)
			for range 5 {
				if _, err := b.ask(t, "submit"); !errors.Is(err, gateway.ErrUnknownOutcome) {
					t.Fatalf("gave error %v", err)
				}
			}
			o, err := b.ask(t, "submit")
			if err != nil || o.Verdict != payment.VerdictUnsent || o.Decline.Code != payment.GatewayUnavailable || b.adapter.calls != 5 {
				t.Fatalf("gave %+v, %v after %d calls", o, err, b.adapter.calls)
			}
			up = true
			<-time.After(31 * time.Second) // at once: time is fake here
			for range 2 {
				if o, err := b.ask(t, "submit"); err != nil || o.Verdict != payment.VerdictApproved {
					t.Errorf("gave %+v, %v when the gateway was back", o, err)
				}
			}
		})
	})
	t.Run("questions about payments pass while payments do not, and the other way round", func(t *testing.T) {
		t.Parallel()
		up := false
		b := brokenGateway(t, &up)
		for range 6 {
			b.ask(t, "submit")
		}
		up = true
		if o, err := b.ask(t, "status"); err != nil || o.Verdict != payment.VerdictApproved {
			t.Errorf("a question gave %+v, %v", o, err)
		}

		up, b = false, brokenGateway(t, &up)
		for range 6 {
			b.ask(t, "status")
		}
		if b.adapter.calls != 5 {
			t.Errorf("%d questions were sent", b.adapter.calls)
		}
		up = true
		if o, err := b.ask(t, "submit"); err != nil || o.Verdict != payment.VerdictApproved {
			t.Errorf("a payment gave %+v, %v", o, err)
		}
		if _, err := b.ask(t, "status"); !errors.Is(err, gateway.ErrUnknownOutcome) {
			t.Errorf("a question that was not sent gave error %v", err)
		}
	})
}

func TestBreakerStaysClosed(t *testing.T) {
	t.Parallel()
	t.Run("declines and wrong references are answers", func(t *testing.T) {
		t.Parallel()
		declining := setup(t, payment.Outcome{Verdict: payment.VerdictDeclined}, nil)
		mistyped := setup(t, payment.Outcome{}, gateway.ErrUnknownVerification)
		for range 20 {
			declining.ask(t, "submit")
			mistyped.ask(t, "verify")
		}
		if declining.adapter.calls != 20 || mistyped.adapter.calls != 20 {
			t.Errorf("%d and %d of 20 calls passed", declining.adapter.calls, mistyped.adapter.calls)
		}
	})
	t.Run("a gateway that never moves money has none", func(t *testing.T) {
		t.Parallel()
		up := false
		b := brokenGateway(t, &up)
		kind := kindOf(b.adapter)
		kind.Real = false
		client, err := gateway.NewClient(kind, gateway.Account{}, gateway.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			client.Submit(context.Background(), gatewaytest.NewCharge(t, iban))
		}
		if b.adapter.calls != 20 {
			t.Errorf("%d of 20 calls passed", b.adapter.calls)
		}
	})
}
