package db

import (
	"context"
	"sync"
)

// What reads at length, lists and sums, has connections of its own: a handful that go through all that a tenant has would
// otherwise hold up whoever pays, of all tenants. Of these, one tenant has half at most, so that others' lists go on beside it.
const (
	maxBrowsers   = 4
	browsersOfOne = maxBrowsers / 2
)

// browse is a query for reads of that kind.
func (s *sqlite) browse(ctx context.Context, whose any, query string, args ...any) (Rows, error) {
	leave, _, err := s.browsing.Take(ctx, whose, browsersOfOne)
	if err != nil {
		return nil, err
	}
	query, args = s.clock.write(query, args)
	result, err := s.browsers.QueryContext(ctx, query, args...)
	if err != nil {
		leave()
		return nil, err
	}
	return &browsedRows{sqliteRows{result}, sync.OnceFunc(leave)}, nil
}

// browsedRows give their place back when they are closed.
type browsedRows struct {
	sqliteRows
	leave func()
}

func (r *browsedRows) Close() {
	r.sqliteRows.Close()
	r.leave()
}
