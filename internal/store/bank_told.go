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

// BookedOn gives for some collections the last day on which a bank has booked that their money came, one by one or with all of their
// block or file.
func (t Tenant) BookedOn(ctx context.Context, transactionIDs []uuid.UUID) (map[uuid.UUID]string, error) {
	days := map[uuid.UUID]string{}
	note := func(r db.Rows) (id uuid.UUID, err error) {
		var day string
		if err = r.Scan(&id, &day); err == nil {
			days[id] = max(days[id], day)
		}
		return id, err
	}
	_, err := findNamed(ctx, t, `SELECT l.transaction_id, l.booking_date FROM bank_lines l WHERE l.tenant_id = $1 AND l.kind = 'collected' AND l.transaction_id`,
		transactionIDs, nil, note)
	if err == nil {
		_, err = findNamed(ctx, t, `SELECT e.transaction_id, l.booking_date FROM bank_file_entries e
			JOIN bank_files f ON f.tenant_id = e.tenant_id AND f.id = e.file_id
			JOIN bank_lines l ON l.tenant_id = e.tenant_id AND l.gateway_id = e.gateway_id AND l.reference IN (e.block_id, f.message_id)
			WHERE e.tenant_id = $1 AND l.kind = 'collected' AND e.transaction_id`, transactionIDs, nil, note)
	}
	return days, err
}
