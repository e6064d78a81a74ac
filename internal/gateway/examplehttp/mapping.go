package examplehttp

import (
	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// verdicts lead from the provider's words to ours. A word that is not here gives
// no verdict, and the outcome is unknown.
var verdicts = map[string]payment.Verdict{
	"collected":       payment.VerdictApproved,
	"refunded":        payment.VerdictApproved,
	"processing":      payment.VerdictPending,
	"action_required": payment.VerdictVerify,
	"refused":         payment.VerdictDeclined,
}

// outcomeOf takes everything that the provider says; the client around the
// adapter keeps what goes with the verdict.
func outcomeOf(body answerBody) payment.Outcome {
	o := payment.Outcome{
		Verdict: verdicts[body.Status], GatewayReference: body.ID, Final: body.Closed, SettlesAt: body.SettlesAt,
		VerificationURL: body.Action.URL, VerificationReference: body.Action.ID,
	}
	if o.Verdict == payment.VerdictDeclined {
		o.Decline = gateway.DeclineFor(body.Reason, body.Text)
	}
	return o
}
