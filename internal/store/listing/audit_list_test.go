package listing_test

import (
	"context"
	"testing"
	"time"

	"sepad/internal/db"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

// TestSearchesOfTheTrailAreInNobodysWay: what is not in the trail is looked for in all of it, over connections that who pays
// does not need.
func TestSearchesOfTheTrailAreInNobodysWay(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	keep := func(rows db.Rows, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(rows.Close)
	}
	const payers = 4 // all connections that reads have
	for range payers {
		keep(env.Store.Query(ctx, `SELECT 1`))
	}
	if _, err := listing.SearchAudit(ctx, env.Store, listing.AuditSearch{Action: "nothing.such"}, listing.Paging{Limit: 10}); err != nil {
		t.Errorf("a search while all that is there for payers is taken: %v", err)
	}
}
