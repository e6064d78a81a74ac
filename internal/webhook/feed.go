package webhook

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// FeedDays is how far back a feed goes, in real time.
const FeedDays = 90

// FeedPage is a part of a tenant's feed.
type FeedPage struct {
	Events []store.FeedEvent
	// Next is the place to go on from, now or later.
	Next int64
	// More tells that there is more to read now.
	More bool
}

// ReadFeed reads a tenant's events beyond a place, oldest first, whether they are sent
// to anybody or not: what a shop missed while it was away. Who goes on from Next each
// time gets every event once (store.NumberEvents).
func ReadFeed(ctx context.Context, st *store.Store, tenantID uuid.UUID, after int64, which store.FeedFilter, limit int, realNow time.Time) (page FeedPage, err error) {
	since, tenant := realNow.AddDate(0, 0, -FeedDays), st.Tenant(tenantID)
	if err := number(ctx, st, tenantID, since, realNow, &page); err != nil {
		return page, err
	}
	start, err := tenant.FeedStart(ctx, since)
	if err != nil {
		return page, err
	}
	page.Next = max(after, start)
	page.Events, err = tenant.Feed(ctx, page.Next, which, limit)
	if n := len(page.Events); n > 0 {
		page.Next = page.Events[n-1].Position
	}
	page.More = page.More || len(page.Events) == limit
	return page, err
}

// number gives new events their places.
func number(ctx context.Context, st *store.Store, tenantID uuid.UUID, since, realNow time.Time, page *FeedPage) error {
	news, err := st.Tenant(tenantID).HasUnnumbered(ctx, since)
	if err != nil || !news {
		return err
	}
	return st.Write(ctx, realNow, func(tx *store.Tx) (err error) {
		page.More, err = tx.NumberEvents(tenantID, since)
		return err
	})
}
