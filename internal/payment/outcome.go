package payment

import "time"

// DeclineCode is a normalized reason for a refusal (contract 2.9). The list only
// ever grows.
type DeclineCode string

const (
	InsufficientFunds  DeclineCode = "insufficient_funds"
	InvalidIBAN        DeclineCode = "invalid_iban"
	MandateRejected    DeclineCode = "mandate_rejected"
	AccountClosed      DeclineCode = "account_closed"
	DoNotHonor         DeclineCode = "do_not_honor"
	GatewayUnavailable DeclineCode = "gateway_unavailable"
	DeclineUnknown     DeclineCode = "unknown"
)

// declineMessages are what we say when the gateway gives no words of its own.
var declineMessages = map[DeclineCode]string{
	InsufficientFunds:  "The account balance does not cover this payment.",
	InvalidIBAN:        "The bank does not know this account or does not accept it.",
	MandateRejected:    "The bank did not accept the direct debit mandate.",
	AccountClosed:      "The account is closed or blocked.",
	DoNotHonor:         "The bank refused the payment without giving a reason.",
	GatewayUnavailable: "The payment provider could not be reached.",
	DeclineUnknown:     "The payment was refused.",
}

// DeclineCodes lists every code.
func DeclineCodes() []DeclineCode {
	return []DeclineCode{
		InsufficientFunds, InvalidIBAN, MandateRejected, AccountClosed,
		DoNotHonor, GatewayUnavailable, DeclineUnknown,
	}
}

// Hard tells that trying again later cannot help, so that rebills stop.
func (c DeclineCode) Hard() bool {
	return c == AccountClosed || c == MandateRejected || c == InvalidIBAN
}

// Decline is why a gateway refused.
type Decline struct {
	Code           DeclineCode
	Message        string // "" falls back to our own words
	GatewayCode    string
	GatewayMessage string
}

// Words is the sentence to show for the refusal.
func (d Decline) Words() string {
	if d.Message != "" {
		return d.Message
	}
	return declineMessages[d.Code]
}

// Verdict is what a gateway decided.
type Verdict string

const (
	// VerdictApproved: the money is collected, or will be without our doing.
	VerdictApproved Verdict = "approved"
	// VerdictPending: taken in by a batch gateway that settles later.
	VerdictPending Verdict = "pending"
	// VerdictVerify: the payer must confirm the mandate first.
	VerdictVerify Verdict = "verification_required"
	// VerdictDeclined: refused; Decline says why.
	VerdictDeclined Verdict = "declined"
	// VerdictUnsent: no connection was made, so nothing can have been taken
	// and no attempt is used up.
	VerdictUnsent Verdict = "unsent"
	// VerdictLost: asked later, the gateway says that it never got the payment. It says so in vain
	// of one that it had taken in (Debit.IsDeniedBy).
	VerdictLost Verdict = "lost"
)

// Outcome is a gateway's answer to a payment, a verification or a question.
// It is always a known answer: where we do not know, there is no Outcome.
type Outcome struct {
	Verdict Verdict
	// GatewayReference is the gateway's own id of the payment, "" until it has one.
	GatewayReference string
	// Final is set on a decline after which the gateway takes no further
	// attempt for this payer, whatever attempts are left.
	Final   bool
	Decline Decline

	// VerificationURL and VerificationReference go with VerdictVerify.
	VerificationURL       string
	VerificationReference string

	// SettlesAt is when a pending payment is expected to be settled; zero when
	// the gateway does not say.
	SettlesAt time.Time
	// Plan is how a pending payment will be collected, where that is known.
	Plan Plan
}

// Undecided is what a gateway says that gives no answer, or none of use.
var Undecided = Outcome{Verdict: VerdictPending}

// decline gives the reason to record for an outcome that collected nothing.
func (o Outcome) decline() *Decline {
	switch o.Verdict {
	case VerdictDeclined:
		d := o.Decline
		if d.Code == "" {
			d.Code = DeclineUnknown
		}
		return &d
	case VerdictUnsent:
		d := o.Decline
		d.Code = GatewayUnavailable
		return &d
	case VerdictLost:
		return &Decline{Code: GatewayUnavailable, Message: "The payment provider never received the payment."}
	default:
		return nil
	}
}
