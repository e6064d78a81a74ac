package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// RecordAcceptance writes the evidence of a payer's agreement beside the
// attempt that this unit claims.
func (tx *Tx) RecordAcceptance(t payment.Transaction, a payment.Acceptance) {
	tx.Then(`
		INSERT INTO mandate_acceptances (tenant_id, transaction_id, session_id, acceptance_mode, language, text_version,
			text, text_hash, client_ip, user_agent, accepted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		t.TenantID, t.ID, *t.SessionID, string(a.Mode), a.Language, a.TextVersion,
		a.Text, a.TextHash, a.ClientIP, a.UserAgent, db.Micros(tx.At))
}

// Acceptance reads the evidence that an attempt rests on, nil for an attempt
// that was not made on the hosted page.
func (t Tenant) Acceptance(ctx context.Context, transactionID uuid.UUID) (*payment.Acceptance, error) {
	result, err := t.Query(ctx, `
		SELECT transaction_id, session_id, acceptance_mode, language, text_version, text, text_hash, client_ip,
			user_agent, accepted_at
		FROM mandate_acceptances WHERE tenant_id = $1 AND transaction_id = $2`, transactionID)
	found, err := db.One(result, err, func(r db.Rows) (payment.Acceptance, error) {
		var a payment.Acceptance
		return a, r.Scan(&a.TransactionID, &a.SessionID, &a.Mode, &a.Language, &a.TextVersion, &a.Text, &a.TextHash,
			&a.ClientIP, &a.UserAgent, db.Instant{To: &a.AcceptedAt})
	})
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &found, err
}
