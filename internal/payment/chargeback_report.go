package payment

import (
	"errors"
	"time"
)

// Sentences for reports that cannot be true of what is known.
var (
	errChargebackDiffers = Conflicting("The chargeback is known with another amount or currency.")
	errChargebackOfOther = Conflicting("The chargeback is known, and of another payment or gateway.")
	errChargebackGateway = Conflicting("The payment was made through another gateway.")
)

// Taken says what became of something that was reported to us.
type Taken string

const (
	TakenNew       Taken = "new"
	TakenUpdated   Taken = "updated"
	TakenUnchanged Taken = "unchanged"
)

// TakeChargeback decides what a processor's report of a chargeback amounts to,
// given the payment and an earlier chargeback of the same name, each nil where
// none is known, and the one that the payment has, by any name. The same one from
// any source is one chargeback; one whose payment is not known yet is recorded
// without it. A report must fit the payment to the cent: a part of a direct debit
// cannot be charged back.
func TakeChargeback(paid *Debit, earlier, recorded *Chargeback, report Chargeback, policy Policy, now time.Time) (Change, Taken, error) {
	if earlier != nil {
		return takeAgain(paid, *earlier, recorded, report, policy, now)
	}
	if paid == nil {
		return RecordUnlinked(report, now), TakenNew, nil
	}
	t := paid.Transaction
	switch {
	case report.GatewayID != t.GatewayID:
		return Change{}, "", errChargebackGateway
	case report.AmountMinor != 0 && report.AmountMinor != t.AmountMinor:
		return Change{}, "", Conflicting("The payment's amount is " + t.AmountMinor.String() + ".")
	}
	change, err := paid.ChargeBack(report, policy, now)
	if errors.Is(err, ErrChargedBack) && recorded == nil {
		change, err = paid.recordChargeback(report, now)
	}
	switch {
	case errors.Is(err, ErrChargedBack) && (report.AmountMinor != 0 && report.AmountMinor != recorded.AmountMinor ||
		report.Currency != "" && report.Currency != recorded.Currency):
		return Change{}, "", errChargebackDiffers
	case errors.Is(err, ErrChargedBack):
		return takeFee(*recorded, report, now)
	case errors.Is(err, errChargebackUnverified):
		return RecordUnlinked(report, now), TakenNew, nil // a line that no collection of ours fits
	case err != nil:
		return Change{}, "", err
	}
	return change, TakenNew, nil
}

// takeAgain is for a chargeback that is known: all that a further report can
// change is that its payment is known by now, and what the bank takes for it.
func takeAgain(paid *Debit, earlier Chargeback, recorded *Chargeback, report Chargeback, policy Policy, now time.Time) (Change, Taken, error) {
	switch {
	case earlier.AmountMinor != report.AmountMinor || earlier.Currency != report.Currency:
		return Change{}, "", errChargebackDiffers
	case earlier.GatewayID != report.GatewayID, earlier.TransactionID != nil && paid != nil && *earlier.TransactionID != paid.Transaction.ID:
		return Change{}, "", errChargebackOfOther // processors number theirs anew, and one must not pass for another
	case earlier.TransactionID != nil || paid == nil:
		return takeFee(earlier, report, now)
	}
	charged, _ := earlier.charge(report, now)
	change, err := paid.LinkChargeback(charged, recorded, policy, now)
	if errors.Is(err, errChargebackUnverified) {
		return takeFee(earlier, report, now)
	}
	if err != nil {
		return Change{}, "", err
	}
	return change, TakenUpdated, nil
}

// takeFee takes what a further report says that a bank takes for a chargeback that is known.
func takeFee(known, report Chargeback, now time.Time) (Change, Taken, error) {
	charged, isMore := known.charge(report, now)
	if !isMore {
		return Change{}, TakenUnchanged, nil
	}
	return Change{Fee: &charged}, TakenUpdated, nil
}

// charge is the chargeback with what a report says that the bank takes for it, and whether that is more than was known. One
// return is told by several files, in any order, with its charges, with a part of them or without: the most that one
// of them says is all of it.
func (r Chargeback) charge(report Chargeback, now time.Time) (_ Chargeback, isMore bool) {
	fee := report.BankFeeMinor
	if fee == nil || r.BankFeeMinor != nil && *r.BankFeeMinor >= *fee {
		return r, false
	}
	r.BankFeeMinor, r.UpdatedAt = fee, now
	return r, true
}
