package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"sepad/internal/people"
)

// AuditJob gives entries of the audit trail their places.
type AuditJob struct{}

// Kind names the job in the queue.
func (AuditJob) Kind() string { return "audit" }

type auditWorker struct {
	river.WorkerDefaults[AuditJob]
	people *people.People
}

func (w *auditWorker) Work(ctx context.Context, _ *river.Job[AuditJob]) error {
	return w.people.Chain(ctx)
}
