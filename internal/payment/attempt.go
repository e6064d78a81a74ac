package payment

import (
	"time"

	"github.com/google/uuid"
)

// Purchase is what is known of a session while it is being paid: the facts that
// an answer of the gateway changes together.
type Purchase struct {
	Session      Session
	Lead         Lead
	Order        Order
	Transaction  Transaction
	Subscription *Subscription
	// PreviousTransactionID names the attempt before one that is about to be
	// claimed, nil for the first: the claim rests on nothing having come between.
	PreviousTransactionID *uuid.UUID
}

// Submission is what a payer or a merchant's form hands in.
type Submission struct {
	Instrument        Instrument
	TenantReferenceID *string
	Source            Source
}

// Begin opens an attempt on a payable session: the transaction to record before
// the gateway is called, with the order it belongs to. Calling it decides
// nothing yet; the claim is the store's conditional write of the result.
func Begin(s Session, lead Lead, order *Order, sub Submission, now time.Time) (Purchase, error) {
	if err := s.CheckPayable(now); err != nil {
		return Purchase{}, err
	}
	p := Purchase{Session: s, Lead: lead, PreviousTransactionID: s.LastTransactionID}
	var err error
	if p.Order, err = orderFor(s, order, now); err != nil {
		return Purchase{}, err
	}
	p.Transaction = Transaction{
		ID: NewID(), TenantID: s.TenantID, SessionID: &s.ID, OrderID: &p.Order.ID, LeadID: &lead.ID, GatewayID: s.GatewayID,
		MerchantTransactionID: NewMerchantTransactionID(now), TenantReferenceID: sub.TenantReferenceID,
		Status: TransactionPending, Type: Sale, AmountMinor: s.Terms.DueMinor(), Currency: s.Terms.Currency,
		SequenceType: SequenceFirst, Source: sub.Source,
		MaskedIBAN: sub.Instrument.IBAN.Masked(), IBANCountry: sub.Instrument.IBAN.Country(),
		BIC: sub.Instrument.Bank.BIC, BankName: sub.Instrument.Bank.Name,
		HolderName: sub.Instrument.HolderName, Email: lead.Email,
		MandateReference: s.MandateReference, MandateAt: now,
		Attempt:   Attempt{Number: s.AttemptsUsed + 1, Phase: PhaseSubmit},
		CreatedAt: now, UpdatedAt: now,
	}
	if p.Transaction.AmountMinor == 0 {
		p.Transaction.Type, p.Transaction.SequenceType = Mandate, ""
	}
	// The attempt counts from here on: after a crash nobody can tell whether
	// the gateway was reached. Settle gives it back when it surely was not.
	p.Session.AttemptsUsed++
	p.Session.OpenTransactionID, p.Session.LastTransactionID = &p.Transaction.ID, &p.Transaction.ID
	p.Session.UpdatedAt = now
	return p, nil
}

// orderFor is the session's order, taken back to submission, or a new one.
func orderFor(s Session, order *Order, now time.Time) (Order, error) {
	if order == nil {
		return Order{ID: NewID(), SessionID: s.ID, Number: NewOrderNumber(), Status: OrderSubmitting, CreatedAt: now, UpdatedAt: now}, nil
	}
	status, err := follow(OrderRules, order.Status, Submitted)
	if err != nil { // the order was read while another attempt moved it
		return Order{}, Conflicting(DetailConflict)
	}
	again := *order
	again.Status, again.UpdatedAt = status, now
	return again, nil
}

// BeginVerify opens the question whether the mandate was verified.
func BeginVerify(p Purchase, now time.Time) (Purchase, error) {
	if err := p.Session.CheckVerifiable(now); err != nil {
		return Purchase{}, err
	}
	return p.reopen(PhaseVerify, now), nil
}

// BeginExpire opens the question whether the gateway has collected a payment
// whose verification nobody finished in time.
func BeginExpire(p Purchase, now time.Time) (Purchase, error) {
	if p.Session.Status != SessionAwaiting || p.Session.InFlight() || !p.Session.overdue(now) {
		return Purchase{}, Conflicting(DetailConflict)
	}
	return p.reopen(PhaseExpire, now), nil
}

func (p Purchase) reopen(phase Phase, now time.Time) Purchase {
	p.Transaction.Attempt.Phase, p.Transaction.Attempt.LookupCount = phase, 0
	p.Transaction.UpdatedAt = now
	p.Session.OpenTransactionID, p.Session.UpdatedAt = &p.Transaction.ID, now
	return p
}
