package banking

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base32"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/gateway/bank"
	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

const (
	// readBatch bounds how many waiting payments are read at a time.
	readBatch = 1000
	// collectTries bounds how often a file is planned anew because somebody else has taken one of its collections.
	collectTries = 5
	// unlimited is what a file holds at most where the bank sets no limit: its bytes are held while it is written.
	unlimited = 100_000
)

// collection is a payment on its way into a file.
type collection struct {
	store.Collectible
	debit    *iso20022.Debit
	sequence string
	due      time.Time
}

// Collect writes what waits at an account and was taken by an instant, in as many files as the bank's limits ask for.
func (b *Banking) Collect(ctx context.Context, account *Account, until, now time.Time) (files []store.BankFile, err error) {
	for {
		file, more, err := b.collectOne(ctx, account, until, now)
		if file != nil {
			files = append(files, *file)
		}
		if err != nil || !more {
			return files, err
		}
	}
}

// collectOne writes one file, planning it anew where others were faster.
func (b *Banking) collectOne(ctx context.Context, account *Account, until, now time.Time) (file *store.BankFile, more bool, err error) {
	for range collectTries {
		planned, more, err := b.plan(ctx, account, until, now)
		if err != nil || len(planned) == 0 {
			return nil, false, err
		}
		written, err := b.write(ctx, account, planned, now)
		if !store.TakenByAnother(err) {
			// A file that came out too large holds less than was planned.
			return written, err == nil && (more || written.Count < len(planned)), err
		}
	}
	return nil, false, fmt.Errorf("gateway %s: others keep taking the same collections", account.Name)
}

// plan chooses what goes into the next file: what waits and can be written, up to the bank's limits.
func (b *Banking) plan(ctx context.Context, account *Account, until, now time.Time) (planned []collection, more bool, err error) {
	limit := cmp.Or(account.Terms.MaxEntries, unlimited)
	for waiting, err := range b.waiting(ctx, account, until, now) {
		if err != nil {
			return nil, false, err
		}
		if isFatal(waiting.debit.Faults(now)) {
			continue // the preview names it
		}
		if len(planned) > 0 && account.Terms.OneDueDate && !waiting.due.Equal(planned[0].due) || len(planned) == limit {
			return planned, true, nil
		}
		planned = append(planned, waiting)
	}
	return planned, false, nil
}

// waiting gives the payments that wait at an account, as a file would have them.
func (b *Banking) waiting(ctx context.Context, account *Account, until, now time.Time) func(yield func(collection, error) bool) {
	return func(yield func(collection, error) bool) {
		after := uuid.Nil
		for {
			batch, err := b.tenant(account).Collectibles(ctx, account.ID, until, after, readBatch)
			if err != nil {
				yield(collection{}, err)
				return
			}
			for _, one := range batch {
				prepared, err := b.prepare(account, one, now)
				if !yield(prepared, err) || err != nil {
					return
				}
				after = one.TransactionID
			}
			if len(batch) < readBatch {
				return
			}
		}
	}
}

// prepare makes of a payment what a file says of it.
func (b *Banking) prepare(account *Account, c store.Collectible, at time.Time) (collection, error) {
	electronic, err := b.Checkout.Vault.Open(c.SealedIBAN, checkout.PurposeIBAN(account.Setup.Tenant.ID))
	if err != nil {
		return collection{}, fmt.Errorf("the account of payment %s cannot be read: %w", c.MerchantTransactionID, err)
	}
	iban, err := sepa.ParseIBAN(string(electronic))
	if err != nil {
		return collection{}, fmt.Errorf("the account of payment %s is none", c.MerchantTransactionID)
	}
	return collection{
		Collectible: c,
		debit: &iso20022.Debit{
			EndToEndID: c.MerchantTransactionID, AmountMinor: int64(c.AmountMinor), Remittance: remittance(account, c),
			Mandate: iso20022.Mandate{Reference: c.MandateReference, SignedDate: c.MandateAt.In(account.Terms.Zone)},
			Debtor:  bank.Debtor(payment.Instrument{IBAN: iban, HolderName: c.HolderName, Bank: sepa.Bank{BIC: c.BIC}}, c.Lead),
		},
		sequence: sequence(account, c), due: account.Terms.DueDate(at),
	}, nil
}

// sequence marks a collection's place in its mandate's life.
func sequence(account *Account, c store.Collectible) string {
	switch {
	case c.IsOnce:
		return "OOFF"
	case c.SequenceType == payment.SequenceFirst:
		return account.Terms.FirstSequence
	default:
		return string(payment.SequenceRecurring)
	}
}

// remittance is what the payer reads on the statement: who, what for, and which order.
func remittance(account *Account, c store.Collectible) string {
	text := cmp.Or(account.Terms.Descriptor, account.Terms.Creditor.Name)
	if c.OfferID != nil {
		if product := account.Setup.Offers[*c.OfferID].ProductName; product != nil {
			text += " " + *product
		}
	}
	return text + " " + c.OrderNumber
}

func isFatal(faults []iso20022.Fault) bool {
	return slices.ContainsFunc(faults, func(f iso20022.Fault) bool { return f.Fatal })
}

// write makes the file of what is planned and takes the collections, all in one transaction. Where the bytes come out
// larger than the bank allows, half of it is written.
func (b *Banking) write(ctx context.Context, account *Account, planned []collection, now time.Time) (*store.BankFile, error) {
	file := newFile(account, now)
	content, entries, silenceEnds, err := compose(account, &file, planned, now)
	if err != nil {
		return nil, err
	}
	if limit := account.Terms.MaxBytes; limit > 0 && len(content) > limit && len(planned) > 1 {
		return b.write(ctx, account, planned[:len(planned)/2], now)
	}
	sealed, err := b.Checkout.Vault.Seal(content, purposeFile(file.TenantID))
	if err != nil {
		return nil, err
	}
	err = b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.PutBankFile(file, sealed, entries, silenceEnds)
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.Logger.InfoContext(ctx, "a bank file was written", "gateway_id", account.ID, "file_id", file.ID, "message_id", file.MessageID,
		"collections", file.Count, "sum", file.SumMinor.String())
	return &file, nil
}

// newFile names a file. The message id is made of the file's own id, so that it is unique for the life of the
// installation; blocks are numbered behind it.
func newFile(account *Account, now time.Time) store.BankFile {
	id := payment.NewID()
	messageID := "SD-" + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id[:])
	return store.BankFile{
		ID: id, TenantID: account.Setup.Tenant.ID, GatewayID: account.ID, MessageID: messageID, Format: string(account.Terms.Format),
		Name:  now.In(account.Terms.Zone).Format("20060102-150405-") + messageID + ".xml",
		State: store.BankFileWritten,
	}
}

// compose writes the message and says which collection stands where in it.
func compose(account *Account, file *store.BankFile, planned []collection, now time.Time) ([]byte, []store.BankFileEntry, map[string]time.Time, error) {
	slices.SortStableFunc(planned, func(a, b collection) int {
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.sequence, b.sequence))
	})
	for _, c := range planned {
		file.Count++
		file.SumMinor += c.AmountMinor
	}
	file.DueDate = planned[0].due.Format(time.DateOnly)
	var out bytes.Buffer
	message, err := iso20022.NewDebits(&out, account.Terms.Format, iso20022.Header{
		MessageID: file.MessageID, CreatedAt: now, Initiator: account.Terms.Creditor.Name, Count: file.Count, SumMinor: int64(file.SumMinor),
	})
	if err != nil {
		return nil, nil, nil, err
	}
	entries := make([]store.BankFileEntry, 0, len(planned))
	silenceEnds := map[string]time.Time{}
	for number, block := range blocks(planned) {
		header := blockHeader(account, file, number+1, block)
		if err := message.Block(header); err != nil {
			return nil, nil, nil, err
		}
		dueDate := header.DueDate.Format(time.DateOnly)
		silenceEnds[dueDate] = account.Terms.SilenceEnds(header.DueDate)
		for _, c := range block {
			if err := message.Add(c.debit); err != nil {
				return nil, nil, nil, err
			}
			entries = append(entries, store.BankFileEntry{
				TransactionID: c.TransactionID, Position: len(entries) + 1, BlockID: header.ID, DueDate: dueDate, SequenceType: c.sequence,
				AmountMinor: c.AmountMinor, EndToEndID: c.MerchantTransactionID, MandateReference: c.MandateReference, MaskedIBAN: c.MaskedIBAN,
			})
		}
	}
	if err := message.Close(); err != nil {
		return nil, nil, nil, err
	}
	file.SizeBytes = out.Len()
	return out.Bytes(), entries, silenceEnds, nil
}

// blocks cuts what is sorted by due date and sequence where either changes.
func blocks(planned []collection) (blocks [][]collection) {
	for i, c := range planned {
		if i == 0 || !c.due.Equal(planned[i-1].due) || c.sequence != planned[i-1].sequence {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], c)
	}
	return blocks
}

func blockHeader(account *Account, file *store.BankFile, number int, block []collection) *iso20022.DebitBlock {
	header := &iso20022.DebitBlock{
		ID: fmt.Sprintf("%s-%d", file.MessageID, number), DueDate: block[0].due, Sequence: block[0].sequence,
		BatchBooking: account.Terms.BatchBooking, Creditor: account.Terms.Creditor, Count: len(block),
	}
	for _, c := range block {
		header.SumMinor += int64(c.AmountMinor)
	}
	return header
}
