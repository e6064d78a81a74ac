package gateway

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sepad/internal/payment"
)

// operation is a kind of call, as logs and counters name it.
type operation string

const (
	operationSubmit operation = "submit"
	operationVerify operation = "verify"
	operationStatus operation = "status"
	operationRefund operation = "refund"
)

// expectedVerdicts says what can be answered to what. "Unsent" is nowhere: only
// ErrNotSent says it, and never of a question about an earlier payment, whose
// answer it would decide. "Lost" is no answer to what was just handed over.
var expectedVerdicts = map[operation][]payment.Verdict{
	operationSubmit: {payment.VerdictApproved, payment.VerdictPending, payment.VerdictVerify, payment.VerdictDeclined},
	operationVerify: {payment.VerdictApproved, payment.VerdictPending, payment.VerdictVerify, payment.VerdictDeclined},
	operationStatus: {payment.VerdictApproved, payment.VerdictPending, payment.VerdictVerify, payment.VerdictDeclined, payment.VerdictLost},
	operationRefund: {payment.VerdictApproved, payment.VerdictPending, payment.VerdictDeclined},
}

const (
	maxReference = 255
	maxURL       = 2048
)

// accept takes from an adapter's outcome what goes with its verdict, in a form
// that can be stored. An outcome that cannot be understood is an error, because
// the payment behind it may have been taken.
func (q question) accept(o payment.Outcome) (payment.Outcome, error) {
	if !slices.Contains(expectedVerdicts[q.operation], o.Verdict) {
		return payment.Outcome{}, fmt.Errorf("malformed answer: unexpected verdict %q", o.Verdict)
	}
	accepted := payment.Outcome{Verdict: o.Verdict, GatewayReference: usableReference(o.GatewayReference)}
	switch o.Verdict {
	case payment.VerdictPending:
		accepted.SettlesAt = o.SettlesAt
	case payment.VerdictDeclined:
		accepted.Final, accepted.Decline = o.Final, q.acceptDecline(o.Decline)
	case payment.VerdictVerify:
		return q.acceptVerification(accepted, o)
	}
	return accepted, nil
}

func (q question) acceptDecline(d payment.Decline) payment.Decline {
	return payment.Decline{
		Code: knownCode(d.Code), Message: q.private.clean(d.Message),
		GatewayCode: q.private.clean(d.GatewayCode), GatewayMessage: q.private.clean(d.GatewayMessage),
	}
}

// acceptVerification insists on an address when the payer is first sent there;
// later answers may leave it out.
func (q question) acceptVerification(accepted, o payment.Outcome) (payment.Outcome, error) {
	if usableURL(o.VerificationURL) {
		accepted.VerificationURL = o.VerificationURL
	}
	accepted.VerificationReference = usableReference(o.VerificationReference)
	if q.operation != operationSubmit {
		return accepted, nil
	}
	if !q.canVerify {
		return payment.Outcome{}, fmt.Errorf("malformed answer: a verification that the adapter cannot finish")
	}
	if accepted.VerificationURL == "" {
		return payment.Outcome{}, fmt.Errorf("malformed answer: a verification without an address for the payer")
	}
	return accepted, nil
}

// usableReference drops a reference that no column holds. The verdict beside it
// stays good, and our own reference finds the payment as well.
func usableReference(reference string) string {
	if utf8.ValidString(reference) && utf8.RuneCountInString(reference) <= maxReference &&
		!strings.ContainsFunc(reference, unicode.IsControl) {
		return reference
	}
	return ""
}

// usableURL tells whether a browser may be sent there.
func usableURL(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && len(address) <= maxURL && parsed.Host != "" &&
		(parsed.Scheme == "https" || parsed.Scheme == "http")
}
