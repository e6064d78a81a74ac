package jobs

import (
	"context"
	"errors"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// failures tell of background work that failed. The queue itself keeps the reason in its table, where nobody looks.
type failures struct {
	logger *slog.Logger
	// count is told what failed.
	count func(kind string)
}

// HandleError tells of an error. What ends with its process, or because it has taken long enough, is taken up by the next.
func (f failures) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		f.count(job.Kind)
		f.logger.ErrorContext(ctx, "background work failed", "kind", job.Kind, "error", err)
	}
	return nil
}

// HandlePanic counts a defect, of which the queue has told.
func (f failures) HandlePanic(_ context.Context, job *rivertype.JobRow, _ any, _ string) *river.ErrorHandlerResult {
	f.count(job.Kind)
	return nil
}
