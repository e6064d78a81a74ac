package listing

import (
	"context"
	"slices"
	"time"

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

// ways ask for what was typed as files come by: there are a few a day.
func (f BankFileSearch) ways() []conditions {
	c := conditions{passing: slices.Concat(when("f.gateway_id = $%d", f.GatewayID), when("f.state = $%d", string(f.State)),
		period("f.created_at", f.CreatedFrom, f.CreatedBefore))}
	return waysOf(f.Text, c, func(w words) []conditions {
		return slices.Concat(
			only(when("f.id = $%d", w.ID)),
			only(when("f.id IN (SELECT e.file_id FROM bank_file_entries e WHERE e.tenant_id = $1 AND e.transaction_id = $%d)", w.ID)),
			passing(oneOf("f.name", w.References)), passing(oneOf("f.message_id", w.References)), passing(when("f.sum_minor = $%d", w.Amount)),
		)
	})
}

// SearchBankFiles lists files for banks.
func SearchBankFiles(ctx context.Context, s *store.Store, f BankFileSearch, at Paging) (Part[store.BankFile], error) {
	return bankFileSearch.of(ctx, s, f.TenantID, at, f.ways()...)
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

func (f BankStatementSearch) ways() []conditions {
	c := conditions{passing: slices.Concat(when("s.gateway_id = $%d", f.GatewayID), period("s.created_at", f.CreatedFrom, f.CreatedBefore))}
	return waysOf(f.Text, c, func(w words) []conditions {
		return slices.Concat(only(when("s.id = $%d", w.ID)), passing(oneOf("s.name", w.References)))
	})
}

// SearchBankStatements lists answers of banks.
func SearchBankStatements(ctx context.Context, s *store.Store, f BankStatementSearch, at Paging) (Part[store.BankStatement], error) {
	return bankStatementSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}

// BankLineSearch says which lines of banks' answers are looked for; a period is of the
// days on which they were booked.
type BankLineSearch struct {
	Common
	GatewayID, StatementID uuid.UUID
	// Matched asks for those that belong to something, or to nothing; nil for both.
	Matched *bool
}

var bankLineSearch = searched[store.BankLine]{
	table: "bank_lines", name: "l", scan: store.ScanBankLine, id: func(l *store.BankLine) uuid.UUID { return l.ID },
	query: `SELECT ` + store.BankLines.List("l") + ` FROM bank_lines l WHERE l.tenant_id = $1`,
}

func (f BankLineSearch) ways() []conditions {
	c := conditions{passing: slices.Concat(when("l.gateway_id = $%d", f.GatewayID), when("l.statement_id = $%d", f.StatementID),
		bookedOn("l.booking_date >= $%d", f.CreatedFrom), bookedOn("l.booking_date < $%d", f.CreatedBefore))}
	switch {
	case f.Matched == nil:
	case *f.Matched:
		c.passing = append(c.passing, condition{text: "l.result NOT IN ('unmatched', 'contradicts')"})
	default:
		c.indexed = append(c.indexed, condition{text: "l.result IN ('unmatched', 'contradicts')"})
	}
	return waysOf(f.Text, c, func(w words) []conditions {
		return slices.Concat(only(when("l.id = $%d", w.ID)), only(when(foundIn("l", "bank_lines", "y.transaction_id = $%d"), w.ID)),
			passing(oneOf("l.reference", w.References)), passing(when("l.amount_minor = $%d", w.Amount)))
	})
}

// bookedOn is a condition on the day of a booking.
func bookedOn(text string, at time.Time) []condition {
	if at.IsZero() {
		return nil
	}
	return []condition{{text: text, args: []any{at.UTC().Format(time.DateOnly)}}}
}

// SearchBankLines lists lines of banks' answers.
func SearchBankLines(ctx context.Context, s *store.Store, f BankLineSearch, at Paging) (Part[store.BankLine], error) {
	return bankLineSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}
