package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// BankFileEntry is one payment of a file.
type BankFileEntry struct {
	TransactionID    uuid.UUID
	Position         int
	BlockID          string
	DueDate          string
	SequenceType     string
	AmountMinor      payment.Minor
	EndToEndID       string
	MandateReference string
	MaskedIBAN       string
	// GatewayID is the account whose file it is in, read with it.
	GatewayID uuid.UUID
	// Status is the transaction's, read with it: its outcome is open, it was refused,
	// or its money came and went back.
	Status                     payment.TransactionStatus
	IsOpen, IsDeclined, IsBack bool
	// BackAt is when it was reported to have gone back, refusedAt when it was refused.
	BackAt, refusedAt time.Time
}

var bankEntries = db.Table[BankFileEntry]{Name: "bank_file_entries", Columns: []db.Column[BankFileEntry]{
	db.Field("transaction_id", func(e *BankFileEntry) *uuid.UUID { return &e.TransactionID }),
	db.Field("position", func(e *BankFileEntry) *int { return &e.Position }),
	db.Field("block_id", func(e *BankFileEntry) *string { return &e.BlockID }),
	db.Field("due_date", func(e *BankFileEntry) *string { return &e.DueDate }),
	db.Field("sequence_type", func(e *BankFileEntry) *string { return &e.SequenceType }),
	db.Field("amount_minor", func(e *BankFileEntry) *payment.Minor { return &e.AmountMinor }),
	db.Field("end_to_end_id", func(e *BankFileEntry) *string { return &e.EndToEndID }),
	db.Field("mandate_reference", func(e *BankFileEntry) *string { return &e.MandateReference }),
	db.Field("iban_masked", func(e *BankFileEntry) *string { return &e.MaskedIBAN }),
}}

// BadAt is since when it is known that it did not go through, zero for one that did.
func (e BankFileEntry) BadAt() time.Time {
	if e.IsDeclined {
		return e.refusedAt
	}
	return e.BackAt
}

// IsTransfer tells a refund, which is paid, from a payment, which is collected.
func (e BankFileEntry) IsTransfer() bool { return e.SequenceType == "" }

// Collectible is a payment that waits for a file, or is about to be written into
// one; or a refund, with the account and the name of the payment that it gives
// back.
type Collectible struct {
	sepa.Masked
	TransactionID         uuid.UUID
	MerchantTransactionID string
	Type                  payment.TransactionType
	AmountMinor           payment.Minor
	SequenceType          payment.SequenceType
	// IsOnce tells a purchase that is collected once and never again.
	IsOnce           bool
	OfferID          *uuid.UUID
	OrderNumber      string
	SealedIBAN       string
	MaskedIBAN       string
	BIC              string
	HolderName       string
	MandateReference string
	MandateAt        time.Time
	// DueDate is when the payer was told that it is collected.
	DueDate payment.Date
	Lead    payment.Lead
	// PaymentID is our name of the payment that a refund gives back.
	PaymentID string
	// Position is its place in the file that it was taken into.
	Position int
	// PreviousID is the collection before it under the same mandate, of those in
	// files and not refused; nil for none.
	PreviousID *uuid.UUID
}

const collectibleColumns = `t.id, t.merchant_transaction_id, t.type, t.amount_minor, t.sequence_type, COALESCE(s.billing_type, '') = 'ONE_OFF',
	COALESCE(s.offer_id, u.offer_id), COALESCE(o.order_number, ''), COALESCE(p.iban_sealed, t.iban_sealed), t.iban_masked, t.bic, t.holder_name, t.mandate_reference,
	t.mandate_at, t.due_date, COALESCE(l.first_name, ''), COALESCE(l.last_name, ''), COALESCE(l.address, ''), COALESCE(l.city, ''),
	COALESCE(l.postal_code, ''), COALESCE(l.country, ''), COALESCE(p.merchant_transaction_id, '')`

const collectibleJoins = `
	LEFT JOIN sessions s ON s.tenant_id = t.tenant_id AND s.id = t.session_id
	LEFT JOIN subscriptions u ON u.tenant_id = t.tenant_id AND u.id = t.subscription_id
	LEFT JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
	LEFT JOIN leads l ON l.tenant_id = t.tenant_id AND l.id = t.lead_id
	LEFT JOIN transactions p ON p.tenant_id = t.tenant_id AND p.id = t.refund_of `

func scanCollectible(r db.Rows) (c Collectible, err error) {
	return c, r.Scan(&c.TransactionID, &c.MerchantTransactionID, &c.Type, &c.AmountMinor, &c.SequenceType, &c.IsOnce, &c.OfferID,
		&c.OrderNumber, &c.SealedIBAN, &c.MaskedIBAN, &c.BIC, &c.HolderName, &c.MandateReference, db.Instant{To: &c.MandateAt},
		dateInto{&c.DueDate}, &c.Lead.FirstName, &c.Lead.LastName, &c.Lead.Address, &c.Lead.City, &c.Lead.PostalCode, &c.Lead.Country,
		&c.PaymentID, &c.Position, &c.PreviousID)
}

// waits is what a transaction must be to wait for a file.
const waits = `t.settle_due_at IS NOT NULL AND t.in_flight IS NULL AND t.gateway_reference = ''`

// BankDue is a gateway account at which there may be something to do.
type BankDue struct{ TenantID, GatewayID uuid.UUID }

// CollectionsWaiting gives the accounts at which payments wait to be settled that
// their gateway has not named yet, and those with files that are not whole.
func (s *Store) CollectionsWaiting(ctx context.Context) ([]BankDue, error) {
	result, err := s.Query(ctx, `
		SELECT t.tenant_id, t.gateway_id FROM transactions t WHERE `+waits+`
		UNION SELECT f.tenant_id, f.gateway_id FROM bank_files f WHERE f.state IN ('open', 'closed')`)
	return db.Collect(result, err, scanBankDue)
}

func scanBankDue(r db.Rows) (d BankDue, err error) { return d, r.Scan(&d.TenantID, &d.GatewayID) }

// CollectibleUntil bounds what a file takes: what was taken in by an instant and is
// due by a day, none for whatever its day is.
type CollectibleUntil struct {
	TakenAt time.Time
	DueDate payment.Date
}

// isStopped tells a rebill that no file may have: its subscription is not billed any
// more, or a bank has blamed us, so that it would come back.
const isStopped = `t.type = 'sdd_rebill' AND (
	EXISTS (SELECT 1 FROM subscriptions x WHERE x.tenant_id = t.tenant_id AND x.id = t.subscription_id
		AND (x.status = 'CANCELLED' OR x.paused_at IS NOT NULL))
	OR EXISTS (SELECT 1 FROM rebill_pauses q WHERE q.tenant_id = t.tenant_id AND q.gateway_id = t.gateway_id AND q.paused_until IS NULL))`

// kindTypes says what waits for which kind of file. Nothing is refunded that the
// payer has taken back: it would be given back twice.
var kindTypes = map[BankFileKind]string{
	BankDebits:    `t.type IN ('sdd_sale', 'sdd_rebill')`,
	BankTransfers: `t.type = 'sdd_refund' AND p.status <> 'charged_back'`,
}

// Collectibles gives what waits for a kind of file at an account, in the order of
// its ids, beginning after one. What is in a file has its name from it, and waits no
// more.
func (t Tenant) Collectibles(ctx context.Context, gatewayID uuid.UUID, kind BankFileKind, until CollectibleUntil, after uuid.UUID, limit int) ([]Collectible, error) {
	last := "9"
	if !until.DueDate.IsZero() {
		last = until.DueDate.String()
	}
	result, err := t.Query(db.PlanAnew(ctx), `SELECT `+collectibleColumns+`, 0, NULL FROM transactions t`+collectibleJoins+`
		WHERE t.tenant_id = $1 AND t.gateway_id = $2 AND `+waits+` AND t.processed_at <= $3 AND COALESCE(t.due_date, '') <= $6
			AND t.status = 'pending' AND `+kindTypes[kind]+` AND t.held_at IS NULL AND t.id > $4 AND NOT (`+isStopped+`)
			AND `+notAdopted+`
		ORDER BY t.id LIMIT $5`, gatewayID, db.Micros(until.TakenAt), after, limit, last)
	return db.Collect(result, err, scanCollectible)
}

// Redated gives payments of a file that will be collected on another day than was
// told, with that day.
func (t Tenant) Redated(ctx context.Context, fileID uuid.UUID, limit int) (map[uuid.UUID]payment.Date, error) {
	result, err := t.Query(db.PlanAnew(ctx), `SELECT e.transaction_id, e.due_date FROM bank_file_entries e
		JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id
		WHERE e.tenant_id = $1 AND e.file_id = $2 AND t.due_date < e.due_date LIMIT $3`, fileID, limit)
	type redated struct {
		id  uuid.UUID
		day payment.Date
	}
	rows, err := db.Collect(result, err, func(r db.Rows) (d redated, err error) { return d, r.Scan(&d.id, dateInto{&d.day}) })
	days := make(map[uuid.UUID]payment.Date, len(rows))
	for _, row := range rows {
		days[row.id] = row.day
	}
	return days, err
}

// StrandedRefunds gives refunds that wait for a file at an account while the payer
// has taken the payment back. What left with a file after the backup is none.
func (t Tenant) StrandedRefunds(ctx context.Context, gatewayID uuid.UUID, limit int) ([]uuid.UUID, error) {
	result, err := t.Query(ctx, `SELECT t.id FROM transactions t JOIN transactions p ON p.tenant_id = t.tenant_id AND p.id = t.refund_of
		WHERE t.tenant_id = $1 AND t.gateway_id = $2 AND `+waits+` AND t.status = 'pending' AND t.type = 'sdd_refund' AND p.status = 'charged_back' AND `+notAdopted+`
		ORDER BY t.id LIMIT $3`, gatewayID, limit)
	return db.Collect(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
}

// HoldCollection keeps a payment that waits for a file out of every file. For one
// that does not wait, or is held already, the unit ends with ErrStale.
func (tx *Tx) HoldCollection(tenantID, id uuid.UUID) {
	tx.Require(ErrStale, `UPDATE transactions AS t SET held_at = $3, updated_at = $3
		WHERE t.tenant_id = $1 AND t.id = $2 AND t.status = 'pending' AND t.held_at IS NULL AND `+waits, tenantID, id, db.Micros(tx.At))
}

// ReleaseCollection lets a payment that is held back wait for a file again.
func (tx *Tx) ReleaseCollection(tenantID, id uuid.UUID) {
	tx.Require(ErrStale, `UPDATE transactions SET held_at = NULL, updated_at = $3 WHERE tenant_id = $1 AND id = $2 AND held_at IS NOT NULL`,
		tenantID, id, db.Micros(tx.At))
}

// HeldCollections gives the payments of an account that are held back, oldest
// first.
func (t Tenant) HeldCollections(ctx context.Context, gatewayID uuid.UUID) ([]string, error) {
	result, err := t.Query(ctx, `SELECT t.merchant_transaction_id FROM transactions t
		WHERE t.tenant_id = $1 AND t.gateway_id = $2 AND t.held_at IS NOT NULL AND `+waits+` ORDER BY t.id`, gatewayID)
	return db.Collect(result, err, func(r db.Rows) (id string, err error) { return id, r.Scan(&id) })
}

// previousCollection finds what was collected before under the same mandate. Only a
// rebill can have that.
const previousCollection = `CASE WHEN t.type = 'sdd_rebill' THEN (
	SELECT x.transaction_id FROM bank_file_entries x
	JOIN bank_files xf ON xf.tenant_id = x.tenant_id AND xf.id = x.file_id
	JOIN transactions xt ON xt.tenant_id = x.tenant_id AND xt.id = x.transaction_id
	JOIN bank_files own ON own.tenant_id = e.tenant_id AND own.id = e.file_id
	WHERE x.tenant_id = e.tenant_id AND x.gateway_id = e.gateway_id AND x.mandate_reference = e.mandate_reference AND xt.status <> 'declined'
		AND (xf.created_at < own.created_at OR x.file_id = e.file_id AND x.position < e.position)
	ORDER BY xf.created_at DESC, x.position DESC LIMIT 1) END`

// Presented is how a collection was presented to the bank: from which account, and
// by whom; empty where that is not known any more.
type Presented struct {
	TransactionID      uuid.UUID
	SealedIBAN         string
	CreditorName       string
	CreditorIdentifier string
}

// Presented tells it of many.
func (t Tenant) Presented(ctx context.Context, ids []uuid.UUID) ([]Presented, error) {
	return findNamed(ctx, t, `SELECT t.id, t.iban_sealed, f.creditor_name, f.creditor_identifier FROM bank_file_entries e
		JOIN bank_files f ON f.tenant_id = e.tenant_id AND f.id = e.file_id
		JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id
		WHERE e.tenant_id = $1 AND e.transaction_id`, ids, nil, func(r db.Rows) (p Presented, err error) {
		return p, r.Scan(&p.TransactionID, &p.SealedIBAN, &p.CreditorName, &p.CreditorIdentifier)
	})
}

// Collected gives the payments of a block in their order, beginning after a
// position.
func (t Tenant) Collected(ctx context.Context, blockID string, after, limit int) ([]Collectible, error) {
	result, err := t.Query(db.PlanAnew(ctx), `SELECT `+collectibleColumns+`, e.position, `+previousCollection+` FROM bank_file_entries e
		JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id`+collectibleJoins+`
		WHERE e.tenant_id = $1 AND e.block_id = $2 AND e.position > $3 ORDER BY e.position LIMIT $4`, blockID, after, limit)
	return db.Collect(result, err, scanCollectible)
}

// TakeIntoBankFile takes payments into an open file: each must still wait, or the
// unit ends with ErrStale and nothing is taken. From then on a transaction is
// called by its place in the file, and silenceEnds says for each due date when
// silence means that the money has come.
func (tx *Tx) TakeIntoBankFile(before, f BankFile, entries []BankFileEntry, silenceEnds map[string]time.Time) error {
	tx.ChangeBankFile(before, f)
	rows := make([]db.BulkRow, len(entries))
	for i := range entries {
		rows[i] = db.ValueRow(append([]any{f.TenantID, f.ID, f.GatewayID}, bankEntries.Values(&entries[i])...))
	}
	if err := tx.Load("bank_file_entries", append([]string{"tenant_id", "file_id", "gateway_id"}, bankEntries.Names()...), rows); err != nil {
		return err
	}
	for _, dueDate := range slices.Sorted(maps.Keys(silenceEnds)) {
		tx.Then(`
			UPDATE transactions AS t SET settle_due_at = $4, updated_at = $6, gateway_reference = $3 || '-' || CAST(e.position AS TEXT)
			FROM bank_file_entries e
			WHERE e.tenant_id = $1 AND e.file_id = $2 AND e.position > $7 AND e.due_date = $5 AND t.tenant_id = $1 AND t.id = e.transaction_id
				AND t.status = 'pending' AND t.in_flight IS NULL AND t.gateway_reference = '' AND t.held_at IS NULL AND NOT (`+isStopped+`)
				AND (t.refund_of IS NULL OR NOT EXISTS (
					SELECT 1 FROM transactions p WHERE p.tenant_id = $1 AND p.id = t.refund_of AND p.status = 'charged_back'))`,
			f.TenantID, f.ID, f.MessageID, db.Micros(silenceEnds[dueDate]), dueDate, db.Micros(tx.At), before.Count)
	}
	tx.Require(ErrStale, `
		UPDATE bank_files SET updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND $5 = (
			SELECT COUNT(*) FROM bank_file_entries e JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id
			WHERE e.tenant_id = $1 AND e.file_id = $2 AND e.position > $6 AND t.gateway_reference = $3 || '-' || CAST(e.position AS TEXT))`,
		f.TenantID, f.ID, f.MessageID, db.Micros(tx.At), len(entries), before.Count)
	return nil
}

// ReleaseFromBankFile lets a payment wait again that cannot be written after all.
// The file is still closed and holds one less.
func (tx *Tx) ReleaseFromBankFile(before, f BankFile, transactionID uuid.UUID) {
	tx.ChangeBankFile(before, f)
	tx.Then(`DELETE FROM bank_file_entries WHERE tenant_id = $1 AND file_id = $2 AND transaction_id = $3`, f.TenantID, f.ID, transactionID)
	tx.Then(`UPDATE transactions SET gateway_reference = '', settle_due_at = $3, updated_at = $3 WHERE tenant_id = $1 AND id = $2 AND status = 'pending'`,
		f.TenantID, transactionID, db.Micros(tx.At))
}

// DropBankFile removes a file that has nothing in it.
func (tx *Tx) DropBankFile(f BankFile) {
	tx.Then(`DELETE FROM bank_file_parts WHERE tenant_id = $1 AND file_id = $2`, f.TenantID, f.ID)
	tx.Require(ErrStale, `DELETE FROM bank_files WHERE tenant_id = $1 AND id = $2 AND state = 'closed' AND entry_count = 0`, f.TenantID, f.ID)
}

// BankBlock is a part of a file with one due date and one sequence.
type BankBlock struct {
	ID       string
	DueDate  string
	Sequence string
	Count    int
	SumMinor payment.Minor
}

// BankBlocks gives the parts of a file, in the order in which they are written.
func (t Tenant) BankBlocks(ctx context.Context, fileID uuid.UUID) ([]BankBlock, error) {
	result, err := t.Query(ctx, `
		SELECT block_id, due_date, sequence_type, COUNT(*), CAST(SUM(amount_minor) AS bigint) FROM bank_file_entries
		WHERE tenant_id = $1 AND file_id = $2 GROUP BY block_id, due_date, sequence_type ORDER BY due_date, sequence_type, block_id`, fileID)
	return db.Collect(result, err, func(r db.Rows) (b BankBlock, err error) {
		return b, r.Scan(&b.ID, &b.DueDate, &b.Sequence, &b.Count, &b.SumMinor)
	})
}

var bankEntryQuery = `
	SELECT ` + bankEntries.List("e") + `, e.gateway_id, t.status, t.status = 'pending', t.status = 'declined', t.status = 'charged_back', c.reported_at, t.updated_at
	FROM bank_file_entries e JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id
	LEFT JOIN chargebacks c ON c.tenant_id = t.tenant_id AND c.merchant_transaction_id = t.merchant_transaction_id
	WHERE e.tenant_id = $1 `

func scanBankEntry(r db.Rows) (e BankFileEntry, err error) {
	return e, r.Scan(append(bankEntries.Fields(&e), &e.GatewayID, &e.Status, &e.IsOpen, &e.IsDeclined, &e.IsBack, db.Instant{To: &e.BackAt}, db.Instant{To: &e.refusedAt})...)
}

// BankFileEntries gives the payments of a file in their order, beginning after a
// position.
func (t Tenant) BankFileEntries(ctx context.Context, fileID uuid.UUID, after, limit int) ([]BankFileEntry, error) {
	result, err := t.Query(db.PlanAnew(ctx), bankEntryQuery+`AND e.file_id = $2 AND e.position > $3 ORDER BY e.position LIMIT $4`, fileID, after, limit)
	return db.Collect(result, err, scanBankEntry)
}

// BankBlockEntries gives the payments of an account's block in their order,
// beginning after a position.
func (t Tenant) BankBlockEntries(ctx context.Context, gatewayID uuid.UUID, blockID string, after, limit int) ([]BankFileEntry, error) {
	result, err := t.Query(db.PlanAnew(ctx), bankEntryQuery+`AND e.gateway_id = $2 AND e.block_id = $3 AND e.position > $4
		ORDER BY e.position LIMIT $5`, gatewayID, blockID, after, limit)
	return db.Collect(result, err, scanBankEntry)
}

// BankEntriesByID finds payments of an account by their end-to-end ids.
func (t Tenant) BankEntriesByID(ctx context.Context, gatewayID uuid.UUID, endToEndIDs []string) ([]BankFileEntry, error) {
	return findNamed(ctx, t, bankEntryQuery+`AND e.gateway_id = $2 AND e.end_to_end_id`, endToEndIDs, []any{gatewayID}, scanBankEntry)
}

// BankEntriesByMandate finds payments of an account under mandates.
func (t Tenant) BankEntriesByMandate(ctx context.Context, gatewayID uuid.UUID, mandates []string) ([]BankFileEntry, error) {
	return findNamed(ctx, t, bankEntryQuery+`AND e.gateway_id = $2 AND e.mandate_reference`, mandates, []any{gatewayID}, scanBankEntry)
}

// BankEntry finds the place of a transaction in a file of an account.
func (t Tenant) BankEntry(ctx context.Context, transactionID uuid.UUID) (BankFileEntry, error) {
	result, err := t.Query(ctx, bankEntryQuery+`AND e.transaction_id = $2`, transactionID)
	return db.One(result, err, scanBankEntry)
}

// BankEntriesByAmount finds collections of one amount from accounts that end alike, or
// that are not known any more, and that were due between two days, the latest first.
func (t Tenant) BankEntriesByAmount(ctx context.Context, gatewayID uuid.UUID, amount payment.Minor, maskedIBAN, from, by string) ([]BankFileEntry, error) {
	result, err := t.Query(ctx, bankEntryQuery+`AND e.gateway_id = $2 AND e.amount_minor = $3 AND e.iban_masked IN ($4, '')
		AND e.sequence_type <> '' AND e.due_date >= $5 AND e.due_date <= $6 ORDER BY e.due_date DESC, e.position DESC`, gatewayID, amount, maskedIBAN, from, by)
	return db.Collect(result, err, scanBankEntry)
}

// isSilent tells a payment of which nothing was heard until silence means that the
// money has come, in a file that has left the house.
const isSilent = `t.settle_due_at IS NOT NULL AND t.settle_due_at <= $1 AND t.status = 'pending' AND ` + isAtBank + ` AND ` + isProven

// SilentAccounts gives the accounts at which there are such payments.
func (s *Store) SilentAccounts(ctx context.Context, now time.Time) ([]BankDue, error) {
	result, err := s.Query(ctx, `SELECT DISTINCT t.tenant_id, t.gateway_id FROM transactions t WHERE `+isSilent, db.Micros(now))
	return db.Collect(result, err, scanBankDue)
}

// SilentDue gives those of an account, the longest silent first.
func (s *Store) SilentDue(ctx context.Context, at BankDue, now time.Time, limit int) ([]uuid.UUID, error) {
	result, err := s.Query(ctx, `SELECT t.id FROM transactions t WHERE `+isSilent+` AND t.tenant_id = $2 AND t.gateway_id = $3
		ORDER BY t.settle_due_at LIMIT $4`, db.Micros(now), at.TenantID, at.GatewayID, limit)
	return db.Collect(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
}

// isAtBank tells a transaction in a file that has left the house: nobody can be
// asked about it.
const isAtBank = `EXISTS (SELECT 1 FROM bank_file_entries e JOIN bank_files f ON f.tenant_id = e.tenant_id AND f.id = e.file_id
	WHERE e.tenant_id = t.tenant_id AND e.transaction_id = t.id AND f.state IN ` + leftStates + `)`

// SealedIBAN gives the sealed account number of a transaction.
func (t Tenant) SealedIBAN(ctx context.Context, transactionID uuid.UUID) (string, error) {
	result, err := t.Query(ctx, `SELECT iban_sealed FROM transactions WHERE tenant_id = $1 AND id = $2`, transactionID)
	return db.One(result, err, func(r db.Rows) (sealed string, err error) { return sealed, r.Scan(&sealed) })
}
