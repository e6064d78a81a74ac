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

// Against holds what a processor reports of a payment against what is known of
// it. It says whether the report settles the payment; a report that cannot be
// true of it is refused with a sentence.
func (t Transaction) Against(reported Transaction) (settles bool, err error) {
	switch {
	case t.GatewayID != reported.GatewayID:
		return false, Conflicting("The reference belongs to a payment through another gateway.")
	case t.Type.Standardized() != reported.Type.Standardized():
		return false, Conflicting("The type is " + t.Type.Standardized() + " here and " + reported.Type.Standardized() + " in the report.")
	case t.AmountMinor != reported.AmountMinor:
		return false, Conflicting("The amount is " + t.AmountMinor.String() + " here and " + reported.AmountMinor.String() + " in the report.")
	case t.Currency != reported.Currency:
		return false, Conflicting("The currency is " + t.Currency + " here and " + reported.Currency + " in the report.")
	case t.Status == reported.Status || reported.Status == TransactionPending:
		return false, nil
	case t.Status == TransactionPending:
		return true, nil
	case reported.Status == TransactionApproved && t.Status != TransactionDeclined:
		return false, nil // what became of it later proves the report
	case t.Status == TransactionChargedBack && reported.Status == TransactionRefunded:
		return false, nil
	default:
		return false, Conflicting("The status is " + string(t.Status) + " here and " + string(reported.Status) + " in the report.")
	}
}

// ReportedOutcome is the verdict that a reported status amounts to. What was
// given or taken back had been collected.
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
