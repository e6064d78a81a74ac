package payment

import (
	"slices"
	"time"
)

// IsBroughtIn tells a payment or refund of which nothing is known but what a processor has
// reported: a file or a notification has brought it, and no session, subscription or
// payment of ours has led to it.
func (t Transaction) IsBroughtIn() bool {
	isReported := t.Source == SourceImport || t.Source == SourceWebhook
	return isReported && t.SessionID == nil && t.SubscriptionID == nil && t.RefundOf == nil
}

// IsRebill tells that a payment which was brought in is a rebill that a restored
// database has lost. No other payment could have its name, whatever its amount is.
func (t Transaction) IsRebill(rebill Transaction) bool {
	return t.IsBroughtIn() && t.MerchantTransactionID == rebill.MerchantTransactionID && t.GatewayID == rebill.GatewayID &&
		t.Type.Standardized() == string(Sale)
}

// Recognize makes of a rebill that was to be sent the one that was brought in: what
// has become of that follows for the subscription. The chargeback is what is known of
// one, if it was charged back.
func (c Change) Recognize(brought Transaction, chargeback Chargeback, policy Policy, now time.Time) (Change, error) {
	before := c.Before
	c.Transaction.ID, c.Transaction.AmountMinor, c.Transaction.Currency = brought.ID, brought.AmountMinor, brought.Currency
	c.Subscription = clone(c.Subscription)
	c.Subscription.OpenTransactionID = &brought.ID
	known, err := c.Settle(ReportedOutcome(brought), policy, now)
	if err == nil && brought.Status == TransactionRefunded {
		known, err = known.RefundElsewhere(policy, now)
	}
	if err == nil && brought.Status == TransactionChargedBack {
		known, err = known.ChargeBack(chargeback, policy, now)
	}
	known.Before = before
	return known, err
}

// mostAlike bounds how many refunds of one amount a payment can have had.
const mostAlike = 100

// GivesBack tells that a refund which was brought in is one of a payment that a restored
// database has lost: no other one could have its name.
func (t Transaction) GivesBack(paid Transaction) bool {
	if !t.IsBroughtIn() || t.Type != Refund || t.GatewayID != paid.GatewayID || t.Currency != paid.Currency {
		return false
	}
	return slices.Contains(AllRefunds(paid, t.AmountMinor), t.MerchantTransactionID)
}

// RecognizeRefund makes of a refund that was brought in one of the payment that it gives
// back. Where a report has marked the payment as given back, it is counted already.
func (d Debit) RecognizeRefund(brought Transaction, now time.Time) (c Change, refund Transaction, err error) {
	if err := checkRefundable(d.Transaction); err != nil {
		return c, brought, err
	}
	c, refund = changeOf(d), brought
	refund.relate(d.Transaction)
	left := d.Transaction.RefundableMinor()
	if brought.IsDecided() {
		return c, refund, c.giveBack(min(brought.AmountMinor, left), now)
	}
	if brought.AmountMinor > left {
		return c, brought, ErrContradicts
	}
	c.Transaction.RefundingMinor += brought.AmountMinor
	return c, refund, nil
}
