package bank_test

import (
	"testing"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/gateway/bank"
	"sepad/internal/gateway/gatewaytest"
	"sepad/internal/iso20022"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

const (
	germanAccount = "DE89370400440532013000"
	swissAccount  = "CH9300762011623852957"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	const byFile = "what became of a payment stands in the bank's files, which package banking reads"
	const noWire = "nothing is sent when a payment is made"
	gatewaytest.Run(t, gatewaytest.Suite{
		Open: func(*testing.T) gatewaytest.Gateway {
			// Files are written elsewhere, so that the adapter itself never collects.
			return gatewaytest.Gateway{Kind: bank.Kind(), Account: newAccount(), Debits: func(*testing.T, string) int { return 0 }}
		},
		Waiting: germanAccount,
		Lacks: map[gatewaytest.Part]string{
			gatewaytest.PartVerification: "a bank verifies no mandate",
			gatewaytest.PartPending:      byFile,
			gatewaytest.PartStatus:       byFile,
			gatewaytest.PartUnreachable:  noWire,
			gatewaytest.PartHanging:      noWire,
			gatewaytest.PartMalformed:    noWire,
			gatewaytest.PartRefund:       "a refund waits for a file of credit transfers, which package banking writes",
			gatewaytest.PartNotification: byFile,
		},
	})
}

func newAccount() gateway.Account {
	return gateway.Account{ID: uuid.New(), TenantID: uuid.New(), Name: "House bank", Settings: merchant.Settings{
		"account_iban": germanAccount, "folder": "/var/lib/bank",
	}}
}

func TestWhatNoBankWouldTakeIsDeclinedAtOnce(t *testing.T) {
	t.Parallel()
	client, err := gateway.NewClient(bank.Kind(), newAccount(), gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change  func(*gateway.Charge)
		verdict payment.Verdict
		code    payment.DeclineCode
	}{
		"an account outside the EEA with its holder's address waits": {
			func(*gateway.Charge) {}, payment.VerdictPending, "",
		},
		"an account outside the EEA without an address is declined": {
			func(c *gateway.Charge) { c.Lead = payment.Lead{} }, payment.VerdictDeclined, payment.InvalidIBAN,
		},
		"a name of which nothing can be written is declined": {
			func(c *gateway.Charge) { c.Instrument.HolderName = "李小龍" }, payment.VerdictDeclined, payment.MandateRejected,
		},
		"an amount that no file can hold is declined": {
			func(c *gateway.Charge) { c.AmountMinor = iso20022.MaxAmountMinor + 1 }, payment.VerdictDeclined, payment.DeclineUnknown,
		},
		"a mandate alone needs no bank": {
			func(c *gateway.Charge) { c.AmountMinor = 0 }, payment.VerdictApproved, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			charge := gatewaytest.NewCharge(t, swissAccount)
			test.change(&charge)
			outcome, err := client.Submit(t.Context(), charge)
			if err != nil || outcome.Verdict != test.verdict || outcome.Decline.Code != test.code {
				t.Errorf("gave %q, %+v, %v", outcome.Verdict, outcome.Decline, err)
			}
		})
	}
}

func TestRejectedOutcome(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]payment.DeclineCode{"AM04": payment.InsufficientFunds, "AC04": payment.AccountClosed, "": payment.DeclineUnknown} {
		if o := bank.RejectedOutcome(iso20022.Reason{Code: code}); o.Verdict != payment.VerdictDeclined || o.Decline.Code != want {
			t.Errorf("%q gives %q, %q", code, o.Verdict, o.Decline.Code)
		}
	}
}
