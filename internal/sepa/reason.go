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

// Side is on whose side the reason lies.
type Side string

// The sides.
const (
	SidePayer     Side = "payer"     // the account, its money, its holder or the mandate
	SideCreditor  Side = "creditor"  // ours: identifier, account, bank, or what stood in the file
	SideBank      Side = "bank"      // the payer's bank, or the law, without blaming either
	SideTechnical Side = "technical" // clearing and settlement
)

// Consequence is what a reason means for the subscription whose debit was refused or came back.
type Consequence string

// The consequences.
const (
	// FollowsRetry: a failed billing. The same debit may succeed later.
	FollowsRetry Consequence = "retry"
	// FollowsEnd: nothing can be collected from this account under this mandate any more.
	FollowsEnd Consequence = "end"
	// FollowsClaim: the payer took the money back. Whether that ends the subscription is the merchant's to say.
	FollowsClaim Consequence = "claim"
	// FollowsCreditor: our mistake, which ends nothing. It would refuse every other debit too, so that the account's
	// rebills wait until a person has mended it.
	FollowsCreditor Consequence = "creditor"
	// FollowsUnsaid: the code does not tell. A refused debit is a failed billing then, and money that came back counts as
	// a claim: collecting once more what a payer may have taken back is the worse mistake.
	FollowsUnsaid Consequence = "unsaid"
)

// Reason is what a bank's ISO 20022 reason code means for a direct debit.
type Reason struct {
	Code    string // as the bank sent it, upper-case; kept beside the normalised code
	Meaning string
	Side    Side
	Decline string // the normalised decline code
	Follows Consequence
}

// ReasonFor translates a reason code. One that is not in the table is an unknown decline from which nothing follows by
// itself: a new code must never look like the payer's fault.
func ReasonFor(code string) Reason {
	code = strings.ToUpper(strings.TrimSpace(code))
	for i := range reasons {
		if reasons[i].Code == code {
			return reasons[i]
		}
	}
	return Reason{
		Code: code, Meaning: "The bank gave a reason that is not known here.",
		Side: SideBank, Decline: declineUnknown, Follows: FollowsUnsaid,
	}
}

// AfterReturn is what follows when the money had been collected and came back.
func (r Reason) AfterReturn() Consequence {
	if r.Follows == FollowsUnsaid {
		return FollowsClaim
	}
	return r.Follows
}

// AfterRefusal is what follows when the debit was refused before any money moved.
func (r Reason) AfterRefusal() Consequence {
	if r.Follows == FollowsUnsaid {
		return FollowsRetry
	}
	return r.Follows
}

// Reasons gives the whole table for documentation, ordered as it is read: by whose fault it is.
func Reasons() []Reason { return append([]Reason(nil), reasons...) }
