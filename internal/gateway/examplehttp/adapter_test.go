package examplehttp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/gateway/gatewaytest"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	gatewaytest.Run(t, gatewaytest.Suite{
		Open: func(t *testing.T) gatewaytest.Gateway { return open(newProvider(t)) },
		OpenUnreachable: func(t *testing.T) gatewaytest.Gateway {
			p := newProvider(t)
			p.Close()
			return open(p)
		},
		Approved: accountApproved,
		Declines: []gatewaytest.Decline{
			{IBAN: accountPoor, Code: payment.InsufficientFunds, GatewayCode: "AM04"},
			{IBAN: accountBlocked, Code: payment.DoNotHonor, GatewayCode: "FRAD", Final: true},
		},
		Verification: gatewaytest.Verification{Approved: accountConfirmed, Rejected: accountRejected, Undecided: accountUndecided},
		Pending:      gatewaytest.Pending{Approved: accountLate, Declined: accountLateRefused},
		Status:       gatewaytest.Status{Approved: accountNoAnswer, Lost: accountLost},
		Hanging:      accountHanging, Malformed: accountGarbled, Refunded: accountApproved,
		Notify: func(t *testing.T, _ gatewaytest.Gateway, merchantTransactionID string) gateway.Notification {
			return notification(t, merchantTransactionID)
		},
	})
}

func open(p *provider) gatewaytest.Gateway {
	return gatewaytest.Gateway{
		Kind: Kind(gateway.HTTPOptions{}),
		Account: gateway.Account{ID: uuid.New(), TenantID: uuid.New(), Name: "Example", Settings: merchant.Settings{
			settingAddress: p.URL + "/v1", settingKey: providerKey, settingSecret: providerSecret,
		}},
		Debits: func(_ *testing.T, merchantTransactionID string) int { return p.debits(merchantTransactionID) },
		Settle: p.settle,
	}
}

func notification(t *testing.T, reference string) gateway.Notification {
	t.Helper()
	text, err := json.Marshal(notificationBody{
		answerBody: answerBody{ID: "EX-1", Status: "collected"}, Reference: reference, Amount: 29_99, Currency: "EUR", OccurredAt: gatewaytest.At,
	})
	if err != nil {
		t.Fatal(err)
	}
	return gateway.Notification{Header: http.Header{signatureHeader: {sign(text, providerSecret)}}, Body: text}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	t.Run("an address without TLS is refused by its name", func(t *testing.T) {
		t.Parallel()
		mistakes := Kind(gateway.HTTPOptions{}).Check(gateway.Account{Settings: merchant.Settings{
			settingAddress: "http://provider.example", settingKey: "k", settingSecret: "s",
		}})
		if len(mistakes) != 1 || mistakes[0].Setting != settingAddress {
			t.Errorf("gave %v", mistakes)
		}
	})
	t.Run("at a wrong address no payment is lost", func(t *testing.T) {
		t.Parallel()
		g := open(newProvider(t))
		g.Account.Settings[settingAddress] = strings.TrimSuffix(g.Account.Settings[settingAddress].(string), "/v1")
		client, err := gateway.NewClient(g.Kind, g.Account, gateway.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := client.Status(t.Context(), gateway.Lookup{MerchantTransactionID: "TXN-1"}); err == nil {
			t.Errorf("gave %+v", o)
		}
	})
	t.Run("a wrong key leaves a payment unknown: who refuses us says nothing of it", func(t *testing.T) {
		t.Parallel()
		g := open(newProvider(t))
		g.Account.Settings[settingKey] = "revoked"
		client, err := gateway.NewClient(g.Kind, g.Account, gateway.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := client.Submit(t.Context(), gatewaytest.NewCharge(t, accountApproved)); err == nil {
			t.Errorf("gave %+v", o)
		}
	})
}
