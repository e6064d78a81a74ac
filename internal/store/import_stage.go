package store

import (
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// Staged is a line of a processor's file on its way into the transactions: what
// the line says, under the id that it gets if it is new.
type Staged struct {
	Line int
	payment.Transaction
}

var stagedColumns = []string{
	"tenant_id", "import_id", "line", "id", "merchant_transaction_id", "gateway_reference", "processor_id", "status", "type", "amount_minor",
	"currency", "iban_masked", "iban_country", "bic", "holder_name", "email", "mandate_reference", "mandate_at", "processed_at",
}

// stagedRow is a line within its import.
type stagedRow struct {
	importID uuid.UUID
	*Staged
}

func (r stagedRow) Values() []any {
	t := &r.Transaction
	return []any{
		t.TenantID, r.importID, r.Line, t.ID, t.MerchantTransactionID, t.GatewayReference, t.ProcessorID, string(t.Status), string(t.Type),
		t.AmountMinor, t.Currency, t.MaskedIBAN, t.IBANCountry, t.BIC, t.HolderName, t.Email, t.MandateReference,
		db.Micros(t.MandateAt), db.Micros(t.ProcessedAt),
	}
}

func (r stagedRow) AppendCopy(dst []byte) []byte {
	t := &r.Transaction
	dst = db.AppendCopyID(db.AppendCopyID(dst, t.TenantID), r.importID)
	dst = db.AppendCopyID(db.AppendCopyNumber(dst, int64(r.Line)), t.ID)
	dst = db.AppendCopyText(dst, t.MerchantTransactionID)
	dst = db.AppendCopyText(dst, t.GatewayReference)
	dst = db.AppendCopyText(dst, t.ProcessorID)
	dst = db.AppendCopyText(dst, string(t.Status))
	dst = db.AppendCopyText(dst, string(t.Type))
	dst = db.AppendCopyNumber(dst, int64(t.AmountMinor))
	for _, text := range [...]string{t.Currency, t.MaskedIBAN, t.IBANCountry, t.BIC, t.HolderName, t.Email, t.MandateReference} {
		dst = db.AppendCopyText(dst, text)
	}
	if t.MandateAt.IsZero() {
		dst = db.AppendCopyNull(dst)
	} else {
		dst = db.AppendCopyNumber(dst, t.MandateAt.UnixMicro())
	}
	dst = db.AppendCopyNumber(dst, t.ProcessedAt.UnixMicro())
	dst[len(dst)-1] = '\n'
	return dst
}

// Stage writes lines of a file beside the transactions, where they can be held
// against them.
func (tx *Tx) Stage(importID uuid.UUID, lines []Staged) error {
	rows := make([]db.BulkRow, len(lines))
	for i := range lines {
		rows[i] = stagedRow{importID, &lines[i]}
	}
	return tx.Load("staged_transactions", stagedColumns, rows)
}

// Unstage removes an import's lines.
func (tx *Tx) Unstage(tenantID, importID uuid.UUID) {
	tx.Then(`DELETE FROM staged_transactions WHERE tenant_id = $1 AND import_id = $2`, tenantID, importID)
}

// InsertStaged makes transactions of the staged lines whose reference is new, and
// gives their ids. Files are in any order, and two that have lines in common must not wait for
// each other crosswise.
func (tx *Tx) InsertStaged(tenantID, importID, gatewayID uuid.UUID, source payment.Source) ([]uuid.UUID, error) {
	result, err := tx.Query(`
		INSERT INTO transactions (tenant_id, id, gateway_id, merchant_transaction_id, gateway_reference, processor_id, status, type,
			amount_minor, currency, sequence_type, source, iban_sealed, iban_masked, iban_country, bic, bank_name,
			holder_name, email, mandate_reference, mandate_at, attempt_number, lookup_count, verification_url,
			verification_reference, decline_code, decline_message, gateway_code, gateway_message, processed_at,
			created_at, updated_at)
		SELECT s.tenant_id, s.id, $3, s.merchant_transaction_id, s.gateway_reference, s.processor_id, s.status, s.type, s.amount_minor,
			s.currency, '', $4, '', s.iban_masked, s.iban_country, s.bic, '', s.holder_name, s.email, s.mandate_reference,
			s.mandate_at, 0, 0, '', '', '', '', '', '', s.processed_at, $5, $5
		FROM staged_transactions s WHERE s.tenant_id = $1 AND s.import_id = $2
		ORDER BY s.merchant_transaction_id, s.line
		ON CONFLICT (tenant_id, merchant_transaction_id) DO NOTHING
		RETURNING id`, tenantID, importID, gatewayID, string(source), db.Micros(tx.At))
	return db.Collect(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
}

// Difference is a staged line that says something else than the transaction of
// the same reference.
type Difference struct {
	Line     int
	Known    payment.Transaction
	Reported payment.Transaction
}

// DifferentStaged gives the staged lines that differ from what is known.
func (tx *Tx) DifferentStaged(tenantID, importID, gatewayID uuid.UUID) ([]Difference, error) {
	result, err := tx.Query(differenceQuery, tenantID, importID, gatewayID)
	return db.Collect(result, err, scanDifference)
}

const differenceQuery = `
	SELECT s.line, t.id, t.tenant_id, t.gateway_id, t.merchant_transaction_id, t.status, t.type, t.amount_minor, t.currency,
		s.status, s.type, s.amount_minor, s.currency, s.gateway_reference, s.processor_id, s.processed_at
	FROM staged_transactions s
	JOIN transactions t ON t.tenant_id = s.tenant_id AND t.merchant_transaction_id = s.merchant_transaction_id
	WHERE s.tenant_id = $1 AND s.import_id = $2 AND t.id <> s.id
		AND NOT (t.gateway_id = $3 AND t.status = s.status AND t.amount_minor = s.amount_minor AND t.currency = s.currency
			AND t.type = s.type)
	ORDER BY s.line`

func scanDifference(r db.Rows) (d Difference, err error) {
	k, p := &d.Known, &d.Reported
	err = r.Scan(&d.Line, &k.ID, &k.TenantID, &k.GatewayID, &k.MerchantTransactionID, &k.Status, &k.Type, &k.AmountMinor,
		&k.Currency, &p.Status, &p.Type, &p.AmountMinor, &p.Currency, &p.GatewayReference, &p.ProcessorID,
		db.Instant{To: &p.ProcessedAt})
	p.MerchantTransactionID = k.MerchantTransactionID
	return d, err
}

// StagedWithChargeback gives the transactions of staged lines for which a
// chargeback waits that came before them.
func (tx *Tx) StagedWithChargeback(tenantID, importID, gatewayID uuid.UUID) ([]uuid.UUID, error) {
	result, err := tx.Query(stagedWithChargeback, tenantID, importID, gatewayID)
	return db.Collect(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
}

// stagedWithChargeback begins with the names that the lines have, each of which an index finds: SQLite would hold each line
// against all chargebacks that wait at the account, and everybody would wait for its writer. The gateway is therefore a condition
// that no index serves.
var stagedWithChargeback = `
	SELECT t.id FROM staged_transactions s
	JOIN transactions t ON t.tenant_id = s.tenant_id AND t.merchant_transaction_id = s.merchant_transaction_id
	WHERE s.tenant_id = $1 AND s.import_id = $2
		AND (s.merchant_transaction_id IN ` + waitingUnder("merchant_transaction_id") + `
			OR s.gateway_reference IN ` + waitingUnder("gateway_reference") + `)`

// waitingUnder are those of the lines' names under which a chargeback waits.
func waitingUnder(name string) string {
	return `(SELECT c.` + name + ` FROM chargebacks c
		WHERE c.tenant_id = $1 AND c.transaction_id IS NULL AND NOT c.gateway_id <> $3 AND c.` + name + ` <> ''
			AND c.` + name + ` IN (SELECT l.` + name + ` FROM staged_transactions l WHERE l.tenant_id = $1 AND l.import_id = $2))`
}

// FailImports ends imports whose process has died: what began before an instant of real time and is not over will never be.
// One that goes on all the same says how it ended when it does.
func (tx *Tx) FailImports(before time.Time) {
	tx.Then(`UPDATE imports SET status = 'failed', updated_at = $2 WHERE status = 'running' AND id < $1`, firstID(before), db.Micros(tx.At))
}
