package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// ErrNoBankStatement is the answer for a statement that nobody has.
var ErrNoBankStatement = &payment.Error{Kind: payment.NotFound, Detail: "Bank statement not found"}

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
	StatementID uuid.UUID
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

// PutBankStatement records that a file is being read. One whose reading was
// interrupted begins anew.
func (tx *Tx) PutBankStatement(s BankStatement, sealed string) {
	tx.Then(`DELETE FROM bank_lines WHERE tenant_id = $1 AND statement_id = $2`, s.TenantID, s.ID)
	tx.Then(`
		INSERT INTO bank_statements (tenant_id, id, gateway_id, name, content_hash, content, state, problem, line_count, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (tenant_id, id) DO UPDATE SET state = excluded.state, problem = excluded.problem, line_count = excluded.line_count`,
		s.TenantID, s.ID, s.GatewayID, s.Name, s.ContentHash, sealed, string(s.State), s.Problem, s.LineCount, db.Micros(tx.At))
}

// EndBankStatement records how the reading of a file ended.
func (tx *Tx) EndBankStatement(s BankStatement) {
	tx.Then(`UPDATE bank_statements SET state = $3, problem = $4, line_count = $5 WHERE tenant_id = $1 AND id = $2`,
		s.TenantID, s.ID, string(s.State), s.Problem, s.LineCount)
}

// AddBankLines writes lines of a file with what became of them.
func (tx *Tx) AddBankLines(s BankStatement, lines []BankLine) {
	const columns = 17
	for batch := range db.InBatches(lines) {
		args := make([]any, 0, columns*len(batch))
		for _, l := range batch {
			args = append(args, s.TenantID, s.ID, l.Position, s.GatewayID, l.Source, l.Kind, l.AmountMinor, l.ChargesMinor, l.Currency,
				number(l.IsCredit), l.BookingDate, l.Reference, l.Reason, l.SealedText, string(l.Result), l.Note, l.TransactionID)
		}
		tx.Then(`INSERT INTO bank_lines (tenant_id, statement_id, position, gateway_id, source, kind, amount_minor, charges_minor,
			currency, is_credit, booking_date, reference, reason, text_sealed, result, note, transaction_id)
			VALUES `+db.Placeholders(1, len(batch), columns)+` ON CONFLICT DO NOTHING`, args...)
	}
}

// AssignBankLine records what a person says a line belongs to.
func (tx *Tx) AssignBankLine(tenantID uuid.UUID, l BankLine) {
	tx.Require(ErrStale, `
		UPDATE bank_lines SET result = $4, note = $5, transaction_id = $6
		WHERE tenant_id = $1 AND statement_id = $2 AND position = $3 AND result IN ('unmatched', 'contradicts')`,
		tenantID, l.StatementID, l.Position, string(l.Result), l.Note, l.TransactionID)
}

// number is how a flag is kept in a column of numbers.
func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

const bankStatementColumns = `s.id, s.tenant_id, s.gateway_id, s.name, s.content_hash, s.state, s.problem, s.line_count, s.created_at`

func scanBankStatement(r db.Rows) (s BankStatement, err error) {
	return s, r.Scan(&s.ID, &s.TenantID, &s.GatewayID, &s.Name, &s.ContentHash, &s.State, &s.Problem, &s.LineCount, db.Instant{To: &s.CreatedAt})
}

// BankStatementByHash finds a file that was read before by its bytes.
func (t Tenant) BankStatementByHash(ctx context.Context, gatewayID uuid.UUID, hash string) (BankStatement, error) {
	result, err := t.Query(ctx, `SELECT `+bankStatementColumns+` FROM bank_statements s
		WHERE s.tenant_id = $1 AND s.gateway_id = $2 AND s.content_hash = $3`, gatewayID, hash)
	return bankStatementOr(db.One(result, err, scanBankStatement))
}

// BankStatement reads a statement.
func (t Tenant) BankStatement(ctx context.Context, id uuid.UUID) (BankStatement, error) {
	result, err := t.Query(ctx, `SELECT `+bankStatementColumns+` FROM bank_statements s WHERE s.tenant_id = $1 AND s.id = $2`, id)
	return bankStatementOr(db.One(result, err, scanBankStatement))
}

func bankStatementOr(s BankStatement, err error) (BankStatement, error) {
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoBankStatement
	}
	return s, err
}

// BankStatements lists the files that an account's bank answered with, newest
// first.
func (t Tenant) BankStatements(ctx context.Context, gatewayID uuid.UUID, limit int) ([]BankStatement, error) {
	result, err := t.Query(ctx, `SELECT `+bankStatementColumns+` FROM bank_statements s
		WHERE s.tenant_id = $1 AND s.gateway_id = $2 ORDER BY s.created_at DESC, s.id DESC LIMIT $3`, gatewayID, limit)
	return db.Collect(result, err, scanBankStatement)
}

const bankLineQuery = `
	SELECT statement_id, position, source, kind, amount_minor, charges_minor, currency, is_credit = 1, booking_date, reference,
		reason, text_sealed, result, note, transaction_id
	FROM bank_lines WHERE tenant_id = $1 `

func scanBankLine(r db.Rows) (l BankLine, err error) {
	return l, r.Scan(&l.StatementID, &l.Position, &l.Source, &l.Kind, &l.AmountMinor, &l.ChargesMinor, &l.Currency, &l.IsCredit,
		&l.BookingDate, &l.Reference, &l.Reason, &l.SealedText, &l.Result, &l.Note, &l.TransactionID)
}

// BankLines gives the lines of a statement in their order, beginning after one.
func (t Tenant) BankLines(ctx context.Context, statementID uuid.UUID, after, limit int) ([]BankLine, error) {
	result, err := t.Query(ctx, bankLineQuery+`AND statement_id = $2 AND position > $3 ORDER BY position LIMIT $4`, statementID, after, limit)
	return db.Collect(result, err, scanBankLine)
}

// OpenBankLines gives the lines of an account that belong to nothing or cannot
// be, in the order in which they came.
func (t Tenant) OpenBankLines(ctx context.Context, gatewayID uuid.UUID, limit int) ([]BankLine, error) {
	result, err := t.Query(ctx, bankLineQuery+`AND gateway_id = $2 AND result IN ('unmatched', 'contradicts')
		ORDER BY statement_id, position LIMIT $3`, gatewayID, limit)
	return db.Collect(result, err, scanBankLine)
}
