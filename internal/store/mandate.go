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

const acceptanceColumns = `a.transaction_id, a.session_id, a.acceptance_mode, a.language, a.text_version, a.text, a.text_hash,
	a.client_ip, a.user_agent, a.accepted_at`

func acceptanceFields(a *payment.Acceptance) []any {
	return []any{
		&a.TransactionID, &a.SessionID, &a.Mode, &a.Language, &a.TextVersion, &a.Text, &a.TextHash, &a.ClientIP, &a.UserAgent,
		db.Instant{To: &a.AcceptedAt},
	}
}

// Acceptance reads the evidence that an attempt rests on, nil for an attempt
// that was not made on the hosted page.
func (t Tenant) Acceptance(ctx context.Context, transactionID uuid.UUID) (*payment.Acceptance, error) {
	result, err := t.Query(ctx, `
		SELECT `+acceptanceColumns+`
		FROM mandate_acceptances a WHERE a.tenant_id = $1 AND a.transaction_id = $2`, transactionID)
	found, err := db.One(result, err, func(r db.Rows) (payment.Acceptance, error) {
		var a payment.Acceptance
		return a, r.Scan(acceptanceFields(&a)...)
	})
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil
	}
	return &found, err
}

// Evidence is a payer's agreement with the attempt that rests on it.
type Evidence struct {
	payment.Acceptance
	Transaction payment.Transaction
}

// evidenceStatement names the source, so that the index that holds the hosted
// page's attempts alone serves it.
var (
	selectEvidence = `
	SELECT ` + acceptanceColumns + `, ` + transactions.List("t") + `
	FROM transactions t
	JOIN mandate_acceptances a ON a.tenant_id = t.tenant_id AND a.transaction_id = t.id
	WHERE t.source = 'hosted_page' AND `
	evidenceStatement = selectEvidence + `t.mandate_reference = $1` + newestEvidence
)

const newestEvidence = `
	ORDER BY a.accepted_at DESC, t.id DESC`

// MandateEvidence reads what payers agreed to under a mandate's reference, the
// newest first. A bank that disputes a mandate names its reference alone, so
// that every tenant is asked.
func (s *Store) MandateEvidence(ctx context.Context, reference string) ([]Evidence, error) {
	result, err := s.Query(ctx, evidenceStatement, reference)
	all, err := db.Collect(result, err, scanEvidence)
	return reached(ctx, all, err, func(e Evidence) uuid.UUID { return e.Transaction.TenantID })
}

// MandateEvidence is that of the tenant alone.
func (t Tenant) MandateEvidence(ctx context.Context, reference string) ([]Evidence, error) {
	result, err := t.Query(ctx, selectEvidence+`t.tenant_id = $1 AND t.mandate_reference = $2`+newestEvidence, reference)
	return db.Collect(result, err, scanEvidence)
}

func scanEvidence(r db.Rows) (e Evidence, err error) {
	var row transactionRow
	err = r.Scan(append(acceptanceFields(&e.Acceptance), transactions.Fields(&row)...)...)
	e.Transaction = row.transaction()
	return e, err
}
