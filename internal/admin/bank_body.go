package admin

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/banking"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// The bodies of what concerns banks, here and on the command line.

// BankFileBody is a file for a bank.
type BankFileBody struct {
	ID        uuid.UUID           `json:"id"`
	TenantID  uuid.UUID           `json:"tenant_id"`
	GatewayID uuid.UUID           `json:"gateway_id"`
	Kind      store.BankFileKind  `json:"kind"`
	MessageID string              `json:"message_id"`
	Name      string              `json:"name"`
	Format    string              `json:"format"`
	State     store.BankFileState `json:"state"`
	DueDate   string              `json:"due_date"`
	Count     int                 `json:"count"`
	Sum       string              `json:"sum"`
	SizeBytes int                 `json:"size_bytes"`
	Problem   *string             `json:"problem"`
	CreatedAt string              `json:"created_at"`
	UpdatedAt string              `json:"updated_at"`
}

// BankFileOf shows a file. One that is on its way is written, however far it has come.
func BankFileOf(f store.BankFile) BankFileBody {
	state := f.State
	if !state.Left() {
		state = store.BankFileWritten
	}
	return BankFileBody{
		ID: f.ID, TenantID: f.TenantID, GatewayID: f.GatewayID, Kind: f.Kind, MessageID: f.MessageID, Name: f.Name, Format: f.Format,
		State: state, DueDate: f.DueDate, Count: f.Count, Sum: f.SumMinor.String(), SizeBytes: f.SizeBytes, Problem: payment.Given(f.Problem),
		CreatedAt: instantText(f.CreatedAt), UpdatedAt: instantText(f.UpdatedAt),
	}
}

// BankFileDetailBody is a file with its collections and how the bank's words agree with our records.
type BankFileDetailBody struct {
	BankFileBody
	Blocks      []bankBlockBody      `json:"blocks"`
	Matching    bankMatchingBody     `json:"matching"`
	Collections []bankCollectionBody `json:"collections"`
}

type bankBlockBody struct {
	BlockID      *string `json:"block_id"`
	DueDate      string  `json:"due_date"`
	SequenceType string  `json:"sequence_type"`
	Count        int     `json:"count"`
	Sum          string  `json:"sum"`
}

type bankCollectionBody struct {
	Position           int       `json:"position"`
	TransactionID      uuid.UUID `json:"transaction_id"`
	EndToEndID         string    `json:"end_to_end_id"`
	MandateReferenceID string    `json:"mandate_reference_id"`
	IBANMasked         string    `json:"iban_masked"`
	Amount             string    `json:"amount"`
	DueDate            string    `json:"due_date"`
	SequenceType       string    `json:"sequence_type"`
	Status             string    `json:"status"`
}

type bankMatchingBody struct {
	Agrees    bool            `json:"agrees"`
	Collected string          `json:"collected"`
	Credited  *string         `json:"credited"`
	Returned  string          `json:"returned"`
	Debited   *string         `json:"debited"`
	Ours      []bankMatchBody `json:"ours"`
	Bank      []bankMatchBody `json:"bank"`
}

type bankMatchBody struct {
	Source  *string `json:"source,omitempty"`
	Kind    string  `json:"kind"`
	Count   int     `json:"count"`
	Sum     string  `json:"sum"`
	Charges string  `json:"charges"`
}

func bankMatchesOf(matches []store.BankMatch) []bankMatchBody {
	bodies := make([]bankMatchBody, len(matches))
	for i, m := range matches {
		bodies[i] = bankMatchBody{payment.Given(m.Source), m.Kind, m.Count, m.SumMinor.String(), m.ChargesMinor.String()}
	}
	return bodies
}

// BankFileDetail reads all that is shown of a file, with so many of its collections.
func BankFileDetail(ctx context.Context, b *banking.Banking, f store.BankFile, after, limit int) (body BankFileDetailBody, err error) {
	tenant := b.Checkout.Store.Tenant(f.TenantID)
	blocks, err := tenant.BankBlocks(ctx, f.ID)
	if err != nil {
		return body, err
	}
	entries, err := tenant.BankFileEntries(ctx, f.ID, after, limit)
	if err != nil {
		return body, err
	}
	m, err := b.Match(ctx, f)
	body = BankFileDetailBody{
		BankFileBody: BankFileOf(f), Blocks: make([]bankBlockBody, len(blocks)), Collections: make([]bankCollectionBody, len(entries)),
		Matching: bankMatchingBody{
			Agrees: m.Agrees(), Collected: m.CollectedMinor.String(), Returned: m.ReturnedMinor.String(), Ours: bankMatchesOf(m.Ours), Bank: bankMatchesOf(m.Bank),
		},
	}
	if m.CreditedMinor != nil {
		body.Matching.Credited = payment.Given(m.CreditedMinor.String())
	}
	if m.DebitedMinor != nil {
		body.Matching.Debited = payment.Given(m.DebitedMinor.String())
	}
	for i, block := range blocks {
		body.Blocks[i] = bankBlockBody{payment.Given(block.ID), block.DueDate, block.Sequence, block.Count, block.SumMinor.String()}
	}
	for i, e := range entries {
		body.Collections[i] = bankCollectionBody{
			e.Position, e.TransactionID, e.EndToEndID, e.MandateReference, e.MaskedIBAN, e.AmountMinor.String(), e.DueDate, e.SequenceType, string(e.Status),
		}
	}
	return body, err
}

// BankPreviewBody is what the next file would hold.
type BankPreviewBody struct {
	CutOffAt string          `json:"cut_off_at"`
	Count    int             `json:"count"`
	Sum      string          `json:"sum"`
	Blocks   []bankBlockBody `json:"blocks"`
	// Refunds are what the file of credit transfers would hold.
	Refunds bankRefundsBody `json:"refunds"`
	Refused []bankFaultBody `json:"refused"`
	Changed []bankFaultBody `json:"changed"`
	Held    []string        `json:"held"`
}

type bankRefundsBody struct {
	DueDate *string `json:"due_date"`
	Count   int     `json:"count"`
	Sum     string  `json:"sum"`
}

type bankFaultBody struct {
	MerchantTransactionID string `json:"merchant_transaction_id"`
	Field                 string `json:"field"`
	Reason                string `json:"reason"`
}

// BankPreviewOf shows a preview: what a bank would refuse apart from what is written in other words.
func BankPreviewOf(p banking.Preview) BankPreviewBody {
	body := BankPreviewBody{
		CutOffAt: p.CutOffAt.UTC().Format(time.RFC3339), Count: p.Count, Sum: p.SumMinor.String(), Blocks: make([]bankBlockBody, len(p.Blocks)),
		Refunds: bankRefundsBody{payment.Given(p.Refunds.DueDate), p.Refunds.Count, p.Refunds.SumMinor.String()},
		Refused: []bankFaultBody{}, Changed: []bankFaultBody{}, Held: append([]string{}, p.Held...),
	}
	for i, block := range p.Blocks {
		body.Blocks[i] = bankBlockBody{nil, block.DueDate, block.Sequence, block.Count, block.SumMinor.String()}
	}
	for _, fault := range p.Faults {
		one := bankFaultBody{fault.MerchantTransactionID, fault.Field, fault.Text}
		if fault.Fatal {
			body.Refused = append(body.Refused, one)
		} else {
			body.Changed = append(body.Changed, one)
		}
	}
	return body
}

type bankStatementBody struct {
	ID        uuid.UUID                `json:"id"`
	TenantID  uuid.UUID                `json:"tenant_id"`
	GatewayID uuid.UUID                `json:"gateway_id"`
	Name      string                   `json:"name"`
	State     store.BankStatementState `json:"state"`
	Problem   *string                  `json:"problem"`
	Count     int                      `json:"count"`
	CreatedAt string                   `json:"created_at"`
}

type bankStatementDetail struct {
	bankStatementBody
	Entries []BankEntryBody `json:"entries"`
}

func bankStatementOf(s store.BankStatement) bankStatementBody {
	return bankStatementBody{s.ID, s.TenantID, s.GatewayID, s.Name, s.State, payment.Given(s.Problem), s.LineCount, instantText(s.CreatedAt)}
}

// BankReadingBody is what became of a file of a bank.
type BankReadingBody struct {
	ID      *uuid.UUID     `json:"id"`
	Name    string         `json:"name"`
	Counts  bankCountsBody `json:"counts"`
	Problem *string        `json:"problem"`
}

type bankCountsBody struct {
	Settled   int `json:"settled"`
	Rejected  int `json:"rejected"`
	Returned  int `json:"returned"`
	Known     int `json:"known"`
	Ignored   int `json:"ignored"`
	Unmatched int `json:"unmatched"`
}

// BankReadingsOf shows what became of files.
func BankReadingsOf(readings []banking.Reading) []BankReadingBody {
	bodies := make([]BankReadingBody, len(readings))
	for i, r := range readings {
		bodies[i] = BankReadingBody{Name: r.Name, Problem: payment.Given(r.Problem), Counts: bankCountsBody(r.Counts)}
		if r.ID != uuid.Nil {
			bodies[i].ID = &r.ID
		}
	}
	return bodies
}

// BankEntryBody is a line of a bank's answer and what became of it.
type BankEntryBody struct {
	ID            uuid.UUID            `json:"id"`
	TenantID      uuid.UUID            `json:"tenant_id"`
	GatewayID     uuid.UUID            `json:"gateway_id"`
	StatementID   uuid.UUID            `json:"statement_id"`
	Position      int                  `json:"position"`
	Source        string               `json:"source"`
	Kind          string               `json:"kind"`
	Amount        string               `json:"amount"`
	Charges       string               `json:"charges"`
	Currency      string               `json:"currency"`
	IsCredit      bool                 `json:"is_credit"`
	BookingDate   *string              `json:"booking_date"`
	Reference     *string              `json:"reference"`
	Reason        *string              `json:"reason"`
	Text          string               `json:"text"`
	Result        store.BankLineResult `json:"result"`
	Note          *string              `json:"note"`
	TransactionID *uuid.UUID           `json:"transaction_id"`
}

// BankEntryOf shows a line with what the bank wrote in words; words that were spoilt are left out, and the log says so.
func BankEntryOf(ctx context.Context, b *banking.Banking, l store.BankLine) BankEntryBody {
	return BankEntryBody{
		ID: l.ID, TenantID: l.TenantID, GatewayID: l.GatewayID, StatementID: l.StatementID, Position: l.Position, Source: l.Source, Kind: l.Kind,
		Amount: l.AmountMinor.String(), Charges: l.ChargesMinor.String(), Currency: l.Currency, IsCredit: l.IsCredit, BookingDate: payment.Given(l.BookingDate),
		Reference: payment.Given(l.Reference), Reason: payment.Given(l.Reason), Text: b.Text(ctx, l), Result: l.Result, Note: payment.Given(l.Note), TransactionID: l.TransactionID,
	}
}
