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

// browse is a query for reads of that kind. Its first argument is whose records they are.
func (s *sqlite) browse(ctx context.Context, query string, args ...any) (Rows, error) {
	var whose any
	if len(args) > 0 {
		whose = args[0]
	}
	leave, err := s.portions.take(ctx, whose)
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

// portions keep anybody from having all of something. The zero value is ready.
type portions struct {
	mu sync.Mutex
	of map[any]*portion
}

// portion is of somebody who has or wants a part, and is forgotten afterwards.
type portion struct {
	places chan struct{}
	inside int
}

// take waits for a place among one's own.
func (s *portions) take(ctx context.Context, whose any) (leave func(), err error) {
	mine := s.enter(whose)
	select {
	case mine.places <- struct{}{}:
		return func() { <-mine.places; s.exit(whose, mine) }, nil
	case <-ctx.Done():
		s.exit(whose, mine)
		return nil, ctx.Err()
	}
}

func (s *portions) enter(whose any) *portion {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.of[whose]
	if mine == nil {
		if s.of == nil {
			s.of = map[any]*portion{}
		}
		mine = &portion{places: make(chan struct{}, browsersOfOne)}
		s.of[whose] = mine
	}
	mine.inside++
	return mine
}

func (s *portions) exit(whose any, mine *portion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine.inside--; mine.inside == 0 {
		delete(s.of, whose)
	}
}
