package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"sepad/internal/clock"
	"sepad/internal/store"
)

// AnalyzeJob wakes the first counting of tables that have grown.
type AnalyzeJob struct{}

// Kind names the job in the queue.
func (AnalyzeJob) Kind() string { return "analyze_young_tables" }

type analyzeWorker struct {
	river.WorkerDefaults[AnalyzeJob]
	store *store.Store
	clock clock.Clock
}

func (w *analyzeWorker) Work(ctx context.Context, _ *river.Job[AnalyzeJob]) error {
	return w.store.AnalyzeYoung(ctx, w.clock.Now())
}
