package sandbox

import (
	"slices"

	"sepad/internal/sepa"
)

// TestIBAN is an account whose payments have a certain outcome.
type TestIBAN struct {
	IBAN        string  `json:"iban"`
	Country     string  `json:"country"`
	Outcome     Outcome `json:"outcome"`
	Description string  `json:"description"`
}

// testIBANs is what developers are shown, in the order in which they are
// likely to want them. All of them pass every check of a real IBAN.
var testIBANs = []TestIBAN{
	{"DE89370400440532013000", "DE", Approved, "Approved at once."},
	{"AT611904300234573201", "AT", Approved, "Approved at once, Austrian account."},
	{"FR1420041010050500013M02606", "FR", Approved, "Approved at once, French account."},
	{"NL91ABNA0417164300", "NL", Approved, "Approved at once, Dutch account."},
	{"DE62370400440532013001", "DE", DeclinedInsufficientFunds, "Declined: the balance does not cover the payment."},
	{"DE51370400440532013005", "DE", DeclinedInvalidIBAN, "Declined: the bank does not know the account."},
	{"DE24370400440532013006", "DE", DeclinedMandateRejected, "Declined: the bank does not accept the mandate."},
	{"DE94370400440532013007", "DE", DeclinedAccountClosed, "Declined: the account is closed."},
	{"DE67370400440532013008", "DE", DeclinedDoNotHonor, "Declined: the bank gives no reason."},
	{"DE40370400440532013009", "DE", DeclinedUnknown, "Declined: with a reason that has no code of its own."},
	{"DE13370400440532013010", "DE", DeclinedFinal, "Declined for good: the session fails, whatever attempts are left."},
	{"DE83370400440532013011", "DE", GatewayUnavailable, "No connection is made: nothing is sent and no attempt is used up."},
	{"DE56370400440532013012", "DE", VerificationApproved, "Asks for verification of the mandate; the verify call approves."},
	{"DE29370400440532013013", "DE", VerificationRejected, "Asks for verification of the mandate; the verify call rejects."},
	{"DE02370400440532013014", "DE", VerificationPage, "Asks for verification of the mandate; the payer decides on the simulated bank page."},
	{"DE08370400440532013003", "DE", PendingApproved, "Accepted as pending; settled one day later."},
	{"DE78370400440532013004", "DE", PendingDeclined, "Accepted as pending; refused one day later for lack of money."},
	{"DE35370400440532013002", "DE", Chargeback, "Approved; three days later the payer takes the money back (MD06)."},
	{"DE07370400440532013021", "DE", ReturnedInsufficientFunds, "Approved; returned three days later for lack of money (AM04), rebills alike."},
	{"DE77370400440532013022", "DE", ReturnedMandateRejected, "Approved; returned three days later for lack of a mandate (MD01), rebills alike."},
	{"DE50370400440532013023", "DE", ReturnedAccountClosed, "Approved; returned three days later, the account is closed (AC04), rebills alike."},
	{"DE72370400440532013015", "DE", TimeoutApproved, "No answer after sending; asked later, the gateway has approved it."},
	{"DE45370400440532013016", "DE", TimeoutLost, "No answer after sending; asked later, the gateway never got it."},
	{"DE18370400440532013017", "DE", Slow, "Approved after two seconds."},
	{"DE88370400440532013018", "DE", RebillDeclinedOnce, "Approved; the first try of each rebill is declined for lack of money."},
	{"DE61370400440532013019", "DE", RebillDeclined, "Approved; every try of a rebill is declined for lack of money."},
	{"DE34370400440532013020", "DE", RebillAccountClosed, "Approved; rebills are refused for good, the account is closed."},
}

// TestIBANs lists every test account.
func TestIBANs() []TestIBAN { return slices.Clone(testIBANs) }

// outcomeOf is what happens to an account: it is approved unless it is listed.
func outcomeOf(iban sepa.IBAN) Outcome {
	electronic := iban.Electronic()
	for _, test := range testIBANs {
		if test.IBAN == electronic {
			return test.Outcome
		}
	}
	return Approved
}
