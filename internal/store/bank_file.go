package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// ErrNoBankFile is the answer for a file that nobody has.
var ErrNoBankFile = &payment.Error{Kind: payment.NotFound, Detail: "Bank file not found"}

// ErrNoBankBytes is the answer for the bytes of a file that has none yet.
var ErrNoBankBytes = &payment.Error{Kind: payment.Conflict, Detail: "The file is still being written."}

// BankFileKind is what a file asks the bank to do.
type BankFileKind string

// The kinds.
const (
	BankDebits    BankFileKind = "debits"
	BankTransfers BankFileKind = "transfers"
)

// BankFileState is how far a file for a bank has come.
type BankFileState string

const (
	// BankFileOpen: payments are being taken into it.
	BankFileOpen BankFileState = "open"
	// BankFileClosed: it takes no more, and its bytes are being made.
	BankFileClosed BankFileState = "closed"
	// BankFileWritten: the bytes are kept here, and are never made again.
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
	// BankFileSettled: of none of its payments the outcome is open.
	BankFileSettled BankFileState = "settled"
)

// BankFileStates are all of them.
var BankFileStates = []BankFileState{
	BankFileOpen, BankFileClosed, BankFileWritten, BankFileSending, BankFileSent, BankFileAccepted, BankFileRejected, BankFilePartlyRejected, BankFileSettled,
}

// IsWritten tells that the bytes are there.
func (s BankFileState) IsWritten() bool { return s != BankFileOpen && s != BankFileClosed }

// Left tells that the file has left the house.
func (s BankFileState) Left() bool {
	switch s {
	case BankFileOpen, BankFileClosed, BankFileWritten, BankFileSending:
		return false
	}
	return true
}

// leftStates are those of files that have left the house and whose payments may be
// open.
const leftStates = `('sent', 'accepted', 'partly_rejected')`

// BankFile is a file of payments for a merchant's bank.
type BankFile struct {
	ID        uuid.UUID
	TenantID  uuid.UUID
	GatewayID uuid.UUID
	Kind      BankFileKind
	MessageID string
	Name      string
	Format    string
	State     BankFileState
	// DueDate is the earliest of its blocks.
	DueDate   string
	Count     int
	SumMinor  payment.Minor
	SizeBytes int
	// Draft names the try at making its bytes that holds.
	Draft string
	// TemporaryName is the one under which it lies ready while it is being sent.
	TemporaryName string
	// Problem says why it could not be delivered, "" when nothing is wrong.
	Problem string
	// CreditorName and CreditorIdentifier are who collects with it.
	CreditorName       string
	CreditorIdentifier string
	CreatedAt          time.Time
	UpdatedAt          time.Time
}

// BankFiles are their rows.
var BankFiles = db.Table[BankFile]{Name: "bank_files", Columns: []db.Column[BankFile]{
	db.Field("tenant_id", func(f *BankFile) *uuid.UUID { return &f.TenantID }),
	db.Field("id", func(f *BankFile) *uuid.UUID { return &f.ID }),
	db.Field("gateway_id", func(f *BankFile) *uuid.UUID { return &f.GatewayID }),
	db.Field("kind", func(f *BankFile) *BankFileKind { return &f.Kind }),
	db.Field("message_id", func(f *BankFile) *string { return &f.MessageID }),
	db.Field("name", func(f *BankFile) *string { return &f.Name }),
	db.Field("format", func(f *BankFile) *string { return &f.Format }),
	db.Field("state", func(f *BankFile) *BankFileState { return &f.State }).Changing(),
	db.Field("due_date", func(f *BankFile) *string { return &f.DueDate }).Changing(),
	db.Field("entry_count", func(f *BankFile) *int { return &f.Count }).Changing(),
	db.Field("sum_minor", func(f *BankFile) *payment.Minor { return &f.SumMinor }).Changing(),
	db.Field("size_bytes", func(f *BankFile) *int { return &f.SizeBytes }).Changing(),
	db.Field("draft", func(f *BankFile) *string { return &f.Draft }).Changing(),
	db.Field("temporary_name", func(f *BankFile) *string { return &f.TemporaryName }).Changing(),
	db.Field("problem", func(f *BankFile) *string { return &f.Problem }).Changing(),
	db.Field("creditor_name", func(f *BankFile) *string { return &f.CreditorName }).Changing(),
	db.Field("creditor_identifier", func(f *BankFile) *string { return &f.CreditorIdentifier }).Changing(),
	db.Time("created_at", func(f *BankFile) *time.Time { return &f.CreatedAt }),
	db.Time("updated_at", func(f *BankFile) *time.Time { return &f.UpdatedAt }).Changing(),
}}

var (
	insertBankFile = BankFiles.Insert()
	// A file is changed by whoever knows where it stands and how much is in it.
	updateBankFile = `UPDATE bank_files SET ` + BankFiles.Set(5) + ` WHERE tenant_id = $1 AND id = $2 AND state = $3 AND entry_count = $4`
	selectBankFile = `SELECT ` + BankFiles.List("f") + ` FROM bank_files f `
)

// ScanBankFile reads a row of BankFiles.
func ScanBankFile(r db.Rows) (f BankFile, err error) { return f, r.Scan(BankFiles.Fields(&f)...) }

// AddBankFile opens a file. A second one at the same account is refused
// (TakenByAnother).
func (tx *Tx) AddBankFile(f BankFile) {
	f.CreatedAt, f.UpdatedAt = tx.At, tx.At
	tx.Then(insertBankFile, BankFiles.Values(&f)...)
	tx.Audit(Deed{
		Action: "bank_file.create", ObjectType: "bank_file", ObjectID: f.ID.String(), TenantID: f.TenantID,
		After: map[string]any{"gateway_id": f.GatewayID, "kind": f.Kind},
	})
}

// ChangeBankFile writes where a file stands, if it still stands where it did;
// otherwise the unit ends with ErrStale.
func (tx *Tx) ChangeBankFile(before, f BankFile) {
	f.UpdatedAt = tx.At
	tx.Require(ErrStale, updateBankFile, BankFiles.Changes(&f, before.TenantID, before.ID, before.State, before.Count)...)
	if f.State != before.State {
		tx.Audit(Deed{
			Action: "bank_file.update", ObjectType: "bank_file", ObjectID: f.ID.String(), TenantID: f.TenantID,
			Before: map[string]any{"state": before.State}, After: map[string]any{"state": f.State, "entries": f.Count, "sum": f.SumMinor.String()},
		})
	}
}

// TakenByAnother tells that somebody else fills or has filled a file with the same
// payments.
func TakenByAnother(err error) bool {
	return errors.Is(err, ErrStale) || db.IsKey(err, "bank_file_entries_transaction_id_key") ||
		db.IsKey(err, "bank_file_entries_file_id_position_key") || db.IsKey(err, "bank_files_gateway_id_kind_key")
}

// AddBankPart keeps sealed bytes of a closed file. Once another draft holds, the
// unit ends with ErrStale.
func (tx *Tx) AddBankPart(f BankFile, number int, sealed string) {
	tx.Require(ErrStale, `UPDATE bank_files SET updated_at = $3 WHERE tenant_id = $1 AND id = $2 AND state = 'closed'`, f.TenantID, f.ID, db.Micros(tx.At))
	tx.Then(`INSERT INTO bank_file_parts (tenant_id, id, file_id, draft, number, content_sealed) VALUES ($1, $2, $3, $4, $5, $6)`,
		f.TenantID, payment.NewID(), f.ID, f.Draft, number, sealed)
}

// KeepBankDraft removes what other tries at making a file's bytes have left.
func (tx *Tx) KeepBankDraft(f BankFile) {
	tx.Then(`DELETE FROM bank_file_parts WHERE tenant_id = $1 AND file_id = $2 AND draft <> $3`, f.TenantID, f.ID, f.Draft)
}

// DropBankDraft removes what one try at making a file's bytes has left.
func (tx *Tx) DropBankDraft(f BankFile, draft string) {
	tx.Then(`DELETE FROM bank_file_parts WHERE tenant_id = $1 AND file_id = $2 AND draft = $3`, f.TenantID, f.ID, draft)
}

// BankPart gives sealed bytes of a file, "" behind its last part.
func (t Tenant) BankPart(ctx context.Context, f BankFile, number int) (string, error) {
	result, err := t.Query(ctx, `SELECT content_sealed FROM bank_file_parts WHERE tenant_id = $1 AND file_id = $2 AND draft = $3 AND number = $4`,
		f.ID, f.Draft, number)
	return partOr(db.One(result, err, scanPart))
}

func scanPart(r db.Rows) (sealed string, err error) { return sealed, r.Scan(&sealed) }

// partOr takes the want of a part for the end.
func partOr(sealed string, err error) (string, error) {
	if errors.Is(err, db.ErrNoRow) {
		err = nil
	}
	return sealed, err
}

// BankFilesWaiting gives the files that are not delivered, oldest first.
func (s *Store) BankFilesWaiting(ctx context.Context) ([]BankFile, error) {
	result, err := s.Query(ctx, selectBankFile+`WHERE f.state IN ('written', 'sending') ORDER BY f.created_at, f.id`)
	all, err := db.Collect(result, err, ScanBankFile)
	return reached(ctx, all, err, func(f BankFile) uuid.UUID { return f.TenantID })
}

// UnfinishedBankFiles gives the files of an account whose bytes are not made, oldest
// first.
func (t Tenant) UnfinishedBankFiles(ctx context.Context, gatewayID uuid.UUID) ([]BankFile, error) {
	result, err := t.Query(ctx, selectBankFile+`
		WHERE f.tenant_id = $1 AND f.gateway_id = $2 AND f.state IN ('open', 'closed') ORDER BY f.created_at, f.id`, gatewayID)
	return db.Collect(result, err, ScanBankFile)
}

// BankFile reads a file.
func (t Tenant) BankFile(ctx context.Context, id uuid.UUID) (BankFile, error) {
	result, err := t.Query(ctx, selectBankFile+`WHERE f.tenant_id = $1 AND f.id = $2`, id)
	return bankFileOr(db.One(result, err, ScanBankFile))
}

// BankFileByMessage reads the file of a message id.
func (t Tenant) BankFileByMessage(ctx context.Context, gatewayID uuid.UUID, messageID string) (BankFile, error) {
	result, err := t.Query(ctx, selectBankFile+`WHERE f.tenant_id = $1 AND f.gateway_id = $2 AND f.message_id = $3`, gatewayID, messageID)
	return bankFileOr(db.One(result, err, ScanBankFile))
}

func bankFileOr(f BankFile, err error) (BankFile, error) {
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoBankFile
	}
	return f, err
}
