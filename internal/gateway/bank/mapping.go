package bank

import (
	"sepad/internal/gateway"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
)

// refusals say how a payer hears of what a bank would refuse, by the field that is wrong. Fields that are not listed
// are ours to get right.
var refusals = map[string]struct {
	code     payment.DeclineCode
	sentence string
}{
	"account": {payment.InvalidIBAN, "The account cannot be debited."},
	"bic":     {payment.InvalidIBAN, "The account's bank is not known."},
	"address": {payment.InvalidIBAN, "An account in this country needs the account holder's address."},
	"town":    {payment.InvalidIBAN, "An account in this country needs the account holder's town."},
	"name":    {payment.MandateRejected, "Enter the account holder's name in Latin, Greek or Cyrillic letters."},
}

// refusal turns the first fault that keeps a payment out of a file into a decline.
func refusal(faults []iso20022.Fault) (payment.Decline, bool) {
	for _, fault := range faults {
		if !fault.Fatal {
			continue
		}
		decline := payment.Decline{Code: payment.DeclineUnknown, GatewayMessage: fault.Field + ": " + fault.Text}
		if known, listed := refusals[fault.Field]; listed {
			decline.Code, decline.Message = known.code, known.sentence
		}
		return decline, true
	}
	return payment.Decline{}, false
}

// RejectedOutcome is what a bank's refusal means, of a collection before settlement or of a refund. Its words go to the merchant, and
// banks name accounts in them.
func RejectedOutcome(reason iso20022.Reason) payment.Outcome {
	return payment.Outcome{Verdict: payment.VerdictDeclined, Decline: gateway.DeclineFor(CodeOf(reason), gateway.CleanWords(reason.Text))}
}

// CodeOf is the reason as the table of reasons knows it; a bank that gives none has it in words.
func CodeOf(reason iso20022.Reason) string {
	if reason.Code == "" {
		return "NARR"
	}
	return reason.Code
}
