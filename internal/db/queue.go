package db

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
func (d *DB) NewQueue(config *river.Config) (Queue, error) {
	config.Logger = d.queueLogger
	if engine, ok := d.engine.(*sqlite); ok {
		return river.NewClient(riversqlite.New(engine.writer), config)
	}
	connections := d.engine.(*postgres).connections
	config.PollOnly = isPooled(connections.Config())
	return river.NewClient[pgx.Tx](riverpgxv5.New(connections), config)
}

// QueueDepth counts the jobs in each state that is not final.
func (d *DB) QueueDepth(ctx context.Context) (map[string]int, error) {
	type depth struct {
		state string
		jobs  int
	}
	result, err := d.engine.query(ctx, `
		SELECT CAST(state AS TEXT), COUNT(*) FROM river_job
		WHERE state IN ('available', 'pending', 'running', 'retryable', 'scheduled') GROUP BY state`)
	depths, err := Collect(result, err, func(r Rows) (d depth, err error) { return d, r.Scan(&d.state, &d.jobs) })
	counts := make(map[string]int, len(depths))
	for _, d := range depths {
		counts[d.state] = d.jobs
	}
	return counts, err
}
