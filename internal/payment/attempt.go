package payment

import "time"

// Submission is what a payer or a merchant's form hands in.
type Submission struct {
	Instrument        Instrument
	TenantReferenceID *string
	Source            Source
}

// Begin opens an attempt on a payable session: the transaction to record before
// the gateway is called, with the order it belongs to. Calling it decides
// nothing yet; the claim is the store's conditional write of the result.
func Begin(s Session, lead Lead, order *Order, sub Submission, now time.Time) (Change, error) {
	if err := s.CheckPayable(now); err != nil {
		return Change{}, err
	}
	if err := CheckPayer(sub.Instrument.IBAN, lead); err != nil {
		return Change{}, err
	}
	o, err := orderFor(s, order, now)
	if err != nil {
		return Change{}, err
	}
	c := changeOf(Debit{Session: &s, Order: order, LeadCountry: lead.Country, WebhookProfileID: s.WebhookProfileID})
	c.Order = &o
	c.Transaction = Transaction{
		ID: NewID(), TenantID: s.TenantID, SessionID: &s.ID, OrderID: &o.ID, LeadID: &lead.ID, GatewayID: s.GatewayID,
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
	if sub.TenantReferenceID == nil && s.TenantReferenceID != nil {
		c.Transaction.TenantReferenceID, c.Transaction.InheritsReference = s.TenantReferenceID, true
	}
	c.Transaction.SubscriptionID = s.RenewsID
	if c.Transaction.AmountMinor == 0 {
		c.Transaction.Type, c.Transaction.SequenceType = Mandate, ""
	}
	// The attempt counts from here on: after a crash nobody can tell whether
	// the gateway was reached. Settle gives it back when it surely was not.
	c.Session.AttemptsUsed++
	c.Session.OpenTransactionID, c.Session.LastTransactionID = &c.Transaction.ID, &c.Transaction.ID
	c.Session.UpdatedAt = now
	return c, nil
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
func (d Debit) BeginVerify(now time.Time) (Debit, error) {
	if err := d.Session.CheckVerifiable(now); err != nil {
		return Debit{}, err
	}
	return d.reopen(PhaseVerify, now), nil
}

// BeginExpire opens the question whether the gateway has collected a payment
// whose verification nobody finished in time.
func (d Debit) BeginExpire(now time.Time) (Debit, error) {
	if !d.Session.ranOutUnverified(now) {
		return Debit{}, Conflicting(DetailConflict)
	}
	return d.reopen(PhaseExpire, now), nil
}

func (d Debit) reopen(question Phase, now time.Time) Debit {
	d.Transaction.Attempt.Phase, d.Transaction.Attempt.LookupCount = question, 0
	d.Transaction.UpdatedAt = now
	d.Session = clone(d.Session)
	d.Session.OpenTransactionID, d.Session.UpdatedAt = &d.Transaction.ID, now
	return d
}
