package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// ErrNoImport is the answer for an import that nobody has.
var ErrNoImport = &payment.Error{Kind: payment.NotFound, Detail: "Import not found"}

// ImportStatus is how far the taking in of a file has come.
type ImportStatus string

const (
	ImportRunning   ImportStatus = "running"
	ImportCompleted ImportStatus = "completed"
	ImportFailed    ImportStatus = "failed"
)

// ImportStatuses are all of them.
var ImportStatuses = []ImportStatus{ImportRunning, ImportCompleted, ImportFailed}

// ImportCounts say what became of a file's lines.
type ImportCounts struct{ New, Updated, Unchanged, Rejected int }

// Add counts further lines.
func (c *ImportCounts) Add(more ImportCounts) {
	c.New += more.New
	c.Updated += more.Updated
	c.Unchanged += more.Unchanged
	c.Rejected += more.Rejected
}

// Import is a processor's file that was taken in.
type Import struct {
	ID        uuid.UUID
	TenantID  uuid.UUID
	GatewayID uuid.UUID
	Kind      string
	Status    ImportStatus
	IsDryRun  bool
	Counts    ImportCounts
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Rejection is a line that was not taken, and why. The header is line 1.
type Rejection struct {
	Line   int
	Reason string
	// Text is the line as the file has it. It may name a person and is not kept: only who
	// takes the file in is told.
	Text string
}

// PutImport writes an import as it stands.
func (tx *Tx) PutImport(i Import) {
	tx.Then(`
		INSERT INTO imports (tenant_id, id, gateway_id, kind, status, dry_run, new_count, updated_count, unchanged_count,
			rejected_count, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (tenant_id, id) DO UPDATE SET status = excluded.status, new_count = excluded.new_count,
			updated_count = excluded.updated_count, unchanged_count = excluded.unchanged_count,
			rejected_count = excluded.rejected_count, updated_at = excluded.updated_at`,
		i.TenantID, i.ID, i.GatewayID, i.Kind, string(i.Status), i.IsDryRun, i.Counts.New, i.Counts.Updated,
		i.Counts.Unchanged, i.Counts.Rejected, db.Micros(i.CreatedAt), db.Micros(tx.At))
}

// Recount tells the planner how large the table has become that an import fills.
// PostgreSQL comes to it by itself after a while, but until then it takes the
// table for nearly empty and reads a tenant's rows for every batch.
func (tx *Tx) Recount(i Import) {
	tx.Analyze(i.Kind)
}

// AddRejections writes lines of an import that were not taken.
func (tx *Tx) AddRejections(i Import, rejected []Rejection) {
	const columns = 4
	for batch := range db.InBatches(rejected) {
		args := make([]any, 0, columns*len(batch))
		for _, r := range batch {
			args = append(args, i.TenantID, i.ID, r.Line, r.Reason)
		}
		tx.Then(`INSERT INTO import_rejections (tenant_id, import_id, line, reason)
			VALUES `+db.Placeholders(1, len(batch), columns)+` ON CONFLICT DO NOTHING`, args...)
	}
}

// ReadImports reads imports i of tenant $1.
const ReadImports = `SELECT i.tenant_id, i.id, i.gateway_id, i.kind, i.status, i.dry_run, i.new_count, i.updated_count,
	i.unchanged_count, i.rejected_count, i.created_at, i.updated_at FROM imports i WHERE i.tenant_id = $1`

// ScanImport reads a row of ReadImports.
func ScanImport(r db.Rows) (i Import, err error) {
	return i, r.Scan(&i.TenantID, &i.ID, &i.GatewayID, &i.Kind, &i.Status, &i.IsDryRun, &i.Counts.New,
		&i.Counts.Updated, &i.Counts.Unchanged, &i.Counts.Rejected, db.Instant{To: &i.CreatedAt}, db.Instant{To: &i.UpdatedAt})
}

// Import reads an import.
func (t Tenant) Import(ctx context.Context, id uuid.UUID) (Import, error) {
	result, err := t.Query(ctx, ReadImports+` AND i.id = $2`, id)
	found, err := db.One(result, err, ScanImport)
	if errors.Is(err, db.ErrNoRow) {
		return Import{}, ErrNoImport
	}
	return found, err
}

// Rejections gives lines of an import that were not taken, in order, beginning
// after a line.
func (t Tenant) Rejections(ctx context.Context, importID uuid.UUID, after, limit int) ([]Rejection, error) {
	result, err := t.Query(ctx, `
		SELECT line, reason FROM import_rejections WHERE tenant_id = $1 AND import_id = $2 AND line > $3
		ORDER BY line LIMIT $4`, importID, after, limit)
	return db.Collect(result, err, func(r db.Rows) (v Rejection, err error) { return v, r.Scan(&v.Line, &v.Reason) })
}
