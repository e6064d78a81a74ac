package store

import (
	"database/sql"

	"sepad/internal/db"
	"sepad/internal/payment"
)

const transactionColumns = `t.tenant_id, t.id, t.session_id, t.order_id, t.subscription_id, t.lead_id, t.gateway_id,
	t.merchant_transaction_id, t.tenant_reference_id, t.gateway_reference, t.processor_id, t.status, t.type, t.amount_minor, t.currency,
	t.sequence_type, t.source, t.iban_masked, t.iban_country, t.bic, t.bank_name, t.holder_name, t.email,
	t.mandate_reference, t.mandate_at, t.attempt_number, t.in_flight, t.lookup_count, t.next_lookup_at, t.settle_due_at,
	t.verification_url, t.verification_reference, t.decline_code, t.decline_message, t.gateway_code, t.gateway_message,
	t.processed_at, t.created_at, t.updated_at, t.refund_of, t.refunded_minor, t.refunding_minor,
	t.billing_period`

// transactionRow is a transaction while it is being scanned.
type transactionRow struct {
	payment.Transaction
	inFlight sql.NullString
	decline  payment.Decline
}

func (row *transactionRow) fields() []any {
	t, d := &row.Transaction, &row.decline
	return []any{
		&t.TenantID, &t.ID, &t.SessionID, &t.OrderID, &t.SubscriptionID, &t.LeadID, &t.GatewayID,
		&t.MerchantTransactionID, &t.TenantReferenceID, &t.GatewayReference, &t.ProcessorID, &t.Status, &t.Type, &t.AmountMinor, &t.Currency,
		&t.SequenceType, &t.Source, &t.MaskedIBAN, &t.IBANCountry, &t.BIC, &t.BankName, &t.HolderName, &t.Email,
		&t.MandateReference,
		db.Instant{To: &t.MandateAt},
		&t.Attempt.Number, &row.inFlight, &t.Attempt.LookupCount,
		db.Instant{To: &t.Attempt.NextLookupAt},
		db.Instant{To: &t.SettleDueAt},
		&t.VerificationURL, &t.VerificationReference, &d.Code, &d.Message, &d.GatewayCode, &d.GatewayMessage,
		db.Instant{To: &t.ProcessedAt},
		db.Instant{To: &t.CreatedAt},
		db.Instant{To: &t.UpdatedAt},
		&t.RefundOf, &t.RefundedMinor, &t.RefundingMinor, &t.Period,
	}
}

// transaction puts together what the columns hold apart.
func (row *transactionRow) transaction() payment.Transaction {
	t := row.Transaction
	t.Attempt.Phase = payment.Phase(row.inFlight.String)
	if row.decline.Code != "" {
		t.Decline = &row.decline
	}
	return t
}

// insertTransaction writes the transaction of a new attempt.
func (tx *Tx) insertTransaction(t payment.Transaction, sealedIBAN string) {
	tx.Then(`
		INSERT INTO transactions (tenant_id, id, session_id, order_id, lead_id, gateway_id, merchant_transaction_id,
			tenant_reference_id, gateway_reference, status, type, amount_minor, currency, sequence_type, source,
			iban_sealed, iban_masked, iban_country, bic, bank_name, holder_name, email, mandate_reference, mandate_at,
			attempt_number, in_flight, lookup_count, next_lookup_at, verification_url, verification_reference,
			decline_code, decline_message, gateway_code, gateway_message, created_at, updated_at, subscription_id,
			billing_period)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
			$23, $24, $25, 0, db_now() + $26, '', '', '', '', '', '', $27, $27, $28, $29)`,
		t.TenantID, t.ID, t.SessionID, t.OrderID, t.LeadID, t.GatewayID, t.MerchantTransactionID,
		t.TenantReferenceID, t.Status, t.Type, t.AmountMinor, t.Currency, t.SequenceType, t.Source,
		sealedIBAN, t.MaskedIBAN, t.IBANCountry, t.BIC, t.BankName, t.HolderName, t.Email, t.MandateReference,
		db.Micros(t.MandateAt), t.Attempt.Number, t.Attempt.Phase, t.Attempt.Silence.Microseconds(), db.Micros(tx.At),
		t.SubscriptionID, t.Period)
}

// updateTransaction writes what has become of a transaction, if the row is still
// in the state in which it was read; otherwise Write gives ErrStale.
func (tx *Tx) updateTransaction(before, t payment.Transaction) {
	decline := payment.Decline{}
	if t.Decline != nil {
		decline = *t.Decline
	}
	tx.Require(ErrStale, `
		UPDATE transactions SET status = $7, gateway_reference = $8, subscription_id = $9, in_flight = $10,
			lookup_count = $11, next_lookup_at = $12, settle_due_at = $13, verification_url = $14,
			verification_reference = $15, decline_code = $16, decline_message = $17, gateway_code = $18,
			gateway_message = $19, processed_at = $20, refunded_minor = $21, refunding_minor = $22, updated_at = $23
		WHERE tenant_id = $1 AND id = $2 AND status = $3 AND COALESCE(in_flight, '') = $4 AND refunded_minor = $5
			AND refunding_minor = $6`,
		before.TenantID, before.ID, before.Status, before.Attempt.Phase, before.RefundedMinor, before.RefundingMinor,
		t.Status, t.GatewayReference, t.SubscriptionID, phase(t.Attempt.Phase), t.Attempt.LookupCount,
		db.Micros(t.Attempt.NextLookupAt), db.Micros(t.SettleDueAt), t.VerificationURL, t.VerificationReference, decline.Code,
		decline.Message, decline.GatewayCode, decline.GatewayMessage, db.Micros(t.ProcessedAt), t.RefundedMinor,
		t.RefundingMinor, db.Micros(tx.At))
}

// phase is NULL when no answer is outstanding, which keeps the row out of the
// indexes of open attempts.
func phase(p payment.Phase) any {
	if p == "" {
		return nil
	}
	return string(p)
}

// silence is how long from now nobody asks about an attempt, and NULL for one that
// needs no answer.
func silence(a payment.Attempt) any {
	if a.Phase == "" {
		return nil
	}
	return a.Silence.Microseconds()
}
