package recon

import (
	"time"

	"sepad/internal/payment"
)

// A line about somebody who was erased after what it tells of is taken in without
// what names the person. One about something later is about somebody new, who may
// come back like everybody. A reference is never given to two payments, so that
// whenever it comes it is about the same one.

func (r *running) forgetPayer(t *payment.Transaction) {
	if r.memory.KnowsEmail(t.Email, t.ProcessedAt) || r.memory.KnowsPayment(t.MerchantTransactionID, time.Time{}) {
		t.HolderName, t.Email, t.MaskedIBAN, t.BIC = "", "", "", ""
	}
}

// forgetDebtor goes by when the payment was made, where the line says so: it may
// come back long after its payer was erased.
func (r *running) forgetDebtor(c *payment.Chargeback) {
	at := c.TransactionAt
	if at.IsZero() {
		at = c.ReportedAt
	}
	if r.memory.KnowsEmail(c.Email, at) || r.memory.KnowsPayment(c.MerchantTransactionID, time.Time{}) {
		c.Email, c.MaskedIBAN, c.BIC, c.ReportMessage, c.ReportInfo = "", "", "", "", ""
	}
}
