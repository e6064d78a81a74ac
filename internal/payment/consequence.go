package payment

import (
	"time"

	"sepad/internal/sepa"
)

// CancelReason says why a subscription has ended.
type CancelReason string

const (
	CancelledByMerchant   CancelReason = "merchant"
	CancelledByOperator   CancelReason = "operator"
	CancelledByDunning    CancelReason = "dunning"        // every try of a period was refused
	CancelledByRefusal    CancelReason = "refusal"        // for a reason after which nothing is tried again
	CancelledByChargeback CancelReason = "chargeback"     // the money came back, and the reason ends it
	CancelledByLapse      CancelReason = "mandate_lapsed" // not used for 36 months
)

// follows is what a refusal means for the subscription. The bank's own code says
// it best; without one that tells, the normalised code decides.
func (o Outcome) follows() sepa.Consequence {
	reason := sepa.ReasonFor(o.Decline.GatewayCode)
	switch {
	case o.Verdict != VerdictDeclined || o.Decline.Code == GatewayUnavailable:
		return sepa.FollowsRetry
	case reason.Follows == sepa.FollowsCreditor:
		return sepa.FollowsCreditor
	case o.Final || o.Decline.Code.Hard() || reason.Follows == sepa.FollowsEnd || reason.Follows == sepa.FollowsClaim:
		return sepa.FollowsEnd
	default:
		return sepa.FollowsRetry
	}
}

// wasOurs tells that no bank has refused the payer: nothing was sent, or what was
// sent was our own mistake. Such a try is no failed billing. One that the gateway
// has lost is: it was sent, and a gateway that loses the same debit every time must
// not be asked for it for ever.
func (o Outcome) wasOurs() bool {
	return o.Verdict == VerdictUnsent || o.follows() == sepa.FollowsCreditor
}

// reasonCode names a refusal: the bank's code, else the normalised one.
func (d Decline) reasonCode() string {
	if d.GatewayCode != "" {
		return d.GatewayCode
	}
	return string(d.Code)
}

// followReturn acts on money that came back, by the bank's reason: a failed
// billing, the end, the payer's claim, or a mistake of ours that ends nothing.
func (c *Change) followReturn(policy Policy, now time.Time) error {
	reason := sepa.ReasonFor(c.Chargeback.ReasonCode)
	switch reason.AfterReturn() {
	case sepa.FollowsCreditor:
		c.PausesRebills = reason.Code
		return nil
	case sepa.FollowsRetry:
		return c.billAgain(policy.Dunning, now)
	case sepa.FollowsClaim:
		if policy.KeepsClaimed {
			return nil
		}
	default:
		if c.wasUnderAnotherMandate() {
			return c.billUnderNewMandate(reason, policy.Dunning, now)
		}
	}
	return c.endSubscription(ChargedBack, CancelledByChargeback, c.Chargeback.ReasonCode, now)
}

// billUnderNewMandate follows the return of a collection that was made before the payer gave another
// account: what was wrong with the old one is no word on the new. Where the old mandate was rejected
// nothing is collected again by itself, for the payer may have meant that very debit.
func (c *Change) billUnderNewMandate(reason sepa.Reason, dunning Dunning, now time.Time) error {
	if DeclineCode(reason.Decline) == MandateRejected {
		return nil
	}
	return c.billAgain(dunning, now)
}

// billAgain has the period collected again whose money came back. While another
// is being collected or tried again, it waits for its turn; after its last try the
// subscription ends all the same.
func (c *Change) billAgain(dunning Dunning, now time.Time) error {
	sub := c.Subscription
	if sub == nil || sub.Status == SubscriptionCancelled || sub.Frequency == "" {
		return nil
	}
	sub.FailedCount++
	period, tries := sub.periodOf(c.Transaction), 1
	if c.Transaction.Type == Rebill {
		tries = c.Transaction.Attempt.Number
	}
	if most := len(dunning); most > 0 && c.wasUnderAnotherMandate() {
		tries = min(tries, most) // the new account was not tried yet
	}
	if tries <= len(dunning) && (sub.OpenTransactionID != nil || sub.Tries > 0) {
		sub.Owed = sub.Owed.with(period)
		return nil
	}
	if sub.OpenTransactionID == nil && sub.Tries == 0 {
		sub.keepPlace(sub.Period, now)
	}
	return sub.tryAgain(period, tries, dunning, now)
}
