package sandbox

import (
	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// reasonCodes are the bank's codes behind each refusal.
var reasonCodes = map[Outcome]string{
	DeclinedInsufficientFunds: "AM04",
	DeclinedInvalidIBAN:       "AC01",
	DeclinedMandateRejected:   "MD01",
	DeclinedAccountClosed:     "AC04",
	DeclinedDoNotHonor:        "MS03",
	DeclinedUnknown:           "NARR",
	DeclinedFinal:             "FRAD",
	VerificationRejected:      "MD01",
	VerificationPage:          "MD01",
	PendingDeclined:           "AM04",
	RebillDeclinedOnce:        "AM04",
	RebillDeclined:            "AM04",
	RebillAccountClosed:       "AC04",
}

// returnCodes are why the payer's bank takes back what was collected: the payer
// wants the money, or the bank learns too late that it should not have paid.
var returnCodes = map[Outcome]string{
	Chargeback:                "MD06",
	ReturnedInsufficientFunds: "AM04",
	ReturnedMandateRejected:   "MD01",
	ReturnedAccountClosed:     "AC04",
}

// refusalWords are said instead of the code's general meaning.
var refusalWords = map[Outcome]string{
	DeclinedUnknown:      "Refused for a reason given in words only.",
	VerificationRejected: "The payer rejected the mandate.",
	VerificationPage:     "The payer rejected the mandate.",
}

// answer is what the sandbox says of a payment as it stands.
func (a *Adapter) answer(e Entry) payment.Outcome {
	o := payment.Outcome{GatewayReference: e.Reference}
	switch e.State {
	case StateApproved:
		o.Verdict = payment.VerdictApproved
	case StatePending:
		o.Verdict, o.SettlesAt = payment.VerdictPending, e.SettlesAt
	case StateAwaiting:
		o.Verdict = payment.VerdictVerify
		o.VerificationReference, o.VerificationURL = e.VerificationReference, a.options.bankURL(e.VerificationReference)
	case StateClosed:
		o.Verdict = payment.VerdictDeclined
		o.Decline = gateway.DeclineFor("MD01", "The payer did not confirm the mandate in time.")
		o.Decline.Message = "The mandate was not verified in time."
	case StateDeclined:
		o.Verdict, o.Final = payment.VerdictDeclined, e.Outcome == DeclinedFinal
		o.Decline = gateway.DeclineFor(reasonCodes[e.Outcome], refusalWords[e.Outcome])
	}
	return o
}
