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
// not refused, with those that left after a backup and are not known here, of which nothing is known.
func (r *reader) batch(blockID, messageID string, amount payment.Minor, line *store.BankLine) error {
	entries, lost, err := r.batchEntries(blockID, messageID)
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
	if sum+lost != amount {
		line.Result, line.Note = store.LineContradicts, "The collections come to "+sum.String()+"."+lostNote(lost)
		return nil
	}
	err = r.eachOf(entries, line, func(entry store.BankFileEntry, it *item) {
		if !entry.IsDeclined {
			r.collected(entry, it)
		}
	})
	if lost > 0 && err == nil {
		line.Result, line.Note = store.LineContradicts, "The collections that are known come to "+sum.String()+"."+lostNote(lost)
	}
	return err
}

// lostNote tells a person of money that may have come for what is not known here.
func lostNote(lost payment.Minor) string {
	if lost == 0 {
		return ""
	}
	return " Others, of " + lost.String() + ", left after the backup and are not known here."
}

// batchEntries finds what a credit for many stands for, nil for nothing that is known, and what those in it come to that left
// after a backup and are not known.
func (r *reader) batchEntries(blockID, messageID string) (known entryPages, lost payment.Minor, err error) {
	if blockID != "" {
		entries := r.ofBlock(blockID)
		if first, err := entries(0, 1); err != nil || len(first) > 0 {
			lost, lostErr := r.tenant(r.account).LostOfBlock(r.ctx, r.account.ID, blockID)
			return entries, lost, errors.Join(err, lostErr)
		}
	}
	if messageID == "" {
		return nil, 0, nil
	}
	file, err := r.tenant(r.account).BankFileByMessage(r.ctx, r.account.ID, messageID)
	if errors.Is(err, store.ErrNoBankFile) {
		return nil, 0, nil
	}
	if err == nil {
		lost, err = r.tenant(r.account).LostOfFile(r.ctx, r.account.ID, messageID)
	}
	return r.ofFile(file.ID), lost, err
}
