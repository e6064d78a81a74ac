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

// RivalBankLines gives, of some lines of a file that speak of payments which they do not name, those that brought nothing new though
// another file of the kind has told of the same payment, on another day or in another statement or notice of the same day. Where
// such a line brought the news itself, it gives the others like it that brought none: they were read at the same time.
func (t Tenant) RivalBankLines(ctx context.Context, statementID uuid.UUID, positions []int) ([]BankLine, error) {
	rivals, isSeen := []BankLine{}, map[uuid.UUID]bool{}
	found, err := findNamed(ctx, t, `
		SELECT `+BankLines.List("r")+` FROM bank_lines l
		JOIN bank_lines o ON o.tenant_id = l.tenant_id AND o.transaction_id = l.transaction_id AND o.source = l.source AND o.kind = l.kind
			AND o.statement_id <> l.statement_id AND o.result NOT IN `+openResults+` AND (o.booking_date <> l.booking_date OR l.source <> 'camt.052')
		JOIN bank_lines r ON r.tenant_id = l.tenant_id AND r.result = 'known' AND r.reference = l.reference
			AND r.id = CASE l.result WHEN 'known' THEN l.id WHEN 'returned' THEN o.id END
		WHERE l.tenant_id = $1 AND l.statement_id = $2 AND l.position`, positions, []any{statementID}, ScanBankLine)
	for _, line := range found {
		if !isSeen[line.ID] {
			isSeen[line.ID] = true
			rivals = append(rivals, line)
		}
	}
	return rivals, err
}
