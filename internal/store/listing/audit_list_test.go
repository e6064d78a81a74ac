package listing_test

import (
	"context"
	"testing"
	"time"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// TestSearchesOfTheTrailAreInNobodysWay: what is not in the trail is looked for in all of it, over connections that who pays
// does not need.
func TestSearchesOfTheTrailAreInNobodysWay(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	ctx := whilePayersRead(t, env)
	if _, err := listing.SearchAudit(ctx, env.Store, listing.AuditSearch{Action: "nothing.such"}, listing.Paging{Limit: 10}); err != nil {
		t.Errorf("a search while all that is there for payers is taken: %v", err)
	}
}

// whilePayersRead takes all connections that reads have.
func whilePayersRead(t *testing.T, env *storetest.Env) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	keep := func(rows db.Rows, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(rows.Close)
	}
	const payers = 4
	for range payers {
		keep(env.Store.Query(ctx, `SELECT 1`))
	}
	return ctx
}

// TestWhatGoesThroughMuchIsInNobodysWay: a merchant's key for a feed in which hardly anything was delivered, support that resends what
// failed in times to come, and whoever looks at a file of a bank or at the overview took every connection of SQLite that reads.
func TestWhatGoesThroughMuchIsInNobodysWay(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	shop := env.Shop(t)
	ctx, tenant := whilePayersRead(t, env), env.Store.Tenant(shop.ID)
	failed := store.FailedEvents{Endpoint: store.Endpoint{TenantID: shop.ID, ProfileID: shop.Profile.ID}}
	for what, read := range map[string]func() error{
		"what was delivered":         func() error { _, err := tenant.Feed(ctx, 0, store.FeedDelivered, 10); return err },
		"what has failed":            func() error { _, err := env.Store.Failed(ctx, failed, 10); return err },
		"how much has failed":        func() error { _, err := env.Store.CountFailed(ctx, failed); return err },
		"what a bank said of a file": func() error { _, err := tenant.BankMatches(ctx, payment.NewID()); return err },
		"what the days brought": func() error {
			_, err := listing.DayCounts(ctx, tenant, payment.DateOf(env.Now), payment.DateOf(env.Now))
			return err
		},
	} {
		if err := read(); err != nil {
			t.Errorf("%s, while all that is there for payers is taken: %v", what, err)
		}
	}
}
