package payment

import (
	"fmt"
	"time"
)

var errRefundType = Conflicting("Only a payment can be refunded.")

// BeginRefund opens a refund: the transaction to record before the gateway is
// called, and the payment with the amount set aside. Without an amount all
// that is left is given back. The claim is the store's conditional write.
func (d Debit) BeginRefund(amount *Minor, now time.Time) (Change, error) {
	if err := checkRefundable(d.Transaction); err != nil {
		return Change{}, err
	}
	left := d.Transaction.RefundableMinor()
	if amount == nil && left == 0 {
		return Change{}, Conflicting("The whole amount has been refunded or is being refunded.")
	}
	if amount == nil {
		amount = &left
	}
	if *amount <= 0 || *amount > left {
		return Change{}, Fields{"amount": "At most " + left.String() + " is left to refund."}.Err()
	}
	c := changeOf(d)
	c.Transaction.RefundingMinor += *amount
	refund := refundOf(d.Transaction, *amount, now)
	c.Refund = &refund
	return c, nil
}

// checkRefundable refuses what cannot be given back.
func checkRefundable(t Transaction) error {
	switch {
	case t.Type != Sale && t.Type != Rebill:
		return errRefundType
	case t.Status == TransactionPending:
		return Conflicting("A payment that has not been settled cannot be refunded.")
	case t.Status == TransactionDeclined:
		return Conflicting("A declined payment cannot be refunded.")
	case t.Status == TransactionChargedBack:
		return Conflicting("The payment was charged back: nothing can be refunded any more.")
	default:
		return nil
	}
}

// refundOf is the refund's own transaction.
func refundOf(sale Transaction, amount Minor, now time.Time) Transaction {
	refund := Transaction{
		ID: NewID(), TenantID: sale.TenantID, GatewayID: sale.GatewayID, MerchantTransactionID: RefundReference(sale, amount, 0),
		Status: TransactionPending, Type: Refund, AmountMinor: amount, Currency: sale.Currency, Source: SourceRefund,
		Attempt: Attempt{Number: 1, Phase: PhaseSubmit}, CreatedAt: now, UpdatedAt: now,
	}
	refund.relate(sale)
	return refund
}

// relate gives a refund the purchase's relations and account. It has no reference of
// the merchant's.
func (t *Transaction) relate(sale Transaction) {
	t.RefundOf, t.OrderID, t.SubscriptionID, t.LeadID = &sale.ID, sale.OrderID, sale.SubscriptionID, sale.LeadID
	t.MaskedIBAN, t.IBANCountry, t.BIC, t.BankName = sale.MaskedIBAN, sale.IBANCountry, sale.BIC, sale.BankName
	t.HolderName, t.Email, t.MandateReference, t.MandateAt = sale.HolderName, sale.Email, sale.MandateReference, sale.MandateAt
}

// settleRefund applies a gateway's answer to a refund: to one that was just
// submitted, or to one that it had taken in as pending.
func (c *Change) settleRefund(o Outcome, now time.Time) error {
	refund := c.Refund
	if refund.IsDecided() || refund.RefundOf == nil || *refund.RefundOf != c.Transaction.ID {
		return fmt.Errorf("payment: refund %s is not waiting to be settled", refund.ID)
	}
	// A refund that has been answered before was reported then.
	known := !refund.ProcessedAt.IsZero()
	refund.answer(o, now)
	switch o.Verdict {
	case VerdictApproved:
		return c.refunded(known, now)
	case VerdictPending:
		refund.SettleDueAt = settleDue(o, now)
		if !known {
			c.Events = append(c.Events, transactionCreated(*refund))
		}
		return nil
	case VerdictDeclined, VerdictLost, VerdictUnsent:
		refund.Decline = o.decline()
		return c.notRefunded(known)
	default:
		return fmt.Errorf("payment: verdict %q says nothing of a refund", o.Verdict)
	}
}

// refunded books a refund that went through.
func (c *Change) refunded(known bool, now time.Time) (err error) {
	previous := c.Refund.Status
	if c.Refund.Status, err = follow(TransactionRules, previous, Approved); err != nil {
		return err
	}
	if known {
		c.Events = append(c.Events, statusChanged(*c.Refund, previous))
	} else {
		c.Events = append(c.Events, transactionCreated(*c.Refund))
	}
	c.Transaction.RefundingMinor -= c.Refund.AmountMinor
	return c.giveBack(c.Refund.AmountMinor, now)
}

// giveBack books what a payer has back.
func (c *Change) giveBack(amount Minor, now time.Time) error {
	c.Transaction.RefundedMinor += amount
	c.earn(-amount, now)
	// A payment that was charged back meanwhile stays so.
	if c.Transaction.RefundedMinor < c.Transaction.AmountMinor || c.Transaction.Status != TransactionApproved {
		return nil
	}
	return c.move(FullyRefunded, now)
}

// notRefunded gives the amount that was set aside free again.
func (c *Change) notRefunded(known bool) (err error) {
	previous := c.Refund.Status
	if c.Refund.Status, err = follow(TransactionRules, previous, RefusedForGood); err != nil {
		return err
	}
	if known {
		c.Events = append(c.Events, statusChanged(*c.Refund, previous))
	}
	c.Transaction.RefundingMinor -= c.Refund.AmountMinor
	return nil
}
