package gateway_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// wordsFrom gives what is left of a gateway's message.
func wordsFrom(t *testing.T, operation, message string) string {
	t.Helper()
	o, err := setup(t, payment.Outcome{
		Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.DoNotHonor, GatewayMessage: message},
	}, nil).ask(t, operation)
	if err != nil {
		t.Fatal(err)
	}
	return o.Decline.GatewayMessage
}

func TestGatewayWords(t *testing.T) {
	t.Parallel()
	t.Run("the payer's data are struck out of an answer", func(t *testing.T) {
		t.Parallel()
		for _, told := range []string{
			"account DE89370400440532013000 unknown", "account de89 3704 0044 0532 0130 00 unknown", "account 0532013000 unknown",
			"BBAN 37040044-0532013000", "holder WILHELMINE XANTHOPOULOS", "no Xanthopoulos here", "mail wilhelmine@quittenweg.example",
			"Quittenweg 77, 98765 Oberquell", "call +49305550199", "request from 203.0.113.77",
		} {
			left := strings.ToLower(wordsFrom(t, "submit", told))
			for _, secret := range []string{"0532013000", "0532 0130 00", "wilhelmine", "xanthopoulos", "quittenweg", "98765", "oberquell", "5550199", "203.0.113.77"} {
				if strings.Contains(left, secret) {
					t.Errorf("%q became %q", told, left)
				}
			}
		}
	})
	t.Run("account numbers and addresses are struck out of later answers", func(t *testing.T) {
		t.Parallel()
		for told, want := range map[string]string{
			"account AT611904300234573201 closed":     "account ****************3201 closed",
			"account AT61 1904 3002 3457 3201 closed": "account ****************3201 closed",
			"tell <someone@shop.example> about it":    "tell <[removed]> about it",
		} {
			if left := wordsFrom(t, "status", told); left != want {
				t.Errorf("%q became %q", told, left)
			}
		}
	})
	t.Run("ordinary words stay as they are", func(t *testing.T) {
		t.Parallel()
		for _, told := range []string{
			"AC04 The account is closed.", "MD01 no valid mandate for MND-ABCDEFGHIJKL", "Zurückgewiesen: Konto gelöscht", "TXN-20260302-ABCDEFGH",
		} {
			if left := wordsFrom(t, "submit", told); left != told {
				t.Errorf("%q became %q", told, left)
			}
		}
	})
	t.Run("words that no database takes are mended", func(t *testing.T) {
		t.Parallel()
		if left := wordsFrom(t, "submit", "two\r\nlines\x00 and \xff "); left != "two  lines  and \uFFFD" {
			t.Errorf("left %q", left)
		}
		if left := wordsFrom(t, "submit", strings.Repeat("ä", 10_000)); utf8.RuneCountInString(left) != 500 {
			t.Errorf("left %d characters", utf8.RuneCountInString(left))
		}
	})
}

func TestDeclineFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code, words string
		want        payment.Decline
	}{
		{"am04", "", payment.Decline{Code: payment.InsufficientFunds, GatewayCode: "AM04", GatewayMessage: "The account does not hold enough money."}},
		{"AC04", "Konto erloschen", payment.Decline{Code: payment.AccountClosed, GatewayCode: "AC04", GatewayMessage: "Konto erloschen"}},
		{"ZZ99", "odd", payment.Decline{Code: payment.DeclineUnknown, GatewayCode: "ZZ99", GatewayMessage: "odd"}},
	} {
		t.Run("the reason "+test.code+" is "+string(test.want.Code), func(t *testing.T) {
			t.Parallel()
			if got := gateway.DeclineFor(test.code, test.words); got != test.want {
				t.Errorf("gave %+v", got)
			}
		})
	}
}
