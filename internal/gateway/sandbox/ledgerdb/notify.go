package ledgerdb

import (
	"context"
	"math"
	"time"

	"sepad/internal/db"
	"sepad/internal/gateway"
	"sepad/internal/gateway/sandbox"
)

// Announcements gives payments of which the sandbox has something to report by an
// instant of the service's time, oldest first.
func (l Ledger) Announcements(ctx context.Context, now time.Time, limit int) ([]gateway.Announcement, error) {
	result, err := l.db.Query(ctx, `SELECT `+ledgerColumns+` FROM sandbox_payments
		WHERE notify_at IS NOT NULL AND notify_at <= $1 ORDER BY notify_at LIMIT $2`, db.Micros(now), limit)
	entries, err := db.Collect(result, err, l.scanEntry)
	due := make([]gateway.Announcement, len(entries))
	for i, e := range entries {
		due[i] = gateway.Announcement{
			TenantID: e.TenantID, AccountID: e.AccountID, MerchantTransactionID: e.MerchantTransactionID,
			Acknowledge: func(ctx context.Context, again time.Time) error { return l.acknowledge(ctx, e, again) },
		}
	}
	return due, err
}

// NextAnnouncement is when, after an instant, the sandbox has something to report,
// and false when it never will.
func (l Ledger) NextAnnouncement(ctx context.Context, after time.Time) (at time.Time, found bool, err error) {
	past := int64(math.MinInt64) // an instant that was not given is NULL, after which nothing comes
	if !after.IsZero() {
		past = after.UnixMicro()
	}
	result, err := l.db.Query(ctx, `SELECT MIN(notify_at) FROM sandbox_payments WHERE notify_at IS NOT NULL AND notify_at > $1`, past)
	at, err = db.One(result, err, func(r db.Rows) (at time.Time, err error) { return at, r.Scan(db.Instant{To: &at}) })
	return at, !at.IsZero(), err
}

// acknowledge records that a notification reached its receiver, or with a time, that
// it is to be sent again then.
func (l Ledger) acknowledge(ctx context.Context, e sandbox.Entry, again time.Time) error {
	return l.db.Write(ctx, e.NotifyAt, func(tx *db.Tx) error {
		tx.Relax()
		tx.Then(`
			UPDATE sandbox_payments SET notify_at = $5
			WHERE tenant_id = $1 AND account_id = $2 AND merchant_transaction_id = $3 AND notify_at = $4`,
			e.TenantID, e.AccountID, e.MerchantTransactionID, db.Micros(e.NotifyAt), db.Micros(again))
		return nil
	})
}
