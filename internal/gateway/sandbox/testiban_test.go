package sandbox_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"sepad/internal/gateway/gatewaytest"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// outcomes is the list that the operators' interface promises, and declined_final.
var outcomes = []sandbox.Outcome{
	"approved", "declined_insufficient_funds", "declined_invalid_iban", "declined_mandate_rejected",
	"declined_account_closed", "declined_do_not_honor", "declined_unknown", "declined_final", "gateway_unavailable",
	"verification_approved", "verification_rejected", "verification_page", "pending_approved", "pending_declined",
	"chargeback", "returned_insufficient_funds", "returned_mandate_rejected", "returned_account_closed", "timeout_approved", "timeout_lost", "slow", "rebill_declined_once", "rebill_declined",
	"rebill_account_closed",
}

func TestTestIBANs(t *testing.T) {
	t.Parallel()
	t.Run("every outcome has an account and every account an outcome", func(t *testing.T) {
		t.Parallel()
		promised := map[sandbox.Outcome]bool{}
		for _, outcome := range outcomes {
			promised[outcome] = true
			if ibanFor(outcome) == "" {
				t.Errorf("%s has no account", outcome)
			}
		}
		for _, test := range sandbox.TestIBANs() {
			if !promised[test.Outcome] || test.Description == "" {
				t.Errorf("%s: outcome %q, description %q", test.IBAN, test.Outcome, test.Description)
			}
		}
	})
	t.Run("every account is a distinct valid SEPA account of its country", func(t *testing.T) {
		t.Parallel()
		seen := map[string]bool{}
		for _, test := range sandbox.TestIBANs() {
			iban, err := sepa.ParseIBAN(test.IBAN)
			if err != nil || iban.Electronic() != test.IBAN || iban.Country() != test.Country {
				t.Errorf("%s is read as one of %q: %v", test.IBAN, iban.Country(), err)
			}
			if !sepa.InScheme(test.Country, gatewaytest.At) || seen[test.IBAN] {
				t.Errorf("%s is listed twice or outside SEPA", test.IBAN)
			}
			seen[test.IBAN] = true
		}
	})
	t.Run("approved accounts are German and others", func(t *testing.T) {
		t.Parallel()
		german, others := 0, 0
		for _, test := range sandbox.TestIBANs() {
			switch {
			case test.Outcome != sandbox.Approved:
			case test.Country == "DE":
				german++
			default:
				others++
			}
		}
		if german == 0 || others == 0 {
			t.Errorf("%d German and %d other approved accounts", german, others)
		}
	})
	t.Run("the list is printed with the documented names", func(t *testing.T) {
		t.Parallel()
		text, err := json.Marshal(sandbox.TestIBANs()[0])
		const want = `{"iban":"DE89370400440532013000","country":"DE","outcome":"approved","description":"Approved at once."}`
		if err != nil || string(text) != want {
			t.Errorf("printed as %s, %v", text, err)
		}
	})
	t.Run("an account that is not listed is approved", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		for _, iban := range []string{"DE02120300000000202051", "GB82WEST12345698765432", "CH9300762011623852957"} {
			if outcome := s.submit(gatewaytest.NewCharge(t, iban)); outcome.Verdict != payment.VerdictApproved {
				t.Errorf("%s is %s", iban, outcome.Verdict)
			}
		}
	})
}

var update = flag.Bool("update", false, "write the table of accounts in docs/guides/testing.md anew")

// TestTheGuideListsEveryAccount holds its table to ours.
func TestTheGuideListsEveryAccount(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../../docs/guides/testing.md", "<!-- accounts -->\n", "<!-- end of accounts -->"
	table := "| IBAN | outcome | what happens |\n|---|---|---|\n"
	for _, test := range sandbox.TestIBANs() {
		table += "| `" + test.IBAN + "` | `" + string(test.Outcome) + "` | " + test.Description + " |\n"
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	written, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("the guide has no place for the accounts")
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if written != table {
		t.Errorf("%s lists others: go test ./internal/gateway/sandbox -run Guide -update writes it", path)
	}
}
