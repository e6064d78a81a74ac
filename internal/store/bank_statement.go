package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// ErrNoBankStatement is the answer for a statement that nobody has.
var ErrNoBankStatement = &payment.Error{Kind: payment.NotFound, Detail: "Bank statement not found"}

// ErrNoBankLine is the answer for a line that nobody has.
var ErrNoBankLine = &payment.Error{Kind: payment.NotFound, Detail: "Bank entry not found"}

// BankStatementState is how far the taking in of a bank's answer has come.
type BankStatementState string

const (
	// BankStatementReading: what it says is being applied; a crash leaves it so,
	// and the same file is then read again.
	BankStatementReading BankStatementState = "reading"
	BankStatementRead    BankStatementState = "read"
	// BankStatementFailed: it could not be understood; Problem says why.
	BankStatementFailed BankStatementState = "failed"
)

// BankStatement is a file that a bank answered with: a status report, a
// statement or a notice.
type BankStatement struct {
	ID          uuid.UUID
	TenantID    uuid.UUID
	GatewayID   uuid.UUID
	Name        string
	ContentHash string
	State       BankStatementState
	Problem     string
	LineCount   int
	CreatedAt   time.Time
}

// ForeseenLine is the kind of a line that is not booked yet, and may never be.
const ForeseenLine = "foreseen"

// BankLineResult is what became of a line.
type BankLineResult string

const (
	// LineSettled: a collection's money has come.
	LineSettled BankLineResult = "settled"
	// LineRejected: a collection was refused before any money moved.
	LineRejected BankLineResult = "rejected"
	// LineReturned: money went back.
	LineReturned BankLineResult = "returned"
	// LineKnown: it says what was known already, or nothing that changes anything.
	LineKnown BankLineResult = "known"
	// LineIgnored: it is about something else.
	LineIgnored BankLineResult = "ignored"
	// LineUnmatched: it belongs to nothing that is known here.
	LineUnmatched BankLineResult = "unmatched"
	// LineContradicts: it says of a collection what cannot be.
	LineContradicts BankLineResult = "contradicts"
	// LineAssigned: a person has said what it belongs to.
	LineAssigned BankLineResult = "assigned"
)

// BankLine is one thing that a bank's file says.
type BankLine struct {
	ID          uuid.UUID
	TenantID    uuid.UUID
	StatementID uuid.UUID
	GatewayID   uuid.UUID
	Position    int
	// Source is the message that it stood in, Kind what the line is.
	Source       string
	Kind         string
	AmountMinor  payment.Minor
	ChargesMinor payment.Minor
	Currency     string
	IsCredit     bool
	BookingDate  string
	Reference    string
	Reason       string
	// SealedText is what the bank wrote in words, which may name people.
	SealedText    string
	Result        BankLineResult
	Note          string
	TransactionID *uuid.UUID
}

// IsOpen tells that a person has to say what it belongs to.
func (l BankLine) IsOpen() bool { return l.Result == LineUnmatched || l.Result == LineContradicts }

// BankLines are their rows.
var BankLines = db.Table[BankLine]{Name: "bank_lines", Columns: []db.Column[BankLine]{
	db.Field("tenant_id", func(l *BankLine) *uuid.UUID { return &l.TenantID }),
	db.Field("id", func(l *BankLine) *uuid.UUID { return &l.ID }),
	db.Field("statement_id", func(l *BankLine) *uuid.UUID { return &l.StatementID }),
	db.Field("gateway_id", func(l *BankLine) *uuid.UUID { return &l.GatewayID }),
	db.Field("position", func(l *BankLine) *int { return &l.Position }),
	db.Field("source", func(l *BankLine) *string { return &l.Source }),
	db.Field("kind", func(l *BankLine) *string { return &l.Kind }),
	db.Field("amount_minor", func(l *BankLine) *payment.Minor { return &l.AmountMinor }),
	db.Field("charges_minor", func(l *BankLine) *payment.Minor { return &l.ChargesMinor }),
	db.Field("currency", func(l *BankLine) *string { return &l.Currency }),
	db.Custom("is_credit", func(l *BankLine) any { return flag{&l.IsCredit} }, func(l *BankLine) any { return number(l.IsCredit) }),
	db.Field("booking_date", func(l *BankLine) *string { return &l.BookingDate }),
	db.Field("reference", func(l *BankLine) *string { return &l.Reference }),
	db.Field("reason", func(l *BankLine) *string { return &l.Reason }),
	db.Field("text_sealed", func(l *BankLine) *string { return &l.SealedText }),
	db.Field("result", func(l *BankLine) *BankLineResult { return &l.Result }),
	db.Field("note", func(l *BankLine) *string { return &l.Note }),
	db.Optional("transaction_id", func(l *BankLine) **uuid.UUID { return &l.TransactionID }),
}}

// ScanBankLine reads a row of BankLines.
func ScanBankLine(r db.Rows) (l BankLine, err error) { return l, r.Scan(BankLines.Fields(&l)...) }

// flag is kept in a column of numbers.
type flag struct{ to *bool }

// Scan reads one.
func (f flag) Scan(value any) error {
	number, isNumber := value.(int64)
	if !isNumber {
		return fmt.Errorf("store: %T is no flag", value)
	}
	*f.to = number != 0
	return nil
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// PutBankStatement records that a file is being read. One whose reading was
// interrupted begins anew, and what was written down of it stays.
func (tx *Tx) PutBankStatement(s BankStatement) {
	tx.Then(`
		INSERT INTO bank_statements (tenant_id, id, gateway_id, name, content_hash, content_sealed, state, problem, line_count, created_at)
		VALUES ($1, $2, $3, $4, $5, '', $6, $7, $8, $9)
		ON CONFLICT (tenant_id, id) DO UPDATE SET state = excluded.state, problem = excluded.problem, line_count = excluded.line_count`,
		s.TenantID, s.ID, s.GatewayID, s.Name, s.ContentHash, string(s.State), s.Problem, s.LineCount, db.Micros(tx.At))
	tx.Audit(Deed{
		Action: "bank_statement.create", ObjectType: "bank_statement", ObjectID: s.ID.String(), TenantID: s.TenantID,
		After: map[string]any{"gateway_id": s.GatewayID, "sha256": s.ContentHash},
	})
}

// AddBankStatementPart keeps sealed bytes of a file, which are the same whoever
// reads it.
func (tx *Tx) AddBankStatementPart(s BankStatement, number int, sealed string) {
	tx.Then(`INSERT INTO bank_statement_parts (tenant_id, id, statement_id, number, content_sealed) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`, s.TenantID, payment.NewID(), s.ID, number, sealed)
}

// BankStatementPart gives sealed bytes of an answer, "" behind its last part.
func (t Tenant) BankStatementPart(ctx context.Context, s BankStatement, number int) (string, error) {
	result, err := t.Query(ctx, `SELECT content_sealed FROM bank_statement_parts WHERE tenant_id = $1 AND statement_id = $2 AND number = $3`, s.ID, number)
	return partOr(db.One(result, err, scanPart))
}

// ReadByAnother tells that somebody else has just begun to read the same bytes.
func ReadByAnother(err error) bool {
	return db.IsKey(err, "bank_statements_gateway_id_content_hash_key")
}

// EndBankStatement records how the reading of a file ended.
func (tx *Tx) EndBankStatement(s BankStatement) {
	tx.Then(`UPDATE bank_statements SET state = $3, problem = $4, line_count = $5 WHERE tenant_id = $1 AND id = $2`,
		s.TenantID, s.ID, string(s.State), s.Problem, s.LineCount)
}

// LoadBankLines writes lines of a file with what became of them, as fast as the
// engine loads rows. Where they were read before, or somebody else reads the same
// file and was faster, it gives ErrStale.
func (tx *Tx) LoadBankLines(s BankStatement, lines []BankLine) error {
	rows := make([]db.BulkRow, len(lines))
	for i, line := range lines {
		line.own(s)
		rows[i] = db.ValueRow(BankLines.Values(&line))
	}
	err := tx.Load("bank_lines", BankLines.Names(), rows)
	if db.IsKey(err, "bank_lines_statement_id_position_key") {
		return ErrStale
	}
	return err
}

// AddBankLines does the same where lines may be there already: they are the same
// ones, and whoever found that a line belongs to something is right, also where it was nobody's business before.
func (tx *Tx) AddBankLines(s BankStatement, lines []BankLine) {
	for batch := range db.InBatches(lines) {
		args := make([]any, 0, len(BankLines.Columns)*len(batch))
		for _, line := range batch {
			line.own(s)
			args = append(args, BankLines.Values(&line)...)
		}
		tx.Then(`INSERT INTO bank_lines (`+BankLines.List("")+`) VALUES `+db.Placeholders(1, len(batch), len(BankLines.Columns))+
			` ON CONFLICT (tenant_id, statement_id, position) DO UPDATE SET charges_minor = excluded.charges_minor, result = excluded.result,
				note = excluded.note, transaction_id = excluded.transaction_id WHERE bank_lines.result = 'ignored' OR bank_lines.result IN `+openResults, args...)
	}
}

// openResults are those of lines that a person, or a later file, has to explain.
const openResults = `('unmatched', 'contradicts')`

// own makes a line one of a file.
func (l *BankLine) own(s BankStatement) {
	l.ID, l.TenantID, l.StatementID, l.GatewayID = payment.NewID(), s.TenantID, s.ID, s.GatewayID
}

// ErrBankLineTaken says that somebody else has said meanwhile what a line belongs to.
var ErrBankLineTaken = errors.New("store: the line was assigned in the meantime")

// AssignBankLine records what an open line turned out to belong to, unless the unit
// ends with ErrBankLineTaken.
func (tx *Tx) AssignBankLine(before BankLineResult, l BankLine) {
	tx.Require(ErrBankLineTaken, `
		UPDATE bank_lines SET result = $4, note = $5, transaction_id = $6
		WHERE tenant_id = $1 AND id = $2 AND result = $3`,
		l.TenantID, l.ID, string(before), string(l.Result), l.Note, l.TransactionID)
}

// BankStatements are the rows of statements, but for their sealed bytes.
var BankStatements = db.Table[BankStatement]{Name: "bank_statements", Columns: []db.Column[BankStatement]{
	db.Field("tenant_id", func(s *BankStatement) *uuid.UUID { return &s.TenantID }),
	db.Field("id", func(s *BankStatement) *uuid.UUID { return &s.ID }),
	db.Field("gateway_id", func(s *BankStatement) *uuid.UUID { return &s.GatewayID }),
	db.Field("name", func(s *BankStatement) *string { return &s.Name }),
	db.Field("content_hash", func(s *BankStatement) *string { return &s.ContentHash }),
	db.Field("state", func(s *BankStatement) *BankStatementState { return &s.State }),
	db.Field("problem", func(s *BankStatement) *string { return &s.Problem }),
	db.Field("line_count", func(s *BankStatement) *int { return &s.LineCount }),
	db.Time("created_at", func(s *BankStatement) *time.Time { return &s.CreatedAt }),
}}

// ScanBankStatement reads a row of BankStatements.
func ScanBankStatement(r db.Rows) (s BankStatement, err error) {
	return s, r.Scan(BankStatements.Fields(&s)...)
}

var selectBankStatement = `SELECT ` + BankStatements.List("s") + ` FROM bank_statements s `

// BankStatementByHash finds a file that was read before by its bytes.
func (t Tenant) BankStatementByHash(ctx context.Context, gatewayID uuid.UUID, hash string) (BankStatement, error) {
	result, err := t.Query(ctx, selectBankStatement+`WHERE s.tenant_id = $1 AND s.gateway_id = $2 AND s.content_hash = $3`, gatewayID, hash)
	return bankStatementOr(db.One(result, err, ScanBankStatement))
}

// BankStatementsSince gives what an account was answered since an instant, in the order in which it was taken in, beginning after one.
func (t Tenant) BankStatementsSince(ctx context.Context, gatewayID uuid.UUID, since time.Time, after uuid.UUID, limit int) ([]BankStatement, error) {
	result, err := t.Query(ctx, selectBankStatement+`WHERE s.tenant_id = $1 AND s.gateway_id = $2 AND s.created_at >= $3 AND s.id > $4
		ORDER BY s.id LIMIT $5`, gatewayID, db.Micros(since), after, limit)
	return db.Collect(result, err, ScanBankStatement)
}

// BankStatement reads a statement.
func (t Tenant) BankStatement(ctx context.Context, id uuid.UUID) (BankStatement, error) {
	result, err := t.Query(ctx, selectBankStatement+`WHERE s.tenant_id = $1 AND s.id = $2`, id)
	return bankStatementOr(db.One(result, err, ScanBankStatement))
}

func bankStatementOr(s BankStatement, err error) (BankStatement, error) {
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoBankStatement
	}
	return s, err
}

var selectBankLine = `SELECT ` + BankLines.List("l") + ` FROM bank_lines l WHERE l.tenant_id = $1 `

// BankLine reads one line.
func (t Tenant) BankLine(ctx context.Context, id uuid.UUID) (BankLine, error) {
	result, err := t.Query(ctx, selectBankLine+`AND l.id = $2`, id)
	line, err := db.One(result, err, ScanBankLine)
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoBankLine
	}
	return line, err
}

// BankLines gives the lines of a statement in their order, beginning after one.
func (t Tenant) BankLines(ctx context.Context, statementID uuid.UUID, after, limit int) ([]BankLine, error) {
	result, err := t.Query(ctx, selectBankLine+`AND l.statement_id = $2 AND l.position > $3 ORDER BY l.position LIMIT $4`, statementID, after, limit)
	return db.Collect(result, err, ScanBankLine)
}

// OpenBankLines gives the lines of an account that belong to nothing or cannot
// be, in the order in which they came, beginning after one.
func (t Tenant) OpenBankLines(ctx context.Context, gatewayID, after uuid.UUID, limit int) ([]BankLine, error) {
	result, err := t.Query(ctx, selectBankLine+`AND l.gateway_id = $2 AND l.result IN `+openResults+` AND l.id > $3
		ORDER BY l.id LIMIT $4`, gatewayID, after, limit)
	return db.Collect(result, err, ScanBankLine)
}

// BankMatch is what one source says of a file's payments: the bank's statements,
// its notices, its status reports, or our own records (""), by what it says.
type BankMatch struct {
	Source       string
	Kind         string
	Count        int
	SumMinor     payment.Minor
	ChargesMinor payment.Minor
}

// BankMatches holds our records of a file against what the bank said of it. A line
// that came in several files of one kind counts once. It goes through all lines of the tenant.
func (t Tenant) BankMatches(ctx context.Context, fileID uuid.UUID) ([]BankMatch, error) {
	result, err := t.Browse(ctx, `
		SELECT '' AS source, t.status, COUNT(*), CAST(SUM(e.amount_minor) AS bigint), 0
		FROM bank_file_entries e JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id
		WHERE e.tenant_id = $1 AND e.file_id = $2 GROUP BY t.status
		UNION ALL
		SELECT d.source, d.kind, COUNT(*), CAST(SUM(d.amount_minor) AS bigint), CAST(SUM(d.charges_minor) AS bigint) FROM (
			SELECT DISTINCT l.source, l.kind, l.transaction_id, l.reference, l.amount_minor, l.charges_minor, l.booking_date
			FROM bank_lines l WHERE l.tenant_id = $1 AND l.result NOT IN ('ignored', 'unmatched', 'contradicts') AND (
				EXISTS (SELECT 1 FROM bank_file_entries e WHERE e.tenant_id = $1 AND e.file_id = $2 AND e.transaction_id = l.transaction_id)
				OR l.transaction_id IS NULL AND (
					l.reference IN (SELECT DISTINCT e.block_id FROM bank_file_entries e WHERE e.tenant_id = $1 AND e.file_id = $2)
					OR l.reference = (SELECT f.message_id FROM bank_files f WHERE f.tenant_id = $1 AND f.id = $2)))) AS d
		GROUP BY d.source, d.kind ORDER BY 1, 2`, fileID)
	return db.Collect(result, err, func(r db.Rows) (m BankMatch, err error) {
		return m, r.Scan(&m.Source, &m.Kind, &m.Count, &m.SumMinor, &m.ChargesMinor)
	})
}
