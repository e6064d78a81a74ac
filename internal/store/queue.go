package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// Queue runs background work.
type Queue interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// NewQueue makes the queue's working side on this database.
func (s *Store) NewQueue(config *river.Config) (Queue, error) {
	config.Logger = s.queueLogger
	if engine, ok := s.engine.(*sqlite); ok {
		return river.NewClient(riversqlite.New(engine.writer), config)
	}
	return river.NewClient[pgx.Tx](riverpgxv5.New(s.engine.(*postgres).connections), config)
}

// QueueDepth counts the jobs in each state that is not final.
func (s *Store) QueueDepth(ctx context.Context) (map[string]int, error) {
	type depth struct {
		state string
		jobs  int
	}
	result, err := s.engine.query(ctx, `
		SELECT CAST(state AS TEXT), COUNT(*) FROM river_job
		WHERE state IN ('available', 'pending', 'running', 'retryable', 'scheduled') GROUP BY state`)
	depths, err := collect(result, err, func(r rows) (d depth, err error) { return d, r.Scan(&d.state, &d.jobs) })
	counts := make(map[string]int, len(depths))
	for _, d := range depths {
		counts[d.state] = d.jobs
	}
	return counts, err
}
