package gateway

import (
	"slices"

	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// DeclineFor turns a bank's ISO reason code into a decline. The bank's own words
// are kept when it gave some; a code that nobody knows is an unknown decline.
func DeclineFor(reasonCode, bankWords string) payment.Decline {
	reason := sepa.ReasonFor(reasonCode)
	if bankWords == "" {
		bankWords = reason.Meaning
	}
	return payment.Decline{
		Code: knownCode(payment.DeclineCode(reason.Decline)), GatewayCode: reason.Code, GatewayMessage: bankWords,
	}
}

// knownCode is the code itself when merchants know it, else "unknown".
func knownCode(code payment.DeclineCode) payment.DeclineCode {
	if slices.Contains(payment.DeclineCodes(), code) {
		return code
	}
	return payment.DeclineUnknown
}
