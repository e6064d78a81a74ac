package store

import (
	"database/sql"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// transactionRow is a transaction as its columns hold it.
type transactionRow struct {
	payment.Transaction
	inFlight sql.NullString
	decline  payment.Decline
}

// transactions are the rows of transactions, but for the sealed account, which is
// written once and read by whoever debits it.
var transactions = db.Table[transactionRow]{Name: "transactions", Columns: []db.Column[transactionRow]{
	db.Field("tenant_id", func(t *transactionRow) *uuid.UUID { return &t.TenantID }),
	db.Field("id", func(t *transactionRow) *uuid.UUID { return &t.ID }),
	db.Optional("session_id", func(t *transactionRow) **uuid.UUID { return &t.SessionID }),
	db.Optional("order_id", func(t *transactionRow) **uuid.UUID { return &t.OrderID }),
	db.Optional("subscription_id", func(t *transactionRow) **uuid.UUID { return &t.SubscriptionID }).Changing(),
	db.Optional("lead_id", func(t *transactionRow) **uuid.UUID { return &t.LeadID }),
	db.Field("gateway_id", func(t *transactionRow) *uuid.UUID { return &t.GatewayID }),
	db.Field("merchant_transaction_id", func(t *transactionRow) *string { return &t.MerchantTransactionID }).Changing(),
	db.Optional("tenant_reference_id", func(t *transactionRow) **string { return &t.TenantReferenceID }),
	db.Field("reference_inherited", func(t *transactionRow) *bool { return &t.InheritsReference }),
	db.Field("gateway_reference", func(t *transactionRow) *string { return &t.GatewayReference }).Changing(),
	db.Field("processor_id", func(t *transactionRow) *string { return &t.ProcessorID }).Changing(),
	db.Field("status", func(t *transactionRow) *payment.TransactionStatus { return &t.Status }).Changing(),
	db.Field("type", func(t *transactionRow) *payment.TransactionType { return &t.Type }),
	db.Field("amount_minor", func(t *transactionRow) *payment.Minor { return &t.AmountMinor }),
	db.Field("currency", func(t *transactionRow) *string { return &t.Currency }),
	db.Field("sequence_type", func(t *transactionRow) *payment.SequenceType { return &t.SequenceType }),
	db.Field("source", func(t *transactionRow) *payment.Source { return &t.Source }),
	db.Field("iban_masked", func(t *transactionRow) *string { return &t.MaskedIBAN }),
	db.Field("iban_country", func(t *transactionRow) *string { return &t.IBANCountry }),
	db.Field("bic", func(t *transactionRow) *string { return &t.BIC }),
	db.Field("bank_name", func(t *transactionRow) *string { return &t.BankName }),
	db.Field("holder_name", func(t *transactionRow) *string { return &t.HolderName }),
	db.Field("email", func(t *transactionRow) *string { return &t.Email }),
	db.Field("mandate_reference", func(t *transactionRow) *string { return &t.MandateReference }),
	db.Time("mandate_at", func(t *transactionRow) *time.Time { return &t.MandateAt }),
	db.Field("attempt_number", func(t *transactionRow) *int { return &t.Attempt.Number }),
	// NULL when no answer is outstanding, which keeps the row out of the indexes of
	// open attempts.
	db.Custom("in_flight",
		func(t *transactionRow) any { return &t.inFlight },
		func(t *transactionRow) any { return phase(t.Attempt.Phase) }).Changing(),
	db.Field("lookup_count", func(t *transactionRow) *int { return &t.Attempt.LookupCount }).Changing(),
	db.Time("next_lookup_at", func(t *transactionRow) *time.Time { return &t.Attempt.NextLookupAt }).Changing(),
	db.Time("settle_due_at", func(t *transactionRow) *time.Time { return &t.SettleDueAt }).Changing(),
	db.Field("verification_url", func(t *transactionRow) *string { return &t.VerificationURL }).Changing(),
	db.Field("verification_reference", func(t *transactionRow) *string { return &t.VerificationReference }).Changing(),
	db.Field("decline_code", func(t *transactionRow) *payment.DeclineCode { return &t.decline.Code }).Changing(),
	db.Field("decline_message", func(t *transactionRow) *string { return &t.decline.Message }).Changing(),
	db.Field("gateway_code", func(t *transactionRow) *string { return &t.decline.GatewayCode }).Changing(),
	db.Field("gateway_message", func(t *transactionRow) *string { return &t.decline.GatewayMessage }).Changing(),
	db.Time("processed_at", func(t *transactionRow) *time.Time { return &t.ProcessedAt }).Changing(),
	db.Time("created_at", func(t *transactionRow) *time.Time { return &t.CreatedAt }),
	db.Time("updated_at", func(t *transactionRow) *time.Time { return &t.UpdatedAt }).Changing(),
	db.Optional("refund_of", func(t *transactionRow) **uuid.UUID { return &t.RefundOf }),
	db.Field("refunded_minor", func(t *transactionRow) *payment.Minor { return &t.RefundedMinor }).Changing(),
	db.Field("refunding_minor", func(t *transactionRow) *payment.Minor { return &t.RefundingMinor }).Changing(),
	db.Optional("billing_period", func(t *transactionRow) **int { return &t.Period }),
	db.Custom("due_date",
		func(t *transactionRow) any { return dateInto{&t.DueDate} },
		func(t *transactionRow) any { return date(t.DueDate) }).Changing(),
}}

// transaction puts together what the columns hold apart.
func (row *transactionRow) transaction() payment.Transaction {
	t := row.Transaction
	t.Attempt.Phase = payment.Phase(row.inFlight.String)
	if row.decline.Code != "" {
		t.Decline = &row.decline
	}
	return t
}

// rowOf takes a transaction apart for its columns.
func (tx *Tx) rowOf(t payment.Transaction) *transactionRow {
	row := transactionRow{Transaction: t}
	if t.Decline != nil {
		row.decline = *t.Decline
	}
	row.UpdatedAt = tx.At
	return &row
}

// insertTransaction writes a new transaction. How long nobody asks about it counts
// from the database's present.
var (
	newTransaction    = transactions.Without("next_lookup_at")
	insertTransaction = `INSERT INTO transactions (` + newTransaction.List("") + `, next_lookup_at, iban_sealed)
		VALUES (` + newTransaction.Places(1) + `, db_now() + ` + db.Place(len(newTransaction.Columns)+1) + `, ` +
		db.Place(len(newTransaction.Columns)+2) + `)`
)

func (tx *Tx) newTransactionValues(t payment.Transaction, sealedIBAN string) []any {
	row := tx.rowOf(t)
	row.CreatedAt = tx.At
	return append(newTransaction.Values(row), silence(t.Attempt), sealedIBAN)
}

// updateTransaction writes what has become of a transaction, if the row is still
// in the state in which it was read; otherwise Write gives ErrStale.
func (tx *Tx) updateTransaction(before, t payment.Transaction) {
	tx.Require(ErrStale, updateTransaction, transactions.Changes(tx.rowOf(t),
		before.TenantID, before.ID, before.Status, before.Attempt.Phase, before.RefundedMinor, before.RefundingMinor, before.GatewayReference)...)
}

var updateTransaction = `UPDATE transactions SET ` + transactions.Set(8) + `
	WHERE tenant_id = $1 AND id = $2 AND status = $3 AND COALESCE(in_flight, '') = $4 AND refunded_minor = $5
		AND refunding_minor = $6 AND gateway_reference = $7`

// phase is the question that is outstanding, NULL for none.
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
