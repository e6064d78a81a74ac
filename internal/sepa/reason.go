package sepa

import "strings"

// The normalised decline codes of contract 2.9, as far as a bank's reason can lead to them.
const (
	declineInsufficientFunds  = "insufficient_funds"
	declineInvalidIBAN        = "invalid_iban"
	declineMandateRejected    = "mandate_rejected"
	declineAccountClosed      = "account_closed"
	declineDoNotHonor         = "do_not_honor"
	declineGatewayUnavailable = "gateway_unavailable"
	declineUnknown            = "unknown"
)

// Reason is what a bank's ISO 20022 reason code means for a direct debit.
type Reason struct {
	Code      string // as the bank sent it, upper-case; kept beside the normalised code
	Meaning   string
	Decline   string // the normalised decline code
	Retryable bool   // the same debit may succeed later without anybody mending anything
}

// ReasonFor translates a reason code. One that is not in the table is an unknown decline that is not retried by itself:
// a new code must never look like the payer's fault.
func ReasonFor(code string) Reason {
	code = strings.ToUpper(strings.TrimSpace(code))
	for i := range reasons {
		if reasons[i].Code == code {
			return reasons[i]
		}
	}
	return Reason{Code: code, Meaning: "The bank gave a reason that is not known here.", Decline: declineUnknown}
}

// Reasons gives the whole table for documentation, ordered as it is read: by whose fault it is.
func Reasons() []Reason { return append([]Reason(nil), reasons...) }
