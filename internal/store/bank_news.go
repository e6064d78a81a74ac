package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// BankNews is what is known of a payment that did not go through: since when, and the bank's reason.
type BankNews struct {
	At     time.Time
	Reason string
	// IsOfThisFile tells that the file itself was found to say so, when it was read before.
	IsOfThisFile bool
}

// BankNews gives, of some payments, those that did not go through and of which no line of another file has told so that is like
// one: of the same kind of file, and of another day. Each kind of file tells a booking once, or again with the same day.
func (t Tenant) BankNews(ctx context.Context, like BankLine, statementID uuid.UUID, transactionIDs []uuid.UUID) (map[uuid.UUID]BankNews, error) {
	type found struct {
		id uuid.UUID
		BankNews
	}
	all, err := findNamed(ctx, t, `
		SELECT t.id, COALESCE(c.reported_at, t.updated_at), COALESCE(c.reason_code, t.gateway_code), EXISTS (
			SELECT 1 FROM bank_lines l WHERE l.tenant_id = t.tenant_id AND l.transaction_id = t.id AND l.kind = $3 AND l.statement_id = $5
				AND l.result NOT IN `+openResults+`)
		FROM transactions t LEFT JOIN chargebacks c ON c.tenant_id = t.tenant_id AND c.merchant_transaction_id = t.merchant_transaction_id
		WHERE t.tenant_id = $1 AND t.status IN ('declined', 'charged_back') AND NOT EXISTS (
			SELECT 1 FROM bank_lines l WHERE l.tenant_id = t.tenant_id AND l.transaction_id = t.id AND l.source = $2 AND l.kind = $3
				AND l.booking_date <> $4 AND l.statement_id <> $5 AND l.result NOT IN `+openResults+`)
		AND t.id`, transactionIDs, []any{like.Source, like.Kind, like.BookingDate, statementID}, func(r db.Rows) (f found, err error) {
		return f, r.Scan(&f.id, db.Instant{To: &f.At}, &f.Reason, &f.IsOfThisFile)
	})
	news := make(map[uuid.UUID]BankNews, len(all))
	for _, one := range all {
		news[one.id] = one.BankNews
	}
	return news, err
}
