package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// Match says which records a staged file is held against: those of a gateway,
// over the file's period.
type Match struct {
	TenantID, ImportID, GatewayID uuid.UUID
	IsChargebacks                 bool
	From, To                      time.Time // the first instant of the period, and the first after it
}

// MatchResult is where a record stands.
type MatchResult string

const (
	Matched      MatchResult = "matched"
	Differing    MatchResult = "differing"
	MissingHere  MatchResult = "missing_here"
	MissingThere MatchResult = "missing_there"
)

// MatchSum counts the records of one currency with one result.
type MatchSum struct {
	Result   MatchResult
	Currency string
	Count    int
	Minor    payment.Minor // what goes back counts below zero
}

// records is what the file is held against, under one set of names.
func (m Match) records() string {
	if m.IsChargebacks {
		return `(SELECT tenant_id, id, gateway_id, merchant_transaction_id, 'charged_back' AS status, 'chargeback' AS type,
			amount_minor, currency, reported_at AS processed_at FROM chargebacks)`
	}
	return `transactions`
}

const (
	signedFile = `CAST(SUM(CASE WHEN s.type = 'sdd_refund' THEN -s.amount_minor ELSE s.amount_minor END) AS BIGINT)`
	signedOurs = `CAST(SUM(CASE WHEN t.type = 'sdd_refund' THEN -t.amount_minor ELSE t.amount_minor END) AS BIGINT)`
	sameRecord = `t.amount_minor = s.amount_minor AND t.currency = s.currency AND t.status = s.status`
)

// joined pairs the file's lines with our records.
func (m Match) joined(join string) string {
	return ` FROM staged_transactions s ` + join + ` ` + m.records() + ` t ON t.tenant_id = s.tenant_id
		AND t.merchant_transaction_id = s.merchant_transaction_id AND t.gateway_id = $3
		WHERE s.tenant_id = $1 AND s.import_id = $2`
}

// FileSums counts the file's lines by where they stand.
func (m Match) FileSums(ctx context.Context, s *Store) ([]MatchSum, error) {
	result, err := s.Query(ctx, `
		SELECT CASE WHEN t.id IS NULL THEN 'missing_here' WHEN `+sameRecord+` THEN 'matched' ELSE 'differing' END,
			s.currency, COUNT(*), `+signedFile+m.joined("LEFT JOIN")+` GROUP BY 1, 2 ORDER BY 2, 1`,
		m.TenantID, m.ImportID, m.GatewayID)
	return db.Collect(result, err, scanMatchSum)
}

// OurSums counts our records by where they stand: those that the file names, and
// those of its period that it does not.
func (m Match) OurSums(ctx context.Context, s *Store) ([]MatchSum, error) {
	result, err := s.Query(ctx, `
		SELECT CASE WHEN `+sameRecord+` THEN 'matched' ELSE 'differing' END, t.currency, COUNT(*), `+signedOurs+
		m.joined("JOIN")+` GROUP BY 1, 2
		UNION ALL
		SELECT 'missing_there', t.currency, COUNT(*), `+signedOurs+m.unnamed()+` GROUP BY 1, 2 ORDER BY 2, 1`,
		m.TenantID, m.ImportID, m.GatewayID, db.Micros(m.From), db.Micros(m.To))
	return db.Collect(result, err, scanMatchSum)
}

// unnamed are our records of the period that the file does not name.
func (m Match) unnamed() string {
	return ` FROM ` + m.records() + ` t WHERE t.tenant_id = $1 AND t.gateway_id = $3 AND t.processed_at >= $4 AND t.processed_at < $5
		AND NOT EXISTS (SELECT 1 FROM staged_transactions s WHERE s.tenant_id = $1 AND s.import_id = $2
			AND s.merchant_transaction_id = t.merchant_transaction_id)`
}

func scanMatchSum(r db.Rows) (v MatchSum, err error) {
	return v, r.Scan(&v.Result, &v.Currency, &v.Count, &v.Minor)
}

// Differences gives the lines that differ from our record of the same reference.
func (m Match) Differences(ctx context.Context, s *Store, limit int) ([]Difference, error) {
	result, err := s.Query(ctx, `SELECT `+differenceColumns+
		m.joined("JOIN")+` AND NOT (`+sameRecord+`) ORDER BY s.line LIMIT $4`, m.TenantID, m.ImportID, m.GatewayID, limit)
	return db.Collect(result, err, scanDifference)
}

// Missing gives what stands on one side only: lines of the file, in their order,
// or records of ours, by their time.
func (m Match) Missing(ctx context.Context, s *Store, result MatchResult, limit int) ([]Staged, error) {
	sql := `SELECT s.line, s.merchant_transaction_id, s.gateway_reference, s.status, s.type, s.amount_minor, s.currency,
		s.processed_at` + m.joined("LEFT JOIN") + ` AND t.id IS NULL ORDER BY s.line LIMIT $4`
	args := []any{m.TenantID, m.ImportID, m.GatewayID, limit}
	if result == MissingThere {
		sql = `SELECT 0, t.merchant_transaction_id, '', t.status, t.type, t.amount_minor, t.currency, t.processed_at` + m.unnamed() +
			` ORDER BY t.processed_at, t.merchant_transaction_id LIMIT $6`
		args = []any{m.TenantID, m.ImportID, m.GatewayID, db.Micros(m.From), db.Micros(m.To), limit}
	}
	found, err := s.Query(ctx, sql, args...)
	return db.Collect(found, err, func(r db.Rows) (v Staged, err error) {
		return v, r.Scan(&v.Line, &v.MerchantTransactionID, &v.GatewayReference, &v.Status, &v.Type, &v.AmountMinor, &v.Currency,
			db.Instant{To: &v.ProcessedAt})
	})
}

// RepeatedStaged removes the lines whose reference an earlier line has, and says
// which they are.
func (tx *Tx) RepeatedStaged(tenantID, importID uuid.UUID) ([]int, error) {
	result, err := tx.Query(`
		DELETE FROM staged_transactions WHERE tenant_id = $1 AND import_id = $2 AND EXISTS (
			SELECT 1 FROM staged_transactions e WHERE e.tenant_id = $1 AND e.import_id = $2
				AND e.merchant_transaction_id = staged_transactions.merchant_transaction_id AND e.line < staged_transactions.line)
		RETURNING line`, tenantID, importID)
	return db.Collect(result, err, func(r db.Rows) (line int, err error) { return line, r.Scan(&line) })
}
