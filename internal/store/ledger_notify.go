package store

import (
	"context"
	"time"

	"sepad/internal/gateway/sandbox"
)

// NotificationsDue gives payments of which the sandbox has something to report
// by an instant of the service's time, oldest first.
func (l SandboxLedger) NotificationsDue(ctx context.Context, now time.Time, limit int) ([]sandbox.Entry, error) {
	result, err := l.store.engine.query(ctx, `SELECT `+ledgerColumns+` FROM sandbox_payments
		WHERE notify_at IS NOT NULL AND notify_at <= $1 ORDER BY notify_at LIMIT $2`, micros(now), limit)
	return collect(result, err, scanEntry)
}

// Heard records that a notification reached its receiver, or with a time, that
// it is to be sent again then.
func (l SandboxLedger) Heard(ctx context.Context, e sandbox.Entry, again time.Time) error {
	return l.store.Write(ctx, e.NotifyAt, func(tx *Tx) error {
		tx.Relax()
		tx.then(`
			UPDATE sandbox_payments SET notify_at = $5
			WHERE tenant_id = $1 AND account_id = $2 AND merchant_transaction_id = $3 AND notify_at = $4`,
			e.TenantID, e.AccountID, e.MerchantTransactionID, micros(e.NotifyAt), micros(again))
		return nil
	})
}
