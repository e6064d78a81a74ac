package banking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// partSize is how many bytes of a file are sealed and kept together.
const partSize = 512 << 10

// errReleased says that a payment which cannot be written was taken out of the file, so that its sums are others.
var errReleased = errors.New("the file holds less than it did")

// compose makes the bytes of a closed file, once: of two processes that try one finishes first, and what the other has
// made is thrown away. It gives the file, nil when nothing is left to do.
func (b *Banking) compose(ctx context.Context, account *Account, file store.BankFile, now time.Time) (*store.BankFile, error) {
	for {
		err := b.composeOnce(ctx, account, &file, now)
		switch {
		case errors.Is(err, errReleased) && file.Count > 0:
			continue
		case errors.Is(err, errReleased), errors.Is(err, store.ErrStale):
			return nil, nil // nothing is left of it, or another process has made it
		case err != nil:
			return nil, err
		}
		b.Logger.InfoContext(ctx, "a bank file was written", "gateway_id", account.ID, "file_id", file.ID, "message_id", file.MessageID,
			"payments", file.Count, "sum", file.SumMinor.String())
		return &file, nil
	}
}

func (b *Banking) composeOnce(ctx context.Context, account *Account, file *store.BankFile, now time.Time) error {
	if err := b.postpone(ctx, account, file, now); err != nil {
		return err
	}
	if err := b.tellDays(ctx, account, file); err != nil {
		return err
	}
	draft := *file
	draft.Draft = payment.NewID().String()
	out := &parts{Banking: b, ctx: ctx, file: draft, now: now}
	err := b.writeDebits(ctx, account, file, out, now)
	if err == nil {
		err = out.flush()
	}
	if err == nil {
		draft.State, draft.SizeBytes = store.BankFileWritten, out.size
		err = b.store().Write(ctx, now, func(tx *store.Tx) error {
			tx.ChangeBankFile(*file, draft)
			tx.KeepBankDraft(draft)
			return nil
		})
	}
	if err == nil {
		*file = draft
		return nil
	}
	dropped := b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.DropBankDraft(draft, draft.Draft)
		return nil
	})
	return errors.Join(err, dropped)
}

// postpone gives collections another day where theirs can no longer be kept: the process that took them has died, and
// days have passed.
func (b *Banking) postpone(ctx context.Context, account *Account, file *store.BankFile, now time.Time) error {
	due := account.Terms.DueDate(now)
	if file.DueDate >= due.Format(time.DateOnly) {
		return nil
	}
	before := *file
	file.DueDate = due.Format(time.DateOnly)
	return b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.PostponeBankFile(before, *file, account.Terms.SilenceEnds(due))
		return nil
	})
}

// tellDays announces the collections of a file that come on another day than was told. It is done before the bytes are
// made, so that a crash leaves nobody untold.
func (b *Banking) tellDays(ctx context.Context, account *Account, file *store.BankFile) error {
	for {
		moved, err := b.tenant(account).Redated(ctx, file.ID, readBatch)
		if err != nil || len(moved) == 0 {
			return err
		}
		for id, day := range moved {
			if err := b.Checkout.Redate(ctx, account.Setup, id, day); err != nil {
				return err
			}
		}
	}
}

// writeDebits writes a message block by block.
func (b *Banking) writeDebits(ctx context.Context, account *Account, file *store.BankFile, out io.Writer, now time.Time) error {
	blocks, err := b.tenant(account).BankBlocks(ctx, file.ID)
	if err != nil {
		return err
	}
	message, err := iso20022.NewDebits(out, iso20022.Format(file.Format), iso20022.Header{
		MessageID: file.MessageID, CreatedAt: now, Initiator: account.Terms.Creditor.Name, Count: file.Count, SumMinor: int64(file.SumMinor),
	})
	if err != nil {
		return err
	}
	for _, block := range blocks {
		due, err := time.Parse(time.DateOnly, block.DueDate)
		if err != nil {
			return err
		}
		err = message.Block(&iso20022.DebitBlock{
			ID: block.ID, DueDate: due, Sequence: block.Sequence, BatchBooking: account.Terms.BatchBooking, Creditor: account.Terms.Creditor,
			Count: block.Count, SumMinor: int64(block.SumMinor),
		})
		if err != nil {
			return err
		}
		err = eachPage(func(after int) ([]store.Collectible, error) {
			return b.tenant(account).Collected(ctx, block.ID, after, readBatch)
		}, func(c store.Collectible) (int, error) {
			return c.Position, b.writeDebit(ctx, account, file, message, c, now)
		})
		if err != nil {
			return err
		}
	}
	return message.Close()
}

// writeDebit writes one collection. One that a bank would refuse by now, because something about it has changed since it
// was taken, is let out of the file: it must not hold up all others.
func (b *Banking) writeDebit(ctx context.Context, account *Account, file *store.BankFile, message *iso20022.Debits, c store.Collectible, now time.Time) error {
	prepared, err := b.prepare(account, c, now)
	if err != nil {
		return err
	}
	if !isFatal(prepared.debit.Faults(now)) {
		return message.Add(prepared.debit)
	}
	before := *file
	file.Count, file.SumMinor = file.Count-1, file.SumMinor-c.AmountMinor
	err = b.store().Write(ctx, now, func(tx *store.Tx) error {
		tx.ReleaseFromBankFile(before, *file, c.TransactionID)
		if file.Count == 0 {
			tx.DropBankFile(*file)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return errReleased
}

// eachPage visits what is read a page at a time, each beginning after a position.
func eachPage[T any](read func(after int) ([]T, error), visit func(T) (position int, err error)) error {
	after := 0
	for {
		page, err := read(after)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, one := range page {
			if after, err = visit(one); err != nil {
				return err
			}
		}
	}
}

// parts seals what is written to it and keeps it, so much at a time.
type parts struct {
	*Banking
	ctx     context.Context
	file    store.BankFile
	now     time.Time
	pending []byte
	number  int
	size    int
}

func (p *parts) Write(content []byte) (int, error) {
	p.pending = append(p.pending, content...)
	if len(p.pending) < partSize {
		return len(content), nil
	}
	return len(content), p.flush()
}

func (p *parts) flush() error {
	if len(p.pending) == 0 {
		return nil
	}
	sealed, err := p.Checkout.Vault.Seal(p.pending, store.PurposeBankFile(p.file.TenantID))
	if err != nil {
		return err
	}
	p.number, p.size, p.pending = p.number+1, p.size+len(p.pending), p.pending[:0]
	return p.store().Write(p.ctx, p.now, func(tx *store.Tx) error {
		tx.AddBankPart(p.file, p.number, sealed)
		return nil
	})
}

// Content writes the very bytes of a file.
func (b *Banking) Content(ctx context.Context, file store.BankFile, out io.Writer) error {
	size := 0
	for number := 1; ; number++ {
		sealed, err := b.store().Tenant(file.TenantID).BankPart(ctx, file, number)
		if err != nil {
			return err
		}
		if sealed == "" {
			break
		}
		content, err := b.Checkout.Vault.Open(sealed, store.PurposeBankFile(file.TenantID))
		if err != nil {
			return fmt.Errorf("the bank file %s cannot be read: %w", file.ID, err)
		}
		size += len(content)
		if _, err := out.Write(content); err != nil {
			return err
		}
	}
	if size != file.SizeBytes {
		return fmt.Errorf("of the bank file %s %d bytes are kept in place of %d", file.ID, size, file.SizeBytes)
	}
	return nil
}
