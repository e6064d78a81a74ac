package store

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// Match says which records a file is held against: those of a gateway, over the
// file's period.
type Match struct {
	TenantID, ImportID, GatewayID uuid.UUID
	IsChargebacks                 bool
	From, To                      time.Time // the first instant of the period, and the first after it
}

// Compared is what a line of a processor's file says of a payment or a chargeback, as
// far as it is compared.
type Compared struct {
	Line                                                 int
	MerchantTransactionID, GatewayReference, ProcessorID string
	Status                                               payment.TransactionStatus
	Type                                                 payment.TransactionType
	AmountMinor                                          payment.Minor
	Currency                                             string
	ProcessedAt                                          time.Time
	// Rest is what else the line of a chargeback says, for whoever records it. It lies in the
	// place of the processor's id of a payment, which a chargeback has not.
	Rest string
}

func (c *Compared) processorID() string { return cmp.Or(c.ProcessorID, c.Rest) }

var comparedColumns = []string{
	"tenant_id", "import_id", "line", "merchant_transaction_id", "gateway_reference", "processor_id", "status", "type", "amount_minor", "currency",
	"processed_at",
}

// comparedRow is a line within its import.
type comparedRow struct {
	match *Match
	*Compared
}

func (r comparedRow) Values() []any {
	return []any{
		r.match.TenantID, r.match.ImportID, r.Line, r.MerchantTransactionID, r.GatewayReference, r.processorID(), string(r.Status), string(r.Type),
		r.AmountMinor, r.Currency, db.Micros(r.ProcessedAt),
	}
}

func (r comparedRow) AppendCopy(dst []byte) []byte {
	dst = db.AppendCopyID(db.AppendCopyID(dst, r.match.TenantID), r.match.ImportID)
	dst = db.AppendCopyNumber(dst, int64(r.Line))
	for _, text := range [...]string{r.MerchantTransactionID, r.GatewayReference, r.processorID(), string(r.Status), string(r.Type)} {
		dst = db.AppendCopyText(dst, text)
	}
	dst = db.AppendCopyText(db.AppendCopyNumber(dst, int64(r.AmountMinor)), r.Currency)
	dst = db.AppendCopyNumber(dst, r.ProcessedAt.UnixMicro())
	dst[len(dst)-1] = '\n'
	return dst
}

// AddCompared puts lines of a file beside our records.
func (tx *Tx) AddCompared(match Match, lines []Compared) error {
	rows := make([]db.BulkRow, len(lines))
	for i := range lines {
		rows[i] = comparedRow{&match, &lines[i]}
	}
	return tx.Load("compared_lines", comparedColumns, rows)
}

// CountCompared has the planner know how many lines there are. Without it PostgreSQL takes those of an import for one,
// and goes through all of them again for each of our records.
func (tx *Tx) CountCompared() {
	tx.Analyze("compared_lines (tenant_id, import_id, merchant_transaction_id)")
}

// DropCompared removes an import's lines, some at a time: where there is one writer everybody waits for it.
func (s *Store) DropCompared(ctx context.Context, now time.Time, match Match) error {
	atOnce := s.dropping().atOnce
	for gone := atOnce; gone == atOnce; {
		err := s.Write(ctx, now, func(tx *Tx) error {
			tx.Relax()
			result, err := tx.Query(`DELETE FROM compared_lines WHERE `+tx.RowID()+` IN (
				SELECT `+tx.RowID()+` FROM compared_lines WHERE tenant_id = $1 AND import_id = $2 LIMIT $3) RETURNING line`, match.TenantID, match.ImportID, atOnce)
			lines, err := db.Collect(result, err, func(r db.Rows) (line int, err error) { return line, r.Scan(&line) })
			gone = len(lines)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropping is how lines are dropped: how many in a unit, and how those are found that repeat an earlier one.
type dropping struct {
	atOnce   int
	repeated string
}

var (
	// Some fifty milliseconds of the only writer; an index leads to the lines of a reference in their order.
	droppingSome = dropping{5_000, `
		SELECT rowid FROM compared_lines c WHERE c.tenant_id = $1 AND c.import_id = $2 AND c.merchant_transaction_id >= $3 AND EXISTS (
			SELECT 1 FROM compared_lines e WHERE e.tenant_id = $1 AND e.import_id = $2
				AND e.merchant_transaction_id = c.merchant_transaction_id AND e.line < c.line)`}
	// All there are where nobody waits for another, in one pass: of a file whose lines all have one reference each was held against
	// those before it: 5 s for 9,000 lines, and a hundred times as long for ten times as many.
	droppingAll = dropping{math.MaxInt32, `
		SELECT ctid FROM (
			SELECT ctid, merchant_transaction_id, line, MIN(line) OVER (PARTITION BY merchant_transaction_id) AS earliest
			FROM compared_lines WHERE tenant_id = $1 AND import_id = $2 AND merchant_transaction_id >= $3) AS c
		WHERE line > earliest`}
)

func (s *Store) dropping() dropping {
	if _, writers := s.BulkBatch(); writers == 1 {
		return droppingSome
	}
	return droppingAll
}

// HasRepeated tells whether any two lines have the same reference. It costs half of what looking for them does, and
// hardly any file has them.
func (m Match) HasRepeated(ctx context.Context, s *Store) (has bool, err error) {
	result, err := s.Browse(db.PlanAnew(ctx), m.TenantID, m.repeated(), m.TenantID, m.ImportID)
	return db.One(result, err, func(r db.Rows) (has bool, err error) { return has, r.Scan(&has) })
}

func (m Match) repeated() string {
	return `SELECT EXISTS (SELECT 1 FROM compared_lines WHERE tenant_id = $1 AND import_id = $2 GROUP BY merchant_transaction_id HAVING COUNT(*) > 1)`
}

// DropRepeated removes the lines whose reference an earlier line has, some at a time, and visits each once it has gone.
func (s *Store) DropRepeated(ctx context.Context, now time.Time, match Match, visit func(Compared)) error {
	how, from := s.dropping(), ""
	for gone := how.atOnce; gone == how.atOnce; {
		var lines []Compared
		err := s.Write(ctx, now, func(tx *Tx) (err error) {
			tx.Relax()
			lines, err = tx.dropRepeated(match, from, how)
			return err
		})
		if err != nil {
			return err
		}
		for _, line := range lines {
			from = max(from, line.MerchantTransactionID) // as SQLite orders them
			visit(line)
		}
		gone = len(lines)
	}
	return nil
}

// dropRepeated looks at references from one on: what was looked at before is not looked at again.
func (tx *Tx) dropRepeated(match Match, from string, how dropping) ([]Compared, error) {
	result, err := tx.Query(`
		DELETE FROM compared_lines WHERE `+tx.RowID()+` IN (`+how.repeated+`
			ORDER BY merchant_transaction_id LIMIT $4)
		RETURNING line, merchant_transaction_id, type, amount_minor, currency`, match.TenantID, match.ImportID, from, how.atOnce)
	return db.Collect(result, err, func(r db.Rows) (line Compared, err error) {
		return line, r.Scan(&line.Line, &line.MerchantTransactionID, &line.Type, &line.AmountMinor, &line.Currency)
	})
}

// Mismatch is a line and our record of the same reference that do not say the same, or one of them without the other.
type Mismatch struct {
	File  *Compared // nil where the file does not name our record
	Known *payment.Transaction
}

// records is what the file is held against, under one set of names.
func (m Match) records() string {
	if m.IsChargebacks {
		return `(SELECT tenant_id, id, gateway_id, merchant_transaction_id, 'charged_back' AS status, 'chargeback' AS type,
			amount_minor, currency, reported_at AS processed_at FROM chargebacks)`
	}
	return `transactions`
}

// mismatches go once through the file with our records beside it, and once through our records of the period. What goes
// back to a payer is never the same as what came.
func (m Match) mismatches() string {
	return `
		SELECT l.line, t.id, l.merchant_transaction_id, COALESCE(t.status, ''), COALESCE(t.type, ''), COALESCE(t.amount_minor, 0),
			COALESCE(t.currency, ''), COALESCE(t.processed_at, 0), l.status, l.type, l.amount_minor, l.currency, l.gateway_reference, l.processor_id,
			l.processed_at
		FROM compared_lines l LEFT JOIN ` + m.records() + ` t ON t.tenant_id = l.tenant_id
			AND t.merchant_transaction_id = l.merchant_transaction_id AND t.gateway_id = $3
		WHERE l.tenant_id = $1 AND l.import_id = $2 AND (t.id IS NULL OR NOT (t.amount_minor = l.amount_minor AND t.currency = l.currency
			AND t.status = l.status AND (t.type = 'sdd_refund') = (l.type = 'sdd_refund')))
		UNION ALL
		SELECT 0, t.id, t.merchant_transaction_id, t.status, t.type, t.amount_minor, t.currency, t.processed_at, '', '', 0, '', '', '', 0
		FROM ` + m.records() + ` t WHERE t.tenant_id = $1 AND t.gateway_id = $3 AND t.processed_at >= $4 AND t.processed_at < $5
			AND NOT EXISTS (SELECT 1 FROM compared_lines l WHERE l.tenant_id = $1 AND l.import_id = $2
				AND l.merchant_transaction_id = t.merchant_transaction_id)
		ORDER BY 1, 8, 3`
}

// Mismatches visits everything on which the sides do not agree: our records that the file lacks by their time, then its
// lines in their order. There may be as many as there are lines, so that nobody holds them.
func (m Match) Mismatches(ctx context.Context, s *Store, visit func(Mismatch)) error {
	rows, err := s.Browse(db.PlanAnew(ctx), m.TenantID, m.mismatches(), m.TenantID, m.ImportID, m.GatewayID, db.Micros(m.From), db.Micros(m.To))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		mismatch, err := m.scan(rows)
		if err != nil {
			return err
		}
		visit(mismatch)
	}
	return rows.Err()
}

func (m Match) scan(r db.Rows) (found Mismatch, err error) {
	var knownID *uuid.UUID
	file, known := &Compared{}, &payment.Transaction{TenantID: m.TenantID, GatewayID: m.GatewayID}
	err = r.Scan(&file.Line, &knownID, &known.MerchantTransactionID, &known.Status, &known.Type, &known.AmountMinor, &known.Currency,
		db.Instant{To: &known.ProcessedAt}, &file.Status, &file.Type, &file.AmountMinor, &file.Currency, &file.GatewayReference, &file.ProcessorID,
		db.Instant{To: &file.ProcessedAt})
	file.MerchantTransactionID = known.MerchantTransactionID
	if m.IsChargebacks {
		file.ProcessorID, file.Rest = "", file.ProcessorID
	}
	if file.Line > 0 {
		found.File = file
	}
	if knownID != nil {
		known.ID = *knownID
		found.Known = known
	}
	return found, err
}
