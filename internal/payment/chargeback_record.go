package payment

import (
	"errors"
	"time"
)

// Sentences for chargebacks that cannot be recorded.
var (
	ErrChargedBack = Conflicting("The payment was charged back already.")

	errChargebackDeclined   = Conflicting("A declined payment cannot be charged back.")
	errChargebackType       = Conflicting("Only a payment can be charged back.")
	errChargebackInFlight   = Conflicting("The payment is being processed.")
	errChargebackUnverified = Conflicting("The payment awaits verification: nothing has been collected.")
)

// ChargeBack records that the payer's bank took a collection back: the report
// says what is known of it, and what it leaves open is taken from the payment.
// What comes back had been collected, so that a payment of which we had not heard
// that is collected first. What follows for the subscription the reason says.
func (d Debit) ChargeBack(report Chargeback, policy Policy, now time.Time) (Change, error) {
	if err := checkChargeable(d.Transaction, report); err != nil {
		return Change{}, err
	}
	c, err := d.collect(policy, now)
	if err != nil {
		return Change{}, err
	}
	report.complete(c.Debit, now)
	report.ID, report.CreatedAt = NewID(), now
	c.Chargeback = &report
	c.Events = append(c.Events, newEvent(EventChargebackCreated, report.ID.String()))
	return c, c.takeBack(policy, now)
}

// collect is the debit with the collection that something later proves.
func (d Debit) collect(policy Policy, now time.Time) (Change, error) {
	if d.Transaction.IsDecided() {
		return changeOf(d), nil
	}
	return d.Settle(Outcome{Verdict: VerdictApproved}, policy, now)
}

// RecordUnlinked records a chargeback of a payment that we do not know (yet).
func RecordUnlinked(report Chargeback, now time.Time) Change {
	report.ID, report.CreatedAt, report.UpdatedAt = NewID(), now, now
	if report.ReportedAt.IsZero() {
		report.ReportedAt = now
	}
	return Change{Chargeback: &report, Events: []Event{newEvent(EventChargebackCreated, report.ID.String())}}
}

// recordChargeback records the chargeback of a payment that was brought in as charged back already: the payment stays as it is, and
// what came back, when and why is in no other record.
func (d Debit) recordChargeback(report Chargeback, now time.Time) (Change, error) {
	if err := checkSum(d.Transaction, report); err != nil {
		return Change{}, err
	}
	report.complete(d, now)
	return RecordUnlinked(report, now), nil
}

// LinkChargeback applies a chargeback that was recorded before its payment was
// known. It was reported then, so that only the payment's change is told: nothing of one
// that was brought in as charged back, if it has no other chargeback.
func (d Debit) LinkChargeback(known Chargeback, other *Chargeback, policy Policy, now time.Time) (Change, error) {
	err := checkChargeable(d.Transaction, known)
	if errors.Is(err, ErrChargedBack) && other == nil {
		known.complete(d, now)
		return Change{Chargeback: &known}, checkSum(d.Transaction, known)
	}
	if err != nil {
		return Change{}, err
	}
	c, err := d.collect(policy, now)
	if err != nil {
		return Change{}, err
	}
	known.complete(c.Debit, now)
	c.Chargeback = &known
	return c, c.takeBack(policy, now)
}

// checkChargeable refuses a chargeback that cannot be one of the payment. Nothing
// comes back that was not collected; a gateway that reports one by itself knows of
// the collection, whatever we were told so far.
func checkChargeable(t Transaction, report Chargeback) error {
	switch {
	case t.Type != Sale && t.Type != Rebill:
		return errChargebackType
	case t.IsDeclined():
		return errChargebackDeclined
	case t.IsChargedBack():
		return ErrChargedBack
	case t.InFlight() && report.Source != ChargebackNotified:
		return errChargebackInFlight
	case t.AwaitsVerification() && report.Source != ChargebackNotified:
		return errChargebackUnverified
	default:
		return checkSum(t, report)
	}
}

// checkSum refuses a chargeback of more than was paid, or of other money.
func checkSum(t Transaction, report Chargeback) error {
	switch {
	case report.AmountMinor > t.AmountMinor:
		return Fields{"amount": "The payment's amount is " + t.AmountMinor.String() + ": no more can be charged back."}.Err()
	case report.Currency != "" && report.Currency != t.Currency:
		return Fields{"currency": "The payment's currency is " + t.Currency + "."}.Err()
	default:
		return nil
	}
}

// checkReportDate refuses a day on which nobody can have reported a chargeback
// of the payment: before it was made, or ahead of today. A day ahead is granted
// to whoever counts days in another zone.
func checkReportDate(t Transaction, report Chargeback, now time.Time) error {
	made := t.ProcessedAt
	if made.IsZero() {
		made = t.CreatedAt
	}
	switch at := report.ReportedAt; {
	case at.IsZero():
		return nil
	case DateOf(at).Start().Before(DateOf(made).Start()):
		return Fields{"report_date": "The payment was made on " + DateOf(made).String() + ": it cannot have been charged back before."}.Err()
	case at.After(now.AddDate(0, 0, 1)):
		return Fields{"report_date": "This day lies in the future."}.Err()
	default:
		return nil
	}
}

// ChargeBackByHand is ChargeBack for what an operator writes down, who may
// mistype a date: files and gateways keep their own.
func (d Debit) ChargeBackByHand(report Chargeback, policy Policy, now time.Time) (Change, error) {
	if err := checkReportDate(d.Transaction, report, now); err != nil {
		return Change{}, err
	}
	return d.ChargeBack(report, policy, now)
}

// complete fills in from the payment what the report leaves open.
func (r *Chargeback) complete(d Debit, now time.Time) {
	t := d.Transaction
	r.TenantID, r.GatewayID, r.TransactionID, r.LeadID = t.TenantID, t.GatewayID, &t.ID, t.LeadID
	r.TenantReferenceID, r.UpdatedAt = t.TenantReferenceID, now
	fill(&r.MerchantTransactionID, t.MerchantTransactionID)
	fill(&r.GatewayReference, t.GatewayReference)
	fill(&r.AmountMinor, t.AmountMinor)
	fill(&r.Currency, t.Currency)
	fill(&r.MaskedIBAN, t.MaskedIBAN)
	fill(&r.BIC, t.BIC)
	fill(&r.Email, t.Email)
	fill(&r.Country, d.LeadCountry)
	fill(&r.Country, t.IBANCountry)
	if r.ReportedAt.IsZero() {
		r.ReportedAt = now
	}
	if r.TransactionAt.IsZero() {
		r.TransactionAt = t.ProcessedAt
	}
}

// fill takes a value where there is none yet.
func fill[T comparable](to *T, from T) {
	var none T
	if *to == none {
		*to = from
	}
}

// takeBack moves the payment and all that hangs on it.
func (c *Change) takeBack(policy Policy, now time.Time) error {
	if err := c.move(ChargedBack, now); err != nil {
		return err
	}
	c.earn(-c.Chargeback.AmountMinor, now)
	return c.followReturn(policy, now)
}
