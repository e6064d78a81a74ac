package store

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// ToldOnAnotherDay gives those of some payments of which a line of another file has told that is like one, of the same kind and in the
// same kind of file, but of another day: each kind of file tells a booking once, or again with the same day.
func (t Tenant) ToldOnAnotherDay(ctx context.Context, like BankLine, statementID uuid.UUID, transactionIDs []uuid.UUID) ([]uuid.UUID, error) {
	return findNamed(ctx, t, `
		SELECT l.transaction_id FROM bank_lines l
		WHERE l.tenant_id = $1 AND l.source = $2 AND l.kind = $3 AND l.booking_date <> $4 AND l.statement_id <> $5 AND l.result NOT IN `+openResults+`
			AND l.transaction_id`, transactionIDs, []any{like.Source, like.Kind, like.BookingDate, statementID}, func(r db.Rows) (id uuid.UUID, err error) {
		return id, r.Scan(&id)
	})
}
