package notice

import (
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Mail is the mail that a change asks for, nil for none. One that is only for
// changes is for the store to judge, which knows what was collected before.
func Mail(tenant merchant.Tenant, c payment.Change) (mail *store.Mail, onlyIfChanged bool) {
	t := c.Transaction
	if c.Plan.DueDate.IsZero() || t.Email == "" || !tenant.Notices.Sends() {
		return nil, false
	}
	mail = &store.Mail{
		ID: payment.NewID(), TenantID: t.TenantID, Key: t.ID.String() + ":" + c.Plan.DueDate.String(), Kind: store.MailAnnounced,
		TransactionID: t.ID, Plan: c.Plan,
	}
	isMoved := !c.Before.Transaction.DueDate.IsZero()
	if isMoved {
		mail.Kind = store.MailMoved
	}
	// A first collection, a repeated try and another day are what a payer cannot expect.
	isRegular := t.Type == payment.Rebill && t.SequenceType == payment.SequenceRecurring && t.Attempt.Number == 1 && !isMoved
	return mail, isRegular && tenant.Notices.Send == merchant.SendFirstAndChanges
}
