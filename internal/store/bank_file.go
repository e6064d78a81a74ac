package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// ErrNoBankFile is the answer for a file that nobody has.
var ErrNoBankFile = &payment.Error{Kind: payment.NotFound, Detail: "Bank file not found"}

// BankFileState is how far a file for a bank has come.
type BankFileState string

const (
	// BankFileWritten: its collections are taken, the bytes are kept here.
	BankFileWritten BankFileState = "written"
	// BankFileSending: it lies under another name where the bank fetches it, and is
	// about to get its own.
	BankFileSending BankFileState = "sending"
	// BankFileSent: the bank has it, or whatever carries it there.
	BankFileSent BankFileState = "sent"
	// BankFileAccepted and the next two are what a status report says.
	BankFileAccepted       BankFileState = "accepted"
	BankFileRejected       BankFileState = "rejected"
	BankFilePartlyRejected BankFileState = "partly_rejected"
	// BankFileSettled: of none of its collections the outcome is open.
	BankFileSettled BankFileState = "settled"
)

// BankFile is a file of collections for a merchant's bank.
type BankFile struct {
	ID        uuid.UUID
	TenantID  uuid.UUID
	GatewayID uuid.UUID
	MessageID string
	Name      string
	Format    string
	State     BankFileState
	// DueDate is the earliest of its blocks.
	DueDate   string
	Count     int
	SumMinor  payment.Minor
	SizeBytes int
	// TemporaryName is the one under which it lies ready while it is being sent.
	TemporaryName string
	// Problem says why it could not be delivered, "" when nothing is wrong.
	Problem   string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// BankFileEntry is one collection of a file.
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
	// Status is the transaction's, read with it: its outcome is open, it was refused,
	// or its money came and went back.
	Status                     payment.TransactionStatus
	IsOpen, IsDeclined, IsBack bool
	// BackAt is when it was reported to have gone back.
	BackAt time.Time
}

// Collectible is a payment that waits for a file.
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
	Lead             payment.Lead
}

// BankDue is a gateway account for which collections wait.
type BankDue struct{ TenantID, GatewayID uuid.UUID }

// CollectionsWaiting gives the accounts at which payments wait to be settled that
// their gateway has not named yet.
func (s *Store) CollectionsWaiting(ctx context.Context) ([]BankDue, error) {
	result, err := s.Query(ctx, `
		SELECT DISTINCT t.tenant_id, t.gateway_id FROM transactions t
		WHERE t.settle_due_at IS NOT NULL AND t.in_flight IS NULL AND t.gateway_reference = ''`)
	return db.Collect(result, err, func(r db.Rows) (d BankDue, err error) { return d, r.Scan(&d.TenantID, &d.GatewayID) })
}

// Collectibles gives payments that wait for a file at an account and were taken
// by an instant, in the order of their ids, beginning after one.
func (t Tenant) Collectibles(ctx context.Context, gatewayID uuid.UUID, until time.Time, after uuid.UUID, limit int) ([]Collectible, error) {
	result, err := t.Query(ctx, `
		SELECT t.id, t.merchant_transaction_id, t.type, t.amount_minor, t.sequence_type, COALESCE(s.billing_type, '') = 'ONE_OFF',
			COALESCE(s.offer_id, u.offer_id), COALESCE(o.order_number, ''), t.iban_sealed, t.iban_masked, t.bic, t.holder_name,
			t.mandate_reference, t.mandate_at, COALESCE(l.first_name, ''), COALESCE(l.last_name, ''), COALESCE(l.address, ''), COALESCE(l.city, ''), COALESCE(l.postal_code, ''), COALESCE(l.country, '')
		FROM transactions t
		LEFT JOIN sessions s ON s.tenant_id = t.tenant_id AND s.id = t.session_id
		LEFT JOIN subscriptions u ON u.tenant_id = t.tenant_id AND u.id = t.subscription_id
		LEFT JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
		LEFT JOIN leads l ON l.tenant_id = t.tenant_id AND l.id = t.lead_id
		WHERE t.tenant_id = $1 AND t.gateway_id = $2 AND t.settle_due_at IS NOT NULL AND t.processed_at <= $3 AND t.in_flight IS NULL
			AND t.status = 'pending' AND t.type IN ('sdd_sale', 'sdd_rebill') AND t.gateway_reference = ''
			AND t.id > $4 ORDER BY t.id LIMIT $5`, gatewayID, db.Micros(until), after, limit)
	return db.Collect(result, err, func(r db.Rows) (c Collectible, err error) {
		return c, r.Scan(&c.TransactionID, &c.MerchantTransactionID, &c.Type, &c.AmountMinor, &c.SequenceType, &c.IsOnce, &c.OfferID,
			&c.OrderNumber, &c.SealedIBAN, &c.MaskedIBAN, &c.BIC, &c.HolderName, &c.MandateReference, db.Instant{To: &c.MandateAt},
			&c.Lead.FirstName, &c.Lead.LastName, &c.Lead.Address, &c.Lead.City, &c.Lead.PostalCode, &c.Lead.Country)
	})
}

// PutBankFile writes a file with its sealed bytes and takes its collections: each
// must still wait, or the unit ends with ErrStale and nothing is taken. From then
// on a transaction is called by its place in the file, and silenceEnds says for
// each due date when silence means that the money has come.
func (tx *Tx) PutBankFile(f BankFile, sealed string, entries []BankFileEntry, silenceEnds map[string]time.Time) {
	tx.Then(`
		INSERT INTO bank_files (tenant_id, id, gateway_id, message_id, name, format, state, due_date, entry_count, sum_minor,
			size_bytes, content, temporary_name, problem, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, '', '', $13, $13)`,
		f.TenantID, f.ID, f.GatewayID, f.MessageID, f.Name, f.Format, string(f.State), f.DueDate, f.Count, f.SumMinor, f.SizeBytes,
		sealed, db.Micros(tx.At))
	const columns = 12
	for batch := range db.InBatches(entries) {
		args := make([]any, 0, columns*len(batch))
		for _, e := range batch {
			args = append(args, f.TenantID, f.ID, e.TransactionID, f.GatewayID, e.Position, e.BlockID, e.DueDate, e.SequenceType,
				e.AmountMinor, e.EndToEndID, e.MandateReference, e.MaskedIBAN)
		}
		tx.Then(`INSERT INTO bank_file_entries (tenant_id, file_id, transaction_id, gateway_id, position, block_id, due_date,
			sequence_type, amount_minor, end_to_end_id, mandate_reference, iban_masked) VALUES `+db.Placeholders(1, len(batch), columns), args...)
	}
	for _, dueDate := range slices.Sorted(maps.Keys(silenceEnds)) {
		tx.Then(`
			UPDATE transactions SET settle_due_at = $4, updated_at = $6, gateway_reference = $3 || '-' || (
				SELECT CAST(e.position AS TEXT) FROM bank_file_entries e WHERE e.tenant_id = transactions.tenant_id AND e.transaction_id = transactions.id)
			WHERE tenant_id = $1 AND status = 'pending' AND in_flight IS NULL AND gateway_reference = ''
				AND id IN (SELECT transaction_id FROM bank_file_entries WHERE tenant_id = $1 AND file_id = $2 AND due_date = $5)`,
			f.TenantID, f.ID, f.MessageID, db.Micros(silenceEnds[dueDate]), dueDate, db.Micros(tx.At))
	}
	tx.Require(ErrStale, `
		UPDATE bank_files SET updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND entry_count = (
			SELECT COUNT(*) FROM bank_file_entries e JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id
			WHERE e.tenant_id = $1 AND e.file_id = $2 AND t.gateway_reference = $3 || '-' || CAST(e.position AS TEXT))`,
		f.TenantID, f.ID, f.MessageID, db.Micros(tx.At))
}

// TakenByAnother tells that somebody else has taken a collection into a file.
func TakenByAnother(err error) bool {
	return errors.Is(err, ErrStale) || db.IsKey(err, "bank_file_entries_transaction_id_key")
}

// MoveBankFile changes where a file stands, if it still stands where it did.
func (tx *Tx) MoveBankFile(f BankFile, to BankFileState, problem string) {
	tx.Require(ErrStale, `
		UPDATE bank_files SET state = $4, problem = $5, updated_at = $6, temporary_name = $7 WHERE tenant_id = $1 AND id = $2 AND state = $3`,
		f.TenantID, f.ID, string(f.State), string(to), problem, db.Micros(tx.At), f.TemporaryName)
}

// SettleBankFiles marks the files of an account of which no collection's outcome
// is open any more. A file that was refused as a whole stays that.
func (tx *Tx) SettleBankFiles(tenantID, gatewayID uuid.UUID) {
	tx.Then(`
		UPDATE bank_files SET state = 'settled', updated_at = $3
		WHERE tenant_id = $1 AND gateway_id = $2 AND state IN ('sent', 'accepted', 'partly_rejected') AND NOT EXISTS (
			SELECT 1 FROM bank_file_entries e JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id
			WHERE e.tenant_id = bank_files.tenant_id AND e.file_id = bank_files.id AND t.status = 'pending')`,
		tenantID, gatewayID, db.Micros(tx.At))
}

const bankFileColumns = `f.id, f.tenant_id, f.gateway_id, f.message_id, f.name, f.format, f.state, f.due_date, f.entry_count,
	f.sum_minor, f.size_bytes, f.temporary_name, f.problem, f.created_at, f.updated_at`

func scanBankFile(r db.Rows) (f BankFile, err error) {
	return f, r.Scan(&f.ID, &f.TenantID, &f.GatewayID, &f.MessageID, &f.Name, &f.Format, &f.State, &f.DueDate, &f.Count,
		&f.SumMinor, &f.SizeBytes, &f.TemporaryName, &f.Problem, db.Instant{To: &f.CreatedAt}, db.Instant{To: &f.UpdatedAt})
}

// BankFilesWaiting gives the files that are not delivered, oldest first.
func (s *Store) BankFilesWaiting(ctx context.Context) ([]BankFile, error) {
	result, err := s.Query(ctx, `SELECT `+bankFileColumns+` FROM bank_files f
		WHERE f.state IN ('written', 'sending') ORDER BY f.created_at, f.id`)
	return db.Collect(result, err, scanBankFile)
}

// BankFiles lists the files of an account, newest first.
func (t Tenant) BankFiles(ctx context.Context, gatewayID uuid.UUID, limit int) ([]BankFile, error) {
	result, err := t.Query(ctx, `SELECT `+bankFileColumns+` FROM bank_files f
		WHERE f.tenant_id = $1 AND f.gateway_id = $2 ORDER BY f.created_at DESC, f.id DESC LIMIT $3`, gatewayID, limit)
	return db.Collect(result, err, scanBankFile)
}

// BankFile reads a file.
func (t Tenant) BankFile(ctx context.Context, id uuid.UUID) (BankFile, error) {
	result, err := t.Query(ctx, `SELECT `+bankFileColumns+` FROM bank_files f WHERE f.tenant_id = $1 AND f.id = $2`, id)
	return bankFileOr(db.One(result, err, scanBankFile))
}

// BankFileByMessage reads the file of a message id.
func (t Tenant) BankFileByMessage(ctx context.Context, gatewayID uuid.UUID, messageID string) (BankFile, error) {
	result, err := t.Query(ctx, `SELECT `+bankFileColumns+` FROM bank_files f
		WHERE f.tenant_id = $1 AND f.gateway_id = $2 AND f.message_id = $3`, gatewayID, messageID)
	return bankFileOr(db.One(result, err, scanBankFile))
}

func bankFileOr(f BankFile, err error) (BankFile, error) {
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoBankFile
	}
	return f, err
}

// BankFileContent gives the sealed bytes of a file.
func (t Tenant) BankFileContent(ctx context.Context, id uuid.UUID) (sealed string, err error) {
	result, err := t.Query(ctx, `SELECT content FROM bank_files WHERE tenant_id = $1 AND id = $2`, id)
	sealed, err = db.One(result, err, func(r db.Rows) (content string, err error) { return content, r.Scan(&content) })
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoBankFile
	}
	return sealed, err
}

const bankEntryQuery = `
	SELECT e.transaction_id, e.position, e.block_id, e.due_date, e.sequence_type, e.amount_minor, e.end_to_end_id,
		e.mandate_reference, e.iban_masked, t.status, t.status = 'pending', t.status = 'declined', t.status = 'charged_back', c.reported_at
	FROM bank_file_entries e JOIN transactions t ON t.tenant_id = e.tenant_id AND t.id = e.transaction_id
	LEFT JOIN chargebacks c ON c.tenant_id = t.tenant_id AND c.merchant_transaction_id = t.merchant_transaction_id
	WHERE e.tenant_id = $1 `

func scanBankEntry(r db.Rows) (e BankFileEntry, err error) {
	return e, r.Scan(&e.TransactionID, &e.Position, &e.BlockID, &e.DueDate, &e.SequenceType, &e.AmountMinor, &e.EndToEndID,
		&e.MandateReference, &e.MaskedIBAN, &e.Status, &e.IsOpen, &e.IsDeclined, &e.IsBack, db.Instant{To: &e.BackAt})
}

// BankFileEntries gives the collections of a file in their order.
func (t Tenant) BankFileEntries(ctx context.Context, fileID uuid.UUID) ([]BankFileEntry, error) {
	result, err := t.Query(ctx, bankEntryQuery+`AND e.file_id = $2 ORDER BY e.position`, fileID)
	return db.Collect(result, err, scanBankEntry)
}

// BankEntriesByID finds collections of an account by their end-to-end id.
func (t Tenant) BankEntriesByID(ctx context.Context, gatewayID uuid.UUID, endToEndID string) ([]BankFileEntry, error) {
	result, err := t.Query(ctx, bankEntryQuery+`AND e.gateway_id = $2 AND e.end_to_end_id = $3`, gatewayID, endToEndID)
	return db.Collect(result, err, scanBankEntry)
}

// BankEntriesByMandate finds collections under a mandate of one amount that were
// due by a day, the latest first.
func (t Tenant) BankEntriesByMandate(ctx context.Context, gatewayID uuid.UUID, mandate string, amount payment.Minor, by string) ([]BankFileEntry, error) {
	result, err := t.Query(ctx, bankEntryQuery+`AND e.gateway_id = $2 AND e.mandate_reference = $3 AND e.amount_minor = $4
		AND e.due_date <= $5 ORDER BY e.due_date DESC, e.position DESC`, gatewayID, mandate, amount, by)
	return db.Collect(result, err, scanBankEntry)
}

// BankEntriesByAmount finds collections of one amount from accounts that end
// alike and that were due between two days, the latest first.
func (t Tenant) BankEntriesByAmount(ctx context.Context, gatewayID uuid.UUID, amount payment.Minor, maskedIBAN, from, by string) ([]BankFileEntry, error) {
	result, err := t.Query(ctx, bankEntryQuery+`AND e.gateway_id = $2 AND e.amount_minor = $3 AND e.iban_masked = $4
		AND e.due_date >= $5 AND e.due_date <= $6 ORDER BY e.due_date DESC, e.position DESC`, gatewayID, amount, maskedIBAN, from, by)
	return db.Collect(result, err, scanBankEntry)
}

// BankEntriesOfBlock gives the collections of a block.
func (t Tenant) BankEntriesOfBlock(ctx context.Context, gatewayID uuid.UUID, blockID string) ([]BankFileEntry, error) {
	result, err := t.Query(ctx, bankEntryQuery+`AND e.gateway_id = $2 AND e.block_id = $3 ORDER BY e.position`, gatewayID, blockID)
	return db.Collect(result, err, scanBankEntry)
}

// SilentDue gives collections of which nothing was heard until silence means that
// the money has come, in files that have left the house.
func (s *Store) SilentDue(ctx context.Context, now time.Time, limit int) ([]Due, error) {
	result, err := s.Query(ctx, `
		SELECT t.tenant_id, t.id, t.settle_due_at, t.type FROM transactions t
		JOIN bank_file_entries e ON e.tenant_id = t.tenant_id AND e.transaction_id = t.id
		JOIN bank_files f ON f.tenant_id = e.tenant_id AND f.id = e.file_id
		WHERE t.settle_due_at IS NOT NULL AND t.settle_due_at <= $1 AND t.status = 'pending'
			AND f.state IN ('sent', 'accepted', 'partly_rejected')
		ORDER BY t.settle_due_at LIMIT $2`, db.Micros(now), limit)
	return db.Collect(result, err, scanDueTransaction)
}

// SealedIBAN gives the sealed account number of a transaction.
func (t Tenant) SealedIBAN(ctx context.Context, transactionID uuid.UUID) (string, error) {
	result, err := t.Query(ctx, `SELECT iban_sealed FROM transactions WHERE tenant_id = $1 AND id = $2`, transactionID)
	return db.One(result, err, func(r db.Rows) (sealed string, err error) { return sealed, r.Scan(&sealed) })
}
