package payment

import "time"

// BringIn makes a record of a payment that a processor reports and that we did
// not know. A declined one is recorded and not told.
func BringIn(reported Transaction, o Outcome, source Source, now time.Time) Change {
	t := reported
	t.ID, t.Source, t.CreatedAt, t.UpdatedAt = NewID(), source, now, now
	fill(&t.MerchantTransactionID, t.GatewayReference)
	fill(&t.Type, Sale)
	if t.ProcessedAt.IsZero() {
		t.ProcessedAt = now
	}
	switch o.Verdict {
	case VerdictApproved:
		t.Status = TransactionApproved
	case VerdictDeclined:
		t.Status, t.Decline = TransactionDeclined, o.decline()
	default:
		t.Status = TransactionPending
	}
	return Created(t)
}

// Created is a record that is new to us. A declined one is not told.
func Created(t Transaction) Change {
	change := Change{Debit: Debit{Transaction: t}}
	if !t.IsDeclined() {
		change.Events = []Event{transactionCreated(t)}
	}
	return change
}

// Reported is what a processor's line means for a payment that is known.
type Reported string

const (
	ReportsNothing    Reported = ""
	ReportsOutcome    Reported = "outcome" // collected or refused after all
	ReportsRefund     Reported = "refund"  // given back whole, not through us
	ReportsChargeback Reported = "chargeback"
	contradiction     Reported = "contradiction"
)

// reportRules says what a line with a status means for a payment with another.
// What is given or taken back had been collected, so that a later status proves an
// earlier one, and an earlier one after it is no news.
var reportRules = map[TransactionStatus]map[TransactionStatus]Reported{
	TransactionPending: {
		TransactionApproved: ReportsOutcome, TransactionDeclined: ReportsOutcome,
		TransactionRefunded: ReportsRefund, TransactionChargedBack: ReportsChargeback,
	},
	TransactionApproved: {
		TransactionDeclined: contradiction, TransactionRefunded: ReportsRefund, TransactionChargedBack: ReportsChargeback,
	},
	TransactionDeclined: {
		TransactionApproved: contradiction, TransactionRefunded: contradiction, TransactionChargedBack: contradiction,
	},
	TransactionRefunded:    {TransactionDeclined: contradiction, TransactionChargedBack: ReportsChargeback},
	TransactionChargedBack: {TransactionDeclined: contradiction},
}

// Against holds what a processor reports of a payment against what is known of
// it, and says what follows; a report that cannot be true of it is refused with a
// sentence.
func (t Transaction) Against(reported Transaction) (Reported, error) {
	switch {
	case t.GatewayID != reported.GatewayID:
		return "", Conflicting("The reference belongs to a payment through another gateway.")
	case t.Type.Standardized() != reported.Type.Standardized():
		return "", Conflicting("The type is " + t.Type.Standardized() + " here and " + reported.Type.Standardized() + " in the report.")
	case t.AmountMinor != reported.AmountMinor:
		return "", Conflicting("The amount is " + t.AmountMinor.String() + " here and " + reported.AmountMinor.String() + " in the report.")
	case t.Currency != reported.Currency:
		return "", Conflicting("The currency is " + t.Currency + " here and " + reported.Currency + " in the report.")
	}
	means := reportRules[t.Status][reported.Status]
	if means == contradiction {
		return "", Conflicting("The status is " + string(t.Status) + " here and " + string(reported.Status) + " in the report.")
	}
	return means, nil
}

// ReportedOutcome is the verdict that a reported status amounts to.
func ReportedOutcome(reported Transaction) Outcome {
	o := Outcome{Verdict: VerdictApproved, GatewayReference: reported.GatewayReference}
	switch reported.Status {
	case TransactionDeclined:
		o.Verdict = VerdictDeclined
	case TransactionPending:
		o.Verdict = VerdictPending
	}
	return o
}

// RefundElsewhere books that a payment was given back whole and not through us, as
// a processor's file reports it.
func (d Debit) RefundElsewhere(policy Policy, now time.Time) (Change, error) {
	t := d.Transaction
	if err := checkRefundable(t); err != nil && t.IsDecided() {
		return Change{}, err
	}
	switch {
	case t.Type != Sale && t.Type != Rebill:
		return Change{}, errRefundType
	case t.Status == TransactionRefunded:
		return Change{}, Conflicting("The whole amount has been refunded already.")
	case t.InFlight() || t.AwaitsVerification():
		return Change{}, errChargebackInFlight
	case t.RefundingMinor > 0:
		return Change{}, Conflicting("A refund of the payment is being processed.")
	}
	c, err := d.collect(policy, now)
	if err != nil {
		return Change{}, err
	}
	c.earn(t.RefundedMinor-t.AmountMinor, now)
	c.Transaction.RefundedMinor = t.AmountMinor
	return c, c.move(FullyRefunded, now)
}
