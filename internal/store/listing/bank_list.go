package listing

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// BankFileSearch says which files for banks are looked for.
type BankFileSearch struct {
	Common
	GatewayID uuid.UUID
	State     store.BankFileState
}

var bankFileSearch = searched[store.BankFile]{
	table: "bank_files", name: "f", scan: store.ScanBankFile, id: func(f *store.BankFile) uuid.UUID { return f.ID },
	query: `SELECT ` + store.BankFiles.List("f") + ` FROM bank_files f WHERE f.tenant_id = $1`,
}

func (f BankFileSearch) conditions() conditions {
	return conditions{passing: slices.Concat(when("f.gateway_id = $%d", f.GatewayID), when("f.state = $%d", string(f.State)),
		period("f.created_at", f.CreatedFrom, f.CreatedBefore))}
}

// SearchBankFiles lists files for banks.
func SearchBankFiles(ctx context.Context, s *store.Store, f BankFileSearch, at Paging) (Part[store.BankFile], error) {
	return bankFileSearch.of(ctx, s, f.TenantID, at, f.conditions())
}

// BankStatementSearch says which answers of banks are looked for.
type BankStatementSearch struct {
	Common
	GatewayID uuid.UUID
}

var bankStatementSearch = searched[store.BankStatement]{
	table: "bank_statements", name: "s", scan: store.ScanBankStatement, id: func(s *store.BankStatement) uuid.UUID { return s.ID },
	query: `SELECT ` + store.BankStatements.List("s") + ` FROM bank_statements s WHERE s.tenant_id = $1`,
}

func (f BankStatementSearch) conditions() conditions {
	return conditions{passing: slices.Concat(when("s.gateway_id = $%d", f.GatewayID), period("s.created_at", f.CreatedFrom, f.CreatedBefore))}
}

// SearchBankStatements lists answers of banks.
func SearchBankStatements(ctx context.Context, s *store.Store, f BankStatementSearch, at Paging) (Part[store.BankStatement], error) {
	return bankStatementSearch.of(ctx, s, f.TenantID, at, f.conditions())
}

// BankLineSearch says which lines of banks' answers are looked for.
type BankLineSearch struct {
	TenantID, GatewayID, StatementID uuid.UUID
	// Matched asks for those that belong to something, or to nothing; nil for both.
	Matched *bool
}

var bankLineSearch = searched[store.BankLine]{
	table: "bank_lines", name: "l", scan: store.ScanBankLine, id: func(l *store.BankLine) uuid.UUID { return l.ID },
	query: `SELECT ` + store.BankLines.List("l") + ` FROM bank_lines l WHERE l.tenant_id = $1`,
}

func (f BankLineSearch) conditions() conditions {
	c := conditions{passing: slices.Concat(when("l.gateway_id = $%d", f.GatewayID), when("l.statement_id = $%d", f.StatementID))}
	switch {
	case f.Matched == nil:
	case *f.Matched:
		c.passing = append(c.passing, condition{text: "l.result NOT IN ('unmatched', 'contradicts')"})
	default:
		c.indexed = append(c.indexed, condition{text: "l.result IN ('unmatched', 'contradicts')"})
	}
	return c
}

// SearchBankLines lists lines of banks' answers.
func SearchBankLines(ctx context.Context, s *store.Store, f BankLineSearch, at Paging) (Part[store.BankLine], error) {
	return bankLineSearch.of(ctx, s, f.TenantID, at, f.conditions())
}
