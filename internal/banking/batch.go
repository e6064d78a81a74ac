package banking

import (
	"errors"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// entryPages reads the collections of a file or block, so many at a time.
type entryPages func(after, limit int) ([]store.BankFileEntry, error)

func (p entryPages) each(visit func(store.BankFileEntry) error) error {
	return eachPage(func(after int) ([]store.BankFileEntry, error) {
		page, err := p(after, readBatch)
		return page, wrap(err)
	}, func(entry store.BankFileEntry) (int, error) { return entry.Position, visit(entry) })
}

func (r *reader) ofBlock(blockID string) entryPages {
	return func(after, limit int) ([]store.BankFileEntry, error) {
		return r.tenant(r.account).BankBlockEntries(r.ctx, r.account.ID, blockID, after, limit)
	}
}

func (r *reader) ofFile(fileID uuid.UUID) entryPages {
	return func(after, limit int) ([]store.BankFileEntry, error) {
		return r.tenant(r.account).BankFileEntries(r.ctx, fileID, after, limit)
	}
}

// batch takes one credit for many collections, if it is what they come to: those of a block or of a whole file that were
// not refused.
func (r *reader) batch(blockID, messageID string, amount payment.Minor, line *store.BankLine) error {
	entries, err := r.batchEntries(blockID, messageID)
	if err != nil {
		return failure{err}
	}
	if entries == nil {
		line.Result = store.LineUnmatched
		return nil
	}
	var sum payment.Minor
	err = entries.each(func(entry store.BankFileEntry) error {
		if !entry.IsDeclined {
			sum += entry.AmountMinor
		}
		return nil
	})
	if err != nil {
		return err
	}
	if sum != amount {
		line.Result, line.Note = store.LineContradicts, "The collections come to "+sum.String()+"."
		return nil
	}
	line.Result = store.LineKnown
	return entries.each(func(entry store.BankFileEntry) error {
		if entry.IsDeclined {
			return nil
		}
		one := store.BankLine{}
		if err := r.collected(entry, &one); err != nil {
			return err
		}
		if one.Result != store.LineKnown {
			line.Result, line.Note = one.Result, one.Note
		}
		return nil
	})
}

// batchEntries finds what a credit for many stands for, nil for nothing that is known.
func (r *reader) batchEntries(blockID, messageID string) (entryPages, error) {
	if blockID != "" {
		entries := r.ofBlock(blockID)
		first, err := entries(0, 1)
		if err != nil || len(first) > 0 {
			return entries, err
		}
	}
	if messageID == "" {
		return nil, nil
	}
	file, err := r.tenant(r.account).BankFileByMessage(r.ctx, r.account.ID, messageID)
	if errors.Is(err, store.ErrNoBankFile) {
		return nil, nil
	}
	return r.ofFile(file.ID), err
}
