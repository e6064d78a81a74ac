package banking

import (
	"errors"

	"github.com/google/uuid"

	"sepad/internal/iso20022"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// entryPages reads the collections of a file or block, so many at a time.
type entryPages func(after, limit int) ([]store.BankFileEntry, error)

// each visits the pages.
func (p entryPages) each(visit func([]store.BankFileEntry) error) error {
	for after := 0; ; {
		page, err := p(after, readBatch)
		if err != nil || len(page) == 0 {
			return wrap(err)
		}
		if err := visit(page); err != nil {
			return err
		}
		after = page[len(page)-1].Position
	}
}

// eachOf does the same with every collection that a line speaks of. The line says what became of them: what was known of
// all is known, and what cannot be of one is told.
func (r *reader) eachOf(entries entryPages, line *store.BankLine, mean func(store.BankFileEntry, *item)) error {
	return entries.each(func(page []store.BankFileEntry) error {
		parts := make([]item, len(page))
		for i, entry := range page {
			parts[i].line.Result, parts[i].line.BookingDate = store.LineKnown, line.BookingDate
			mean(entry, &parts[i])
		}
		if err := r.work(); err != nil {
			return err
		}
		for _, part := range parts {
			if part.line.Result != store.LineKnown && line.Result != store.LineContradicts {
				line.Result, line.Note = part.line.Result, part.line.Note
			}
		}
		return nil
	})
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
		if line.Kind != string(iso20022.Transferred) { // most transfers are none of ours
			line.Result = store.LineUnmatched
		}
		return nil
	}
	var sum, refused payment.Minor
	err = entries.each(func(page []store.BankFileEntry) error {
		for _, entry := range page {
			if entry.IsDeclined {
				refused += entry.AmountMinor
			} else {
				sum += entry.AmountMinor
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	line.Result = store.LineKnown
	if line.Kind == string(iso20022.Transferred) {
		if amount < sum || amount > sum+refused { // some may have been paid and come back
			line.Result, line.Note = store.LineContradicts, "The refunds come to "+sum.String()+"."
		}
		return nil
	}
	if sum != amount {
		line.Result, line.Note = store.LineContradicts, "The collections come to "+sum.String()+"."
		return nil
	}
	return r.eachOf(entries, line, func(entry store.BankFileEntry, it *item) {
		if !entry.IsDeclined {
			r.collected(entry, it)
		}
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
