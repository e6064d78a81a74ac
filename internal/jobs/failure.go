package jobs

import (
	"context"
	"errors"
	"log/slog"
	"slices"

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
	if !errors.Is(err, context.Canceled) && !isTimeUp(err) {
		f.count(job.Kind)
		f.logger.ErrorContext(ctx, "background work failed", "kind", job.Kind, "error", err)
	}
	return nil
}

// isTimeUp tells work of which nothing went wrong but that it took too long. Of several things that failed, one that did so
// hides no other.
func isTimeUp(err error) bool {
	if several, isSeveral := err.(interface{ Unwrap() []error }); isSeveral { //nolint:errorlint // one level is looked at after the other
		return !slices.ContainsFunc(several.Unwrap(), func(one error) bool { return !isTimeUp(one) })
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// HandlePanic counts a defect, of which the queue has told.
func (f failures) HandlePanic(_ context.Context, job *rivertype.JobRow, _ any, _ string) *river.ErrorHandlerResult {
	f.count(job.Kind)
	return nil
}
