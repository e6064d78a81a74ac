package store

import "sepad/internal/payment"

// SettleLate writes what became of a transaction that had been pending, with
// all that hangs on it. Each row must still be in the state in which it was
// read: an order or a subscription may have been changed by others meanwhile.
func (tx *Tx) SettleLate(before payment.Purchase, after payment.Settlement, events []EventRow) {
	t := after.Transaction
	tx.updateTransaction(ErrStale, t, before.Transaction.Attempt.Phase, before.Transaction.Status)
	tx.require(ErrStale, `
		UPDATE orders SET status = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND status = $5`,
		t.TenantID, after.Order.ID, after.Order.Status, micros(tx.At), before.Order.Status)
	if after.Subscription != nil {
		tx.ChangeSubscription(*before.Subscription, *after.Subscription)
	}
	for _, e := range events {
		tx.insertEvent(t.TenantID, e)
	}
}
