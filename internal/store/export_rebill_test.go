package store

import (
	"context"
	"time"
)

// SubscriptionsDueStatement is the pick of what is due, as an engine is asked.
func SubscriptionsDueStatement(ctx context.Context, s *Store) (statement string, err error) {
	err = s.Write(ctx, time.Time{}, func(tx *Tx) error {
		statement = subscriptionsDueQuery("", tx.SkipLocked("s"))
		return nil
	})
	return statement, err
}
