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

// MatchSum counts the records of one currency with one result, as the file has them and as we do; what goes back counts
// below zero. A side that lacks them has no currency.
type MatchSum struct {
	Result                    MatchResult
	FileCurrency, OurCurrency string
	Count                     int
	FileMinor, OurMinor       payment.Minor
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

// Sums counts the lines of the file by where they stand, and our records of its period that it does not name.
func (m Match) Sums(ctx context.Context, s *Store) ([]MatchSum, error) {
	result, err := s.Query(db.PlanAnew(ctx), m.lineSums(), m.TenantID, m.ImportID, m.GatewayID)
	named, err := db.Collect(result, err, scanMatchSum)
	if err != nil {
		return nil, err
	}
	result, err = s.Query(db.PlanAnew(ctx), m.unnamedSums(), m.unnamedArgs()...)
	unnamed, err := db.Collect(result, err, scanMatchSum)
	return append(named, unnamed...), err
}

// lineSums adds up both sides in one pass over the file.
func (m Match) lineSums() string {
	return `
		SELECT CASE WHEN t.id IS NULL THEN 'missing_here' WHEN ` + sameRecord + ` THEN 'matched' ELSE 'differing' END,
			s.currency, COALESCE(t.currency, ''), COUNT(*), ` + signedFile + `, COALESCE(` + signedOurs + `, 0)` +
		m.joined("LEFT JOIN") + ` GROUP BY 1, 2, 3`
}

func (m Match) unnamedSums() string {
	return `SELECT 'missing_there', '', t.currency, COUNT(*), 0, ` + signedOurs + m.unnamed() + ` GROUP BY 3`
}

func (m Match) unnamedArgs() []any {
	return []any{m.TenantID, m.ImportID, m.GatewayID, db.Micros(m.From), db.Micros(m.To)}
}

// unnamed are our records of the period that the file does not name.
func (m Match) unnamed() string {
	return ` FROM ` + m.records() + ` t WHERE t.tenant_id = $1 AND t.gateway_id = $3 AND t.processed_at >= $4 AND t.processed_at < $5
		AND NOT EXISTS (SELECT 1 FROM staged_transactions s WHERE s.tenant_id = $1 AND s.import_id = $2
			AND s.merchant_transaction_id = t.merchant_transaction_id)`
}

func scanMatchSum(r db.Rows) (v MatchSum, err error) {
	return v, r.Scan(&v.Result, &v.FileCurrency, &v.OurCurrency, &v.Count, &v.FileMinor, &v.OurMinor)
}

// Differences gives the lines that differ from our record of the same reference.
func (m Match) Differences(ctx context.Context, s *Store, limit int) ([]Difference, error) {
	result, err := s.Query(db.PlanAnew(ctx), m.differences(), m.TenantID, m.ImportID, m.GatewayID, limit)
	return db.Collect(result, err, scanDifference)
}

func (m Match) differences() string {
	return `SELECT ` + differenceColumns + m.joined("JOIN") + ` AND NOT (` + sameRecord + `) ORDER BY s.line LIMIT $4`
}

// MissingHere gives the lines of which we have no record, in their order.
func (m Match) MissingHere(ctx context.Context, s *Store, limit int) ([]Staged, error) {
	result, err := s.Query(db.PlanAnew(ctx), m.missingHere(), m.TenantID, m.ImportID, m.GatewayID, limit)
	return db.Collect(result, err, scanOneSided)
}

func (m Match) missingHere() string {
	return `SELECT s.line, s.merchant_transaction_id, s.gateway_reference, s.status, s.type, s.amount_minor, s.currency,
		s.processed_at` + m.joined("LEFT JOIN") + ` AND t.id IS NULL ORDER BY s.line LIMIT $4`
}

// MissingThere gives our records of the period that the file does not name, by their time.
func (m Match) MissingThere(ctx context.Context, s *Store, limit int) ([]Staged, error) {
	result, err := s.Query(db.PlanAnew(ctx), m.missingThere(), append(m.unnamedArgs(), limit)...)
	return db.Collect(result, err, scanOneSided)
}

func (m Match) missingThere() string {
	return `SELECT 0, t.merchant_transaction_id, '', t.status, t.type, t.amount_minor, t.currency, t.processed_at` + m.unnamed() +
		` ORDER BY t.processed_at, t.merchant_transaction_id LIMIT $6`
}

func scanOneSided(r db.Rows) (v Staged, err error) {
	return v, r.Scan(&v.Line, &v.MerchantTransactionID, &v.GatewayReference, &v.Status, &v.Type, &v.AmountMinor, &v.Currency,
		db.Instant{To: &v.ProcessedAt})
}

// CountStaged has the planner know how much is staged. Without it PostgreSQL takes the lines of an import for one, and
// goes through all of them again for each of our records.
func (tx *Tx) CountStaged() {
	tx.Analyze("staged_transactions (tenant_id, import_id, merchant_transaction_id)")
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
