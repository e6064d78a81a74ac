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
	"sepad/internal/vault"
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
	draft.CreditorName, draft.CreditorIdentifier = account.Terms.Creditor.Name, account.Terms.Creditor.Identifier
	bind := func(number int) vault.Binding { return store.BindBankPart(draft, number) }
	out := &parts{Banking: b, ctx: ctx, now: now, bind: bind, keep: func(tx *store.Tx, number int, sealed string) {
		tx.Relax() // the unit that makes the draft hold brings it to the disk
		tx.AddBankPart(draft, number, sealed)
	}}
	write := b.writeDebits
	if file.Kind == store.BankTransfers {
		write = b.writeTransfers
	}
	err := write(ctx, account, file, out, now)
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
	due := fileDue(account, *file, now)
	if file.DueDate >= due.Format(time.DateOnly) {
		return nil
	}
	before := *file
	file.DueDate = due.Format(time.DateOnly)
	return b.store().PostponeBankFile(ctx, now, before, *file, account.Terms.SilenceEnds(due))
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

// fileDue is when the payments of a file fall due that is written, or sent, at an instant.
func fileDue(account *Account, file store.BankFile, at time.Time) time.Time {
	if file.Kind == store.BankTransfers {
		return account.Terms.ExecuteDate(at)
	}
	return account.Terms.DueDate(at)
}

func header(account *Account, file *store.BankFile, now time.Time) iso20022.Header {
	return iso20022.Header{
		MessageID: file.MessageID, CreatedAt: now, Initiator: account.Terms.Creditor.Name, Count: file.Count, SumMinor: int64(file.SumMinor),
	}
}

// writeDebits writes a message of collections.
func (b *Banking) writeDebits(ctx context.Context, account *Account, file *store.BankFile, out io.Writer, now time.Time) error {
	message, err := iso20022.NewDebits(out, iso20022.Format(file.Format), header(account, file, now))
	if err != nil {
		return err
	}
	err = b.eachBlock(ctx, account, file, now, func(block store.BankBlock, due time.Time) error {
		return message.Block(&iso20022.DebitBlock{
			ID: block.ID, DueDate: due, Sequence: block.Sequence, BatchBooking: account.Terms.BatchBooking, Creditor: account.Terms.Creditor,
			Count: block.Count, SumMinor: int64(block.SumMinor),
		})
	}, func(c collection) error { return message.Add(c.debit) })
	if err != nil {
		return err
	}
	return message.Close()
}

// writeTransfers writes a message of refunds.
func (b *Banking) writeTransfers(ctx context.Context, account *Account, file *store.BankFile, out io.Writer, now time.Time) error {
	message, err := iso20022.NewTransfers(out, iso20022.Format(file.Format), header(account, file, now))
	if err != nil {
		return err
	}
	err = b.eachBlock(ctx, account, file, now, func(block store.BankBlock, due time.Time) error {
		return message.Block(&iso20022.TransferBlock{
			ID: block.ID, ExecuteDate: due, BatchBooking: account.Terms.BatchBooking, Debtor: account.Terms.Creditor.Party,
			Count: block.Count, SumMinor: int64(block.SumMinor),
		})
	}, func(c collection) error { return message.Add(c.transfer) })
	if err != nil {
		return err
	}
	return message.Close()
}

// eachBlock goes through a file block by block, and through each block a page of payments at a time.
func (b *Banking) eachBlock(ctx context.Context, account *Account, file *store.BankFile, now time.Time,
	begin func(block store.BankBlock, due time.Time) error, add func(collection) error,
) error {
	blocks, err := b.tenant(account).BankBlocks(ctx, file.ID)
	if err != nil {
		return err
	}
	for _, block := range blocks {
		due, err := time.Parse(time.DateOnly, block.DueDate)
		if err != nil {
			return err
		}
		if err := begin(block, due); err != nil {
			return err
		}
		if err := b.eachOfBlock(ctx, account, file, block.ID, add, now); err != nil {
			return err
		}
	}
	return nil
}

func (b *Banking) eachOfBlock(ctx context.Context, account *Account, file *store.BankFile, blockID string, add func(collection) error, now time.Time) error {
	days := daysOf(account, now)
	pages := ahead(ctx, func(ctx context.Context, last *store.Collectible) ([]store.Collectible, error) {
		after := 0
		if last != nil {
			after = last.Position
		}
		return b.tenant(account).Collected(ctx, blockID, after, readBatch)
	})
	for page, err := range pages {
		if err != nil {
			return err
		}
		before, err := b.presented(ctx, account, page)
		if err != nil {
			return err
		}
		for i := range page {
			c := &page[i]
			prepared := b.prepare(account, c, days)
			if c.PreviousID != nil && !prepared.unreadable {
				err = b.amend(account, &prepared, before[*c.PreviousID])
			}
			if err == nil {
				err = b.writeOne(ctx, file, prepared, add, now)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// writeOne writes one payment. One that a bank would refuse by now, because something about it has changed since it was
// taken, is let out of the file: it must not hold up all others.
func (b *Banking) writeOne(ctx context.Context, file *store.BankFile, c collection, add func(collection) error, now time.Time) error {
	if !isFatal(c.faults(now)) {
		return add(c)
	}
	before := *file
	file.Count, file.SumMinor = file.Count-1, file.SumMinor-c.AmountMinor
	err := b.store().Write(ctx, now, func(tx *store.Tx) error {
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

// parts seals what is written to it and keeps it, so much at a time.
type parts struct {
	*Banking
	ctx     context.Context
	now     time.Time
	bind    func(number int) vault.Binding
	keep    func(tx *store.Tx, number int, sealed string)
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
	p.number++
	sealed, err := p.Checkout.Vault.Seal(p.pending, p.bind(p.number))
	if err != nil {
		return err
	}
	p.size, p.pending = p.size+len(p.pending), p.pending[:0]
	return p.store().Write(p.ctx, p.now, func(tx *store.Tx) error {
		p.keep(tx, p.number, sealed)
		return nil
	})
}

// Content writes the very bytes of a file.
func (b *Banking) Content(ctx context.Context, file store.BankFile, out io.Writer) error {
	size, err := b.writeParts(out, func(number int) (string, vault.Binding, error) {
		sealed, err := b.store().Tenant(file.TenantID).BankPart(ctx, file, number)
		return sealed, store.BindBankPart(file, number), err
	})
	if err != nil {
		return fmt.Errorf("the bank file %s cannot be read: %w", file.ID, err)
	}
	if size != file.SizeBytes {
		return fmt.Errorf("of the bank file %s %d bytes are kept in place of %d", file.ID, size, file.SizeBytes)
	}
	return nil
}

// writeParts writes what was kept in parts, which are read one after the other until there is none.
func (b *Banking) writeParts(out io.Writer, read func(number int) (sealed string, bound vault.Binding, err error)) (size int, err error) {
	for number := 1; ; number++ {
		sealed, bound, err := read(number)
		if err != nil || sealed == "" {
			return size, err
		}
		content, err := b.Checkout.Vault.Open(sealed, bound)
		if err != nil {
			return size, err
		}
		size += len(content)
		if _, err := out.Write(content); err != nil {
			return size, err
		}
	}
}
