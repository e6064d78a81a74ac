package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// BankRestoredTo is the instant that a restored database is of, as long as nobody
// has made sure what an account's bank was sent since; zero otherwise.
func (s *Store) BankRestoredTo(ctx context.Context, tenantID, gatewayID uuid.UUID) (time.Time, error) {
	result, err := s.Query(ctx, `SELECT d.banks_restored_to FROM deployment d WHERE d.id = 1 AND NOT EXISTS (
		SELECT 1 FROM bank_resumptions r WHERE r.tenant_id = $1 AND r.gateway_id = $2 AND r.restored_to >= d.banks_restored_to)`, tenantID, gatewayID)
	all, err := db.Collect(result, err, func(r db.Rows) (at time.Time, err error) { return at, r.Scan(db.Instant{To: &at}) })
	if err != nil || len(all) == 0 {
		return time.Time{}, err
	}
	return all[0], nil
}

// BankResumedFrom is the instant of the backup behind which somebody has made sure what an account's bank was sent, zero where nobody had to.
func (t Tenant) BankResumedFrom(ctx context.Context, gatewayID uuid.UUID) (time.Time, error) {
	result, err := t.Query(ctx, `SELECT restored_to FROM bank_resumptions WHERE tenant_id = $1 AND gateway_id = $2`, gatewayID)
	at, err := db.One(result, err, func(r db.Rows) (at time.Time, err error) { return at, r.Scan(db.Instant{To: &at}) })
	if errors.Is(err, db.ErrNoRow) {
		err = nil
	}
	return at, err
}

// isProven tells a transaction of an account of which that is not so.
const isProven = `NOT EXISTS (SELECT 1 FROM deployment d WHERE d.id = 1 AND d.banks_restored_to IS NOT NULL AND NOT EXISTS (
	SELECT 1 FROM bank_resumptions r WHERE r.tenant_id = t.tenant_id AND r.gateway_id = t.gateway_id AND r.restored_to >= d.banks_restored_to))`

// ResumeBank notes that somebody has made sure of it.
func (tx *Tx) ResumeBank(tenantID, gatewayID uuid.UUID, restoredTo time.Time) {
	tx.Then(`INSERT INTO bank_resumptions (tenant_id, gateway_id, restored_to, resumed_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant_id, gateway_id) DO UPDATE SET restored_to = excluded.restored_to, resumed_at = excluded.resumed_at`,
		tenantID, gatewayID, db.Micros(restoredTo), db.Micros(tx.At))
	tx.Audit(Deed{
		Action: "gateway.resume_after_restore", ObjectType: "gateway", ObjectID: gatewayID.String(), TenantID: tenantID,
		Before: map[string]any{"restored_to": restoredTo.UTC()},
	})
}

// Adopted is a payment of a file that left after the backup, as its bytes tell.
type Adopted struct {
	EndToEndID   string
	Position     int
	BlockID      string
	DueDate      string
	SequenceType string
	AmountMinor  payment.Minor
}

var adopted = db.Table[Adopted]{Name: "bank_adopted", Columns: []db.Column[Adopted]{
	db.Field("end_to_end_id", func(a *Adopted) *string { return &a.EndToEndID }),
	db.Field("position", func(a *Adopted) *int { return &a.Position }),
	db.Field("block_id", func(a *Adopted) *string { return &a.BlockID }),
	db.Field("due_date", func(a *Adopted) *string { return &a.DueDate }),
	db.Field("sequence_type", func(a *Adopted) *string { return &a.SequenceType }),
	db.Field("amount_minor", func(a *Adopted) *payment.Minor { return &a.AmountMinor }),
}}

// AddAdopted keeps payments of a file that left after the backup from every other
// file.
func (tx *Tx) AddAdopted(f BankFile, payments []Adopted) {
	for batch := range db.InBatches(payments) {
		args := make([]any, 0, (3+len(adopted.Columns))*len(batch))
		for i := range batch {
			args = append(append(args, f.TenantID, f.GatewayID, f.MessageID), adopted.Values(&batch[i])...)
		}
		tx.Then(`INSERT INTO bank_adopted (tenant_id, gateway_id, message_id, `+adopted.List("")+`) VALUES `+
			db.Placeholders(1, len(batch), 3+len(adopted.Columns))+` ON CONFLICT DO NOTHING`, args...)
	}
}

// AdoptBankFile records a file that left after the backup.
func (tx *Tx) AdoptBankFile(f BankFile) {
	f.CreatedAt, f.UpdatedAt = tx.At, tx.At
	tx.Then(insertBankFile, BankFiles.Values(&f)...)
	tx.Audit(Deed{
		Action: "bank_file.adopt", ObjectType: "bank_file", ObjectID: f.ID.String(), TenantID: f.TenantID,
		After: map[string]any{"gateway_id": f.GatewayID, "kind": f.Kind, "message_id": f.MessageID},
	})
}

// AdoptedByAnother tells that somebody else has just recorded the same file.
func AdoptedByAnother(err error) bool { return db.IsKey(err, "bank_files_message_id_key") }

// AddAdoptedPart keeps sealed bytes of such a file.
func (tx *Tx) AddAdoptedPart(f BankFile, number int, sealed string) {
	tx.Then(`INSERT INTO bank_file_parts (tenant_id, id, file_id, draft, number, content_sealed) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`, f.TenantID, payment.NewID(), f.ID, f.Draft, number, sealed)
}

// ForgetBankFile removes a file that was not finished at the time of the backup:
// what was in it waits again.
func (tx *Tx) ForgetBankFile(f BankFile) {
	tx.Then(`UPDATE transactions SET gateway_reference = '', settle_due_at = $3, updated_at = $3 WHERE tenant_id = $1 AND status = 'pending'
		AND id IN (SELECT transaction_id FROM bank_file_entries WHERE tenant_id = $1 AND file_id = $2)`, f.TenantID, f.ID, db.Micros(tx.At))
	tx.Then(`DELETE FROM bank_file_entries WHERE tenant_id = $1 AND file_id = $2`, f.TenantID, f.ID)
	tx.Then(`DELETE FROM bank_file_parts WHERE tenant_id = $1 AND file_id = $2`, f.TenantID, f.ID)
	tx.Require(ErrStale, `DELETE FROM bank_files WHERE tenant_id = $1 AND id = $2 AND state IN ('open', 'closed')`, f.TenantID, f.ID)
	tx.Audit(Deed{
		Action: "bank_file.forget", ObjectType: "bank_file", ObjectID: f.ID.String(), TenantID: f.TenantID,
		Before: map[string]any{"gateway_id": f.GatewayID, "kind": f.Kind, "state": f.State},
	})
}

// CountAdopted counts what left after the backup and has no transaction yet.
func (t Tenant) CountAdopted(ctx context.Context, gatewayID uuid.UUID) (int, error) {
	result, err := t.Query(ctx, `SELECT COUNT(*) FROM bank_adopted WHERE tenant_id = $1 AND gateway_id = $2 AND NOT `+hasPlace, gatewayID)
	return db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
}

// LostOfBlock is what those in a block come to that have no place.
func (t Tenant) LostOfBlock(ctx context.Context, gatewayID uuid.UUID, blockID string) (payment.Minor, error) {
	return t.lostSum(ctx, `block_id`, gatewayID, blockID)
}

// LostOfFile is the same of a whole file.
func (t Tenant) LostOfFile(ctx context.Context, gatewayID uuid.UUID, messageID string) (payment.Minor, error) {
	return t.lostSum(ctx, `message_id`, gatewayID, messageID)
}

func (t Tenant) lostSum(ctx context.Context, column string, gatewayID uuid.UUID, name string) (payment.Minor, error) {
	result, err := t.Query(ctx, `SELECT CAST(COALESCE(SUM(amount_minor), 0) AS bigint) FROM bank_adopted
		WHERE tenant_id = $1 AND gateway_id = $2 AND `+column+` = $3 AND NOT `+hasPlace, gatewayID, name)
	return db.One(result, err, func(r db.Rows) (sum payment.Minor, err error) { return sum, r.Scan(&sum) })
}

// WaitingRebill is a rebill that waits for a file, with what its reference is made of.
type WaitingRebill struct {
	TransactionID uuid.UUID
	Reference     string
	Number        int
	// Subscription has its id, its rhythm and the rebill's period alone.
	Subscription payment.Subscription
}

// RebillsBesideAdopted gives rebills that wait at an account and are in no file that left after the backup, though a
// payment is that may be of the same period: references begin with the day of theirs.
func (t Tenant) RebillsBesideAdopted(ctx context.Context, gatewayID uuid.UUID) ([]WaitingRebill, error) {
	result, err := t.Query(ctx, `SELECT t.id, t.merchant_transaction_id, t.attempt_number, t.billing_period, u.id, u.billing_frequency, u.billing_anchor_date
		FROM transactions t JOIN subscriptions u ON u.tenant_id = t.tenant_id AND u.id = t.subscription_id
		WHERE t.tenant_id = $1 AND t.gateway_id = $2 AND `+waits+` AND t.status = 'pending' AND t.type = 'sdd_rebill' AND t.billing_period IS NOT NULL
			AND SUBSTR(t.merchant_transaction_id, 1, 13) IN (SELECT SUBSTR(a.end_to_end_id, 1, 13) FROM bank_adopted a WHERE a.tenant_id = $1 AND a.gateway_id = $2)
			AND `+notAdopted, gatewayID)
	return db.Collect(result, err, func(r db.Rows) (w WaitingRebill, err error) {
		return w, r.Scan(&w.TransactionID, &w.Reference, &w.Number, &w.Subscription.Period, &w.Subscription.ID, &w.Subscription.Frequency,
			dateInto{&w.Subscription.AnchorDate})
	})
}

// notAdopted tells a transaction that no file had which left after the backup.
const notAdopted = `NOT EXISTS (SELECT 1 FROM bank_adopted a WHERE a.tenant_id = t.tenant_id AND a.gateway_id = t.gateway_id
	AND a.end_to_end_id = t.merchant_transaction_id)`

// unknown tells a payment of a file that left after the backup of which nothing is known here.
const unknown = `NOT EXISTS (SELECT 1 FROM transactions x WHERE x.tenant_id = a.tenant_id AND x.merchant_transaction_id = a.end_to_end_id)`

// LostDebits gives the references of the debits among them.
func (t Tenant) LostDebits(ctx context.Context, gatewayID uuid.UUID) ([]string, error) {
	result, err := t.Query(ctx, `SELECT a.end_to_end_id FROM bank_adopted a WHERE a.tenant_id = $1 AND a.gateway_id = $2 AND a.sequence_type <> '' AND `+unknown, gatewayID)
	return db.Collect(result, err, func(r db.Rows) (name string, err error) { return name, r.Scan(&name) })
}

// LostDebitDays gives the days on which those of an amount were due, after one day and by another.
func (t Tenant) LostDebitDays(ctx context.Context, gatewayID uuid.UUID, amount payment.Minor, after, by string) ([]string, error) {
	result, err := t.Query(ctx, `SELECT DISTINCT a.due_date FROM bank_adopted a WHERE a.tenant_id = $1 AND a.gateway_id = $2 AND a.sequence_type <> ''
		AND a.amount_minor = $3 AND a.due_date > $4 AND a.due_date <= $5 AND `+unknown, gatewayID, amount, after, by)
	return db.Collect(result, err, func(r db.Rows) (day string, err error) { return day, r.Scan(&day) })
}

// RenameRebill calls a rebill that waits as the bank has it.
func (tx *Tx) RenameRebill(tenantID uuid.UUID, rebill WaitingRebill, to string) {
	tx.Then(`UPDATE transactions AS t SET merchant_transaction_id = $4, updated_at = $5
		WHERE t.tenant_id = $1 AND t.id = $2 AND t.merchant_transaction_id = $3 AND t.status = 'pending' AND `+waits+`
			AND NOT EXISTS (SELECT 1 FROM transactions x WHERE x.tenant_id = $1 AND x.merchant_transaction_id = $4)`,
		tenantID, rebill.TransactionID, rebill.Reference, to, db.Micros(tx.At))
}

// lostRefund is a refund among them.
const lostRefund = `a.sequence_type = '' AND ` + unknown

// AdoptedRefunds gives those that may be of a payment: their names begin with its day.
func (t Tenant) AdoptedRefunds(ctx context.Context, paid payment.Transaction) ([]Adopted, error) {
	return t.lostRefunds(ctx, ` AND SUBSTR(a.end_to_end_id, 1, 13) = $3`, paid.GatewayID, payment.RefundsDay(paid))
}

// LostRefunds gives all of an account.
func (t Tenant) LostRefunds(ctx context.Context, gatewayID uuid.UUID) ([]Adopted, error) {
	return t.lostRefunds(ctx, ``, gatewayID)
}

// lostRefunds have their name and amount alone, and are in the order in which their files were made: one that was refused comes
// before the one in its place.
func (t Tenant) lostRefunds(ctx context.Context, which string, args ...any) ([]Adopted, error) {
	result, err := t.Query(ctx, `SELECT a.end_to_end_id, a.amount_minor, a.message_id FROM bank_adopted a
		WHERE a.tenant_id = $1 AND a.gateway_id = $2`+which+` AND `+lostRefund+` ORDER BY a.position`, args...)
	made := map[string]string{}
	all, err := db.Collect(result, err, func(r db.Rows) (a Adopted, err error) {
		var messageID string
		err = r.Scan(&a.EndToEndID, &a.AmountMinor, &messageID)
		made[a.EndToEndID] = inOrder.Replace(messageID)
		return a, err
	})
	slices.SortStableFunc(all, func(a, b Adopted) int { return strings.Compare(made[a.EndToEndID], made[b.EndToEndID]) })
	return all, err
}

// inOrder makes ids of messages grow with time as what they are made of does: in base32 the digits come last.
var inOrder = strings.NewReplacer("2", "a", "3", "b", "4", "c", "5", "d", "6", "e", "7", "f")

// PaymentsBesideLostRefunds gives payments that can be refunded and are of the day of one of them, with what the names of their
// refunds are made of.
func (t Tenant) PaymentsBesideLostRefunds(ctx context.Context, gatewayID uuid.UUID) ([]payment.Transaction, error) {
	result, err := t.Query(ctx, `SELECT t.tenant_id, t.id, t.merchant_transaction_id, t.amount_minor FROM transactions t
		WHERE t.tenant_id = $1 AND t.gateway_id = $2 AND t.type IN ('sdd_sale', 'sdd_rebill') AND t.status = 'approved'
			AND SUBSTR(t.merchant_transaction_id, 1, 13) IN (
				SELECT SUBSTR(a.end_to_end_id, 1, 13) FROM bank_adopted a WHERE a.tenant_id = $1 AND a.gateway_id = $2 AND `+lostRefund+`)`, gatewayID)
	return db.Collect(result, err, func(r db.Rows) (p payment.Transaction, err error) {
		return p, r.Scan(&p.TenantID, &p.ID, &p.MerchantTransactionID, &p.AmountMinor)
	})
}

// AssignAdopted gives payments that wait their place in the files that carried them
// after the backup, and those files their counts and sums. Whoever does the same at once does it for both: what has a place keeps it.
// What is open in a file makes it open again. PostgreSQL, which after a restore has counted nothing yet, counts what it goes through:
// it would go through all of it for each of them. A rebill costs what the bank has: no other could have its name, and its price was changed in the lost time.
func (tx *Tx) AssignAdopted(tenantID, gatewayID uuid.UUID, silenceEnds time.Time) {
	const other = `FROM bank_adopted a WHERE a.tenant_id = t.tenant_id AND a.gateway_id = t.gateway_id AND a.end_to_end_id = t.merchant_transaction_id
		AND a.sequence_type <> '' AND a.amount_minor <> t.amount_minor`
	tx.Analyze("bank_adopted")
	tx.Then(`UPDATE transactions AS t SET updated_at = $3, amount_minor = (SELECT a.amount_minor `+other+`)
		WHERE t.tenant_id = $1 AND t.gateway_id = $2 AND t.type = 'sdd_rebill' AND t.status = 'pending' AND `+waits+` AND EXISTS (SELECT 1 `+other+`)`,
		tenantID, gatewayID, db.Micros(tx.At))
	tx.Then(`
		INSERT INTO bank_file_entries (tenant_id, file_id, gateway_id, transaction_id, position, block_id, due_date, sequence_type, amount_minor,
			end_to_end_id, mandate_reference, iban_masked)
		SELECT t.tenant_id, f.id, t.gateway_id, t.id, a.position, a.block_id, a.due_date, a.sequence_type, a.amount_minor,
			a.end_to_end_id, CASE WHEN a.sequence_type = '' THEN '' ELSE t.mandate_reference END, t.iban_masked
		FROM bank_adopted a
		JOIN bank_files f ON f.tenant_id = a.tenant_id AND f.message_id = a.message_id
		JOIN transactions t ON t.tenant_id = a.tenant_id AND t.merchant_transaction_id = a.end_to_end_id
		WHERE a.tenant_id = $1 AND a.gateway_id = $2 AND t.gateway_id = a.gateway_id AND t.amount_minor = a.amount_minor
			AND `+waits+` AND t.status = 'pending'
		ON CONFLICT DO NOTHING`, tenantID, gatewayID)
	tx.Analyze("bank_file_entries")
	tx.Then(`
		UPDATE transactions AS t SET held_at = NULL, settle_due_at = $3, updated_at = $4, gateway_reference = f.message_id || '-' || CAST(e.position AS TEXT)
		FROM bank_adopted a
		JOIN bank_file_entries e ON e.tenant_id = a.tenant_id AND e.gateway_id = a.gateway_id AND e.end_to_end_id = a.end_to_end_id
		JOIN bank_files f ON f.tenant_id = e.tenant_id AND f.id = e.file_id
		WHERE t.tenant_id = $1 AND t.gateway_reference = '' AND t.id = e.transaction_id AND a.tenant_id = $1 AND a.gateway_id = $2`,
		tenantID, gatewayID, db.Micros(silenceEnds), db.Micros(tx.At))
	tx.Then(`
		UPDATE bank_files SET updated_at = $3, state = CASE WHEN state = 'settled' THEN 'sent' ELSE state END,
			entry_count = (SELECT COUNT(*) FROM bank_file_entries e WHERE e.tenant_id = bank_files.tenant_id AND e.file_id = bank_files.id),
			sum_minor = (SELECT CAST(COALESCE(SUM(e.amount_minor), 0) AS bigint) FROM bank_file_entries e
				WHERE e.tenant_id = bank_files.tenant_id AND e.file_id = bank_files.id)
		WHERE tenant_id = $1 AND gateway_id = $2 AND message_id IN (SELECT message_id FROM bank_adopted WHERE tenant_id = $1 AND gateway_id = $2)`,
		tenantID, gatewayID, db.Micros(tx.At))
}

// hasPlace tells a payment of a file that left after the backup which has its place by now.
const hasPlace = `EXISTS (
			SELECT 1 FROM bank_file_entries e WHERE e.tenant_id = bank_adopted.tenant_id AND e.gateway_id = bank_adopted.gateway_id
				AND e.end_to_end_id = bank_adopted.end_to_end_id)`

// HasAssigned tells whether payments have got their place by AssignAdopted, and the bank's answers were not read again since.
func (t Tenant) HasAssigned(ctx context.Context, gatewayID uuid.UUID) (bool, error) {
	result, err := t.Query(ctx, `SELECT EXISTS (SELECT 1 FROM bank_adopted WHERE tenant_id = $1 AND gateway_id = $2 AND `+hasPlace+`)`, gatewayID)
	return db.One(result, err, func(r db.Rows) (has bool, err error) { return has, r.Scan(&has) })
}

// ForgetAssigned notes that what the bank has said of payments that have their place is known.
func (tx *Tx) ForgetAssigned(tenantID, gatewayID uuid.UUID) {
	tx.Then(`
		DELETE FROM bank_adopted WHERE tenant_id = $1 AND gateway_id = $2 AND `+hasPlace, tenantID, gatewayID)
}
