package sandbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/gateway/gatewaytest"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
)

// announce has the sandbox report of a payment.
func announce(t *testing.T, g gatewaytest.Gateway, merchantTransactionID string, at time.Time) gateway.Notification {
	t.Helper()
	client, err := gateway.NewClient(g.Kind, g.Account, gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, speaks, err := client.Announce(context.Background(), merchantTransactionID, at)
	if err != nil || !speaks {
		t.Fatalf("announcing: %v, error %v", speaks, err)
	}
	return n
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	t.Run("tell of a chargeback with the bank's reason", func(t *testing.T) {
		t.Parallel()
		g := open(sandbox.Options{})
		client, err := gateway.NewClient(g.Kind, g.Account, gateway.Options{})
		if err != nil {
			t.Fatal(err)
		}
		charge := gatewaytest.NewCharge(t, ibanFor(sandbox.Chargeback))
		if _, err := client.Submit(t.Context(), charge); err != nil {
			t.Fatal(err)
		}
		due := gatewaytest.At.Add(72 * time.Hour)
		notices, err := client.Receive(t.Context(), announce(t, g, charge.MerchantTransactionID, due))
		if err != nil || len(notices) != 1 || notices[0].Chargeback == nil {
			t.Fatalf("notices %v, error %v", notices, err)
		}
		if c := notices[0].Chargeback; c.ReasonCode != "MD06" || c.ReasonMessage == "" || !c.ReportedAt.Equal(due) || c.AmountMinor != charge.AmountMinor {
			t.Errorf("the chargeback is %+v", *c)
		}
	})
	t.Run("are signed with the account's own secret where it has one", func(t *testing.T) {
		t.Parallel()
		kind := sandbox.Kind(sandbox.NewMemoryLedger(), sandbox.Options{})
		account, body := newAccount(), []byte(`{"event":"payment.settled","merchant_transaction_id":"X","amount":"1.00","currency":"EUR","occurred_at":"2026-03-02T00:00:00Z"}`)
		signed := gateway.Notification{Header: map[string][]string{sandbox.SignatureHeader: {sandbox.Sign(body, "told")}}, Body: body}
		receive := func() error {
			client, err := gateway.NewClient(kind, account, gateway.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Receive(t.Context(), signed)
			return err
		}
		if err := receive(); !errors.Is(err, gateway.ErrForged) {
			t.Errorf("an account without a secret gave %v", err)
		}
		account.Settings = map[string]any{"notification_secret": "told"}
		if err := receive(); err != nil {
			t.Errorf("the right secret gave %v", err)
		}
	})
}

func TestRefundsGoTheWayOfTheirPayment(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[sandbox.Outcome]payment.Verdict{
		sandbox.Approved: payment.VerdictApproved, sandbox.PendingApproved: payment.VerdictPending,
		sandbox.RebillAccountClosed: payment.VerdictDeclined, sandbox.DeclinedInsufficientFunds: payment.VerdictDeclined,
	} {
		t.Run(string(outcome), func(t *testing.T) {
			t.Parallel()
			g := open(sandbox.Options{})
			client, err := gateway.NewClient(g.Kind, g.Account, gateway.Options{})
			if err != nil {
				t.Fatal(err)
			}
			charge := gatewaytest.NewCharge(t, ibanFor(outcome))
			if _, err := client.Submit(t.Context(), charge); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Status(t.Context(), gateway.Lookup{MerchantTransactionID: charge.MerchantTransactionID, At: gatewaytest.At.Add(48 * time.Hour)}); err != nil {
				t.Fatal(err)
			}
			got, err := client.Refund(t.Context(), gateway.Refund{
				MerchantTransactionID: "R-1", PaymentID: charge.MerchantTransactionID, AmountMinor: 1_00, Currency: "EUR", At: gatewaytest.At,
			})
			if err != nil || got.Verdict != want {
				t.Errorf("the refund is %q, error %v", got.Verdict, err)
			}
		})
	}
}
